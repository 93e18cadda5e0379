#include "conformance/suites/generate_shrink.h"

#include <rapidcheck/shrinkable/Create.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace plumbline::suites {
namespace {

using scenario::Scenario;

// What to leave out.
struct Cut {
  enum class What { kSteps, kBody, kBodyItem, kArgumentKey, kGuardKey } what;
  std::size_t at = 0;      // of the step or kernel
  std::size_t inside = 0;  // of the item or argument
  std::size_t index = 0;   // of the key; for steps: how many
};

std::vector<Cut> Cuts(const Scenario& scenario) {
  std::vector<Cut> cuts;
  const std::size_t steps = scenario.steps.size();
  for (std::size_t length = steps / 2; length > 1; length /= 2) {
    for (std::size_t end = steps; end >= length; end -= length)
      cuts.push_back({Cut::What::kSteps, end - length, 0, length});
  }
  for (std::size_t i = steps; i-- > 0;) cuts.push_back({Cut::What::kSteps, i, 0, 1});
  for (std::size_t k = 0; k < scenario.kernels.size(); ++k) {
    const auto& body = scenario.kernels[k].body;
    if (body.empty()) continue;
    cuts.push_back({Cut::What::kBody, k});
    for (std::size_t i = body.size(); i-- > 0;) cuts.push_back({Cut::What::kBodyItem, k, i});
  }
  for (std::size_t i = 0; i < steps; ++i) {
    if (const auto* call = std::get_if<scenario::Call>(&scenario.steps[i].action)) {
      for (std::size_t a = 0; a < call->arguments.size(); ++a) {
        for (std::size_t key = 0; key < call->arguments[a].keys.size(); ++key) {
          cuts.push_back({Cut::What::kArgumentKey, i, a, key});
        }
      }
    } else if (const auto* guard = std::get_if<scenario::GuardEnter>(&scenario.steps[i].action)) {
      for (std::size_t key = 0; key < guard->keys.size(); ++key) cuts.push_back({Cut::What::kGuardKey, i, 0, key});
    }
  }
  return cuts;
}

template <class List>
void Drop(List& list, std::size_t at, std::size_t count) {
  const auto from = list.begin() + static_cast<std::ptrdiff_t>(at);
  list.erase(from, from + static_cast<std::ptrdiff_t>(count));
}

Scenario Without(Scenario scenario, const Cut& cut) {
  switch (cut.what) {
    case Cut::What::kSteps:
      Drop(scenario.steps, cut.at, cut.index);
      break;
    case Cut::What::kBody:
      scenario.kernels[cut.at].body.clear();
      break;
    case Cut::What::kBodyItem:
      Drop(scenario.kernels[cut.at].body, cut.inside, 1);
      break;
    case Cut::What::kArgumentKey:
      Drop(std::get<scenario::Call>(scenario.steps[cut.at].action).arguments[cut.inside].keys, cut.index, 1);
      break;
    case Cut::What::kGuardKey:
      Drop(std::get<scenario::GuardEnter>(scenario.steps[cut.at].action).keys, cut.index, 1);
      break;
  }
  // A kernel without a body need not be written.
  std::erase_if(scenario.kernels, [](const scenario::KernelDefinition& kernel) { return kernel.body.empty(); });
  return scenario;
}

class SmallerOnes {
 public:
  explicit SmallerOnes(const Scenario& from)
      : from_(std::make_shared<const Scenario>(from)), cuts_(std::make_shared<const std::vector<Cut>>(Cuts(from))) {}

  rc::Maybe<Scenario> operator()() {
    if (next_ == cuts_->size()) return rc::Nothing;
    return Without(*from_, (*cuts_)[next_++]);
  }

 private:
  std::shared_ptr<const Scenario> from_;
  std::shared_ptr<const std::vector<Cut>> cuts_;
  std::size_t next_ = 0;
};

}  // namespace

rc::Seq<Scenario> Smaller(const Scenario& scenario) { return rc::makeSeq<SmallerOnes>(scenario); }

rc::Gen<Scenario> Scenarios(std::function<Scenario(Draw&)> write) {
  return [write = std::move(write)](const rc::Random& random, int size) {
    Draw draw(random, size);
    return rc::shrinkable::shrinkRecur(write(draw), Smaller);
  };
}

}  // namespace plumbline::suites
