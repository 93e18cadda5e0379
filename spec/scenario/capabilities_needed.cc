#include "spec/scenario/capabilities_needed.h"

#include <map>
#include <set>

#include "spec/tables/capabilities.h"

namespace plumbline::scenario {
namespace {

#define PL_BIT(bit, NAME, spelling, meaning) constexpr std::uint64_t k##NAME = std::uint64_t{1} << bit;
PL_CAPABILITIES(PL_BIT)
#undef PL_BIT

class Collector {
 public:
  std::uint64_t Collect(const Scenario& scenario) {
    if (scenario.open == OpenMode::kFresh) needed_ |= kFRESH_REGISTRY;
    if (!scenario.declared_keys.empty()) needed_ |= kDECLARED_KEYS | kFRESH_REGISTRY;
    for (const KernelDefinition& kernel : scenario.kernels) {
      for (const BodyItem& item : kernel.body) std::visit(*this, item);
    }
    for (const Step& step : scenario.steps) {
      std::visit(*this, step.action);
      if (step.expected && step.expected->warned) needed_ |= kWARNINGS;
    }
    for (const auto& [name, signatures] : signatures_) {
      if (signatures.size() > 1) needed_ |= kSIGNATURE_CHECK;
    }
    return needed_;
  }

  // ---- items of a body ----
  void operator()(const BodyGuard&) { needed_ |= kGUARDS; }
  void operator()(const BodyRedispatch& item) {
    needed_ |= kREDISPATCH;
    if (item.form == CallForm::kTyped) needed_ |= kTYPED;
  }
  void operator()(const BodyCall& item) { CallOf(item.form, item.operator_name, item.signature); }
  void operator()(const BodyThrow&) {}
  void operator()(const BodyReturn&) {}
  void operator()(const BodyStep& item) {
    for (const Step& step : item.step) std::visit(*this, step.action);
  }

  // ---- steps ----
  void operator()(const Chain&) { needed_ |= kCHAINS; }
  void operator()(const LibraryOpen&) { needed_ |= kLIBRARIES; }
  void operator()(const LibraryClose&) { needed_ |= kLIBRARIES; }
  void operator()(const Define&) {}
  void operator()(const Impl& step) {
    if (step.kernel.fallthrough) return;
    needed_ |= step.kernel.signature.empty() ? kBOXED : kTYPED;
    if (!step.kernel.signature.empty()) signatures_[step.operator_name].insert(step.kernel.signature);
  }
  void operator()(const Fallback& step) {
    needed_ |= kFALLBACKS;
    if (!step.kernel.fallthrough) needed_ |= step.kernel.signature.empty() ? kBOXED : kTYPED;
  }
  void operator()(const Listen&) { needed_ |= kLISTENERS; }
  void operator()(const Release&) {}
  void operator()(const Drain&) { needed_ |= kDRAIN; }
  void operator()(const Find& step) { operators_[step.name] = step.operator_name; }
  void operator()(const Call& step) {
    CallOf(step.form, step.handle.empty() ? step.operator_name : operators_[step.handle], step.signature);
  }
  void operator()(const GuardEnter&) { needed_ |= kGUARDS; }
  void operator()(const GuardLeave&) { needed_ |= kGUARDS; }
  void operator()(const Flush&) { needed_ |= kCACHE_FLUSH; }
  void operator()(const Query& step) {
    switch (step.kind) {
      case QueryKind::kHasKernel:
      case QueryKind::kHasComputed:
      case QueryKind::kHasFallback:
      case QueryKind::kOperators:
      case QueryKind::kDangling:
      case QueryKind::kOperatorsAtKey:
      case QueryKind::kSchema:
      case QueryKind::kTable:
        needed_ |= kINTROSPECTION;
        break;
      case QueryKind::kCounters:
        needed_ |= kCACHE_COUNTERS;
        break;
      case QueryKind::kHeard:
        needed_ |= kLISTENERS;
        break;
      case QueryKind::kDestroyed:
        break;  // the host counts
    }
  }

 private:
  void CallOf(CallForm form, const std::string& operator_name, const std::string& signature) {
    needed_ |= form == CallForm::kTyped ? kTYPED : kBOXED;
    if (form == CallForm::kTyped) signatures_[operator_name].insert(signature);
  }

  std::uint64_t needed_ = kCORE;
  std::map<std::string, std::string> operators_;  // by handle
  // What typed kernels and typed calls of an operator use: two of them agree only where signatures are checked.
  std::map<std::string, std::set<std::string>> signatures_;
};

}  // namespace

std::uint64_t CapabilitiesNeeded(const Scenario& scenario) { return Collector().Collect(scenario); }

std::vector<std::string> CapabilityNames(std::uint64_t capabilities) {
  std::vector<std::string> names;
#define PL_NAME(bit, NAME, spelling, meaning) \
  if ((capabilities >> bit) & 1) names.push_back(spelling);
  PL_CAPABILITIES(PL_NAME)
#undef PL_NAME
  return names;
}

}  // namespace plumbline::scenario
