#include "fuzz/input/differential.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "conformance/harness/compare.h"
#include "conformance/harness/interpreter.h"
#include "conformance/harness/introduction.h"
#include "conformance/harness/judge.h"
#include "fuzz/targets/property.h"
#include "spec/model/key_table.h"
#include "spec/scenario/capabilities_needed.h"
#include "spec/scenario/print.h"

namespace plumbline::fuzz {

Subject::Subject(const pl_adapter* adapter)
    : adapter_(adapter), facts_(harness::Introduce(adapter)), settings_(harness::SettingsFor(facts_)) {}

Difference Subject::Try(const scenario::Scenario& scenario) const {
  Difference difference;
  const tables::ReleaseData* const release = model::FindRelease(scenario.release);
  if (release == nullptr || !facts_.Claims(scenario::CapabilitiesNeeded(scenario))) {
    difference.unsupported = true;
    return difference;
  }
  const std::shared_ptr<const model::KeyTable> keys = model::KeyTable::Get(*release, facts_.keys);
  const harness::InterpretOptions options{
      .fresh = facts_.Claims(PL_CAPABILITY(FRESH_REGISTRY)), .on_step = {}, .own_thread = false};
  const harness::Interpretation seen = harness::Interpret(*adapter_, scenario, *keys, options);
  if (!seen.threw.empty()) {
    difference.what = "an exception came across the ABI";
    difference.got = seen.threw;
    return difference;
  }
  if (!seen.refused.empty()) {
    difference.unsupported = true;
    return difference;
  }
  const harness::Comparison comparison =
      harness::Compare(scenario, model::Predict(scenario, settings_), seen.outcomes, facts_.capabilities);
  if (comparison.result == harness::Comparison::Result::kUnsupported) {
    difference.unsupported = true;
    return difference;
  }
  if (comparison.result == harness::Comparison::Result::kDiffers) {
    difference.what =
        fmt::format("step {}, `{}`: {}", comparison.step + 1,
                    scenario::PrintStep(scenario.steps[static_cast<std::size_t>(comparison.step)]), comparison.what);
    difference.expected = comparison.expected;
    difference.got = comparison.got;
    return difference;
  }
  for (const auto& [kernel, count] : seen.contexts) {
    if (count.made == count.destroyed) continue;
    difference.what = "the contexts of kernels after everything was released";
    difference.expected = "each destroyed once";
    difference.got = fmt::format("kernel {}: {} registered, {} destroyed", kernel, count.made, count.destroyed);
  }
  return difference;
}

bool RequireAgreement(const Subject& subject, const scenario::Scenario& scenario) {
  // Beforehand: a backend that crashes leaves no time to tell.
  static const bool shown = std::getenv("PLUMBLINE_FUZZ_SHOW") != nullptr;
  if (shown) std::fprintf(stderr, "%s\n", scenario::Print(scenario).c_str());
  const Difference difference = subject.Try(scenario);
  if (difference.what.empty()) return !difference.unsupported;
  Broken(fmt::format("{} and the model disagree\n{}\nexpected  {}\ngot       {}", subject.facts().name, difference.what,
                     difference.expected, difference.got),
         scenario::Print(scenario));
}

}  // namespace plumbline::fuzz
