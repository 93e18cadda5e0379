#include "conformance/harness/stray_names.h"

#include <map>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace plumbline::harness {
namespace {

constexpr const char* kRegistration = "a registration";
constexpr const char* kLibrary = "a library";
constexpr const char* kHandle = "a handle";
constexpr const char* kGuard = "a guard";

class Names {
 public:
  void Note(const scenario::Step& step, std::optional<std::size_t> index) {
    const auto uses = [&](const char* what, const std::string& name) {
      used_.push_back({.name = name, .what = what, .given = {}, .step = index, .line = step.line});
    };
    std::visit(
        [&](const auto& action) {
          using Action = std::decay_t<decltype(action)>;
          if constexpr (std::is_same_v<Action, scenario::Release>) {
            uses(kRegistration, action.name);
          } else if constexpr (std::is_same_v<Action, scenario::LibraryClose>) {
            uses(kLibrary, action.name);
          } else if constexpr (std::is_same_v<Action, scenario::GuardLeave>) {
            uses(kGuard, action.name);
          } else if constexpr (std::is_same_v<Action, scenario::Call>) {
            if (!action.handle.empty()) uses(kHandle, action.handle);
          } else if constexpr (std::is_same_v<Action, scenario::LibraryOpen>) {
            given_[kLibrary].insert(action.name);
          } else if constexpr (std::is_same_v<Action, scenario::GuardEnter>) {
            given_[kGuard].insert(action.name);
          } else if constexpr (std::is_same_v<Action, scenario::Find>) {
            given_[kHandle].insert(action.name);
          } else if constexpr (requires { action.name; }) {
            if (!action.name.empty()) given_[kRegistration].insert(action.name);
          }
        },
        step.action);
  }

  std::vector<StrayName> Strays() {
    std::erase_if(used_, [&](const StrayName& used) { return given_[used.what].contains(used.name); });
    for (StrayName& stray : used_) stray.given.assign(given_[stray.what].begin(), given_[stray.what].end());
    return std::move(used_);
  }

 private:
  std::map<std::string_view, std::set<std::string>> given_;
  std::vector<StrayName> used_;
};

}  // namespace

std::vector<StrayName> StrayNames(const scenario::Scenario& scenario) {
  Names names;
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) names.Note(scenario.steps[i], i);
  for (const scenario::KernelDefinition& kernel : scenario.kernels) {
    for (const scenario::BodyItem& item : kernel.body) {
      if (const auto* inner = std::get_if<scenario::BodyStep>(&item)) names.Note(inner->step.front(), std::nullopt);
    }
  }
  return names.Strays();
}

scenario::Scenario WithStraysMeant(scenario::Scenario scenario) {
  for (const StrayName& stray : StrayNames(scenario)) {
    if (!stray.step || scenario.steps[*stray.step].expected) continue;
    scenario.steps[*stray.step].expected.emplace().error = "not-found";
  }
  return scenario;
}

}  // namespace plumbline::harness
