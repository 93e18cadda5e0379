#include "conformance/harness/shrink.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace plumbline::harness {
namespace {

using scenario::Scenario;
using scenario::Step;
using scenario::Value;

class Shrinker {
 public:
  Shrinker(Scenario best, const std::function<bool(const Scenario&)>& fails) : best_(std::move(best)), fails_(fails) {}

  bool Take(Scenario smaller) {
    if (!fails_(smaller)) return false;
    best_ = std::move(smaller);
    return true;
  }

  // Leaves out runs of elements of the list that `list_of` picks, long runs first.
  template <class ListOf>
  bool Thin(const ListOf& list_of) {
    bool any = false;
    for (std::size_t length = std::max<std::size_t>(list_of(best_).size() / 2, 1); length > 0; length /= 2) {
      for (std::size_t end = list_of(best_).size(); end >= length && end > 0;) {
        Scenario smaller = best_;
        auto& list = list_of(smaller);
        const auto from = list.begin() + static_cast<std::ptrdiff_t>(end - length);
        list.erase(from, from + static_cast<std::ptrdiff_t>(length));
        any = Take(std::move(smaller)) || any;
        end = std::min(end - 1, list_of(best_).size());
      }
    }
    return any;
  }

  bool ThinSteps() {
    return Thin([](auto& s) -> auto& { return s.steps; });
  }

  bool ThinBodies() {
    bool any = false;
    for (std::size_t k = 0; k < best_.kernels.size(); ++k) {
      if (best_.kernels[k].body.empty()) continue;
      any = Thin([k](auto& s) -> auto& { return s.kernels[k].body; }) || any;
    }
    return any;
  }

  bool ThinKeys() {
    bool any = false;
    for (std::size_t i = 0; i < best_.steps.size(); ++i) {
      if (const auto* call = std::get_if<scenario::Call>(&best_.steps[i].action)) {
        for (std::size_t a = 0; a < call->arguments.size(); ++a) {
          if (std::get<scenario::Call>(best_.steps[i].action).arguments[a].keys.empty()) continue;
          any = Thin([ i, a ](auto& s) -> auto& {
                  return std::get<scenario::Call>(s.steps[i].action).arguments[a].keys;
                }) ||
                any;
          call = &std::get<scenario::Call>(best_.steps[i].action);
        }
      } else if (std::holds_alternative<scenario::GuardEnter>(best_.steps[i].action)) {
        any = Thin([i](auto& s) -> auto& { return std::get<scenario::GuardEnter>(s.steps[i].action).keys; }) || any;
      }
    }
    return any;
  }

  Scenario Result() {
    // Kernels that nothing uses any more say nothing.
    std::set<std::string> used;
    const auto note = [&used](const Step& step) {
      if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) used.insert(impl->kernel.kernel);
      if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) used.insert(fallback->kernel.kernel);
    };
    for (const Step& step : best_.steps) note(step);
    for (const auto& kernel : best_.kernels) {
      for (const auto& item : kernel.body) {
        if (const auto* inner = std::get_if<scenario::BodyStep>(&item)) {
          for (const Step& step : inner->step) note(step);
        }
      }
    }
    std::erase_if(best_.kernels,
                  [&](const auto& kernel) { return !used.contains(kernel.name) || kernel.body.empty(); });
    return best_;
  }

 private:
  Scenario best_;
  const std::function<bool(const Scenario&)>& fails_;
};

}  // namespace

Scenario ShrinkScenario(const Scenario& scenario, int failing_step, const std::function<bool(const Scenario&)>& fails) {
  Scenario start = scenario;
  start.comments.clear();
  for (Step& step : start.steps) step.expected.reset();
  Shrinker shrinker(scenario, fails);
  if (failing_step >= 0 && failing_step + 1 < static_cast<int>(start.steps.size())) {
    Scenario shorter = start;
    shorter.steps.resize(static_cast<std::size_t>(failing_step) + 1);
    if (!shrinker.Take(std::move(shorter))) shrinker.Take(start);
  } else {
    shrinker.Take(start);
  }
  while (shrinker.ThinSteps() || shrinker.ThinBodies() || shrinker.ThinKeys()) {
  }
  return shrinker.Result();
}

}  // namespace plumbline::harness
