// Waiver files.
//
// Property: a file is read, or refused with words that begin with its name; a waiver that was read says who, what and
// why, and one way in which it fails; and judging the waivers of a run gives each that applies one line.
#include "conformance/harness/waivers.h"
#include "fuzz/targets/property.h"

namespace plumbline::fuzz {
namespace {

void CheckOne(const harness::Waiver& waiver, std::string_view text) {
  for (const std::string* needed : {&waiver.id, &waiver.cause, &waiver.reference, &waiver.owner, &waiver.expires}) {
    Require(!needed->empty(), "a waiver lacks a field that every waiver has", text, waiver.where);
  }
  const int ways = (waiver.deviation.empty() ? 0 : 1) + (waiver.outcome.empty() ? 0 : 1) + (waiver.unstable ? 1 : 0);
  Require(ways == 1, "a waiver fails in no way, or in several", text, waiver.where);
  Require(!waiver.deviation.empty() || !waiver.cases.empty(), "a waiver without a deviation names no case", text,
          waiver.where);
  harness::MatchesOutcome(waiver.outcome, reports::Verdict::kFail, "k1 > error internal (\"x\")");
}

// A run in which one case passed and another failed, both named as the first waiver's cases are.
std::vector<reports::CaseResult> Results(const harness::Waivers& waivers) {
  std::vector<reports::CaseResult> results(2);
  results[0].id = "resolution/RES-004-newest";
  results[0].verdict = reports::Verdict::kPass;
  results[1].id = waivers.all.empty() || waivers.all.front().cases.empty() ? "x" : waivers.all.front().cases.front();
  results[1].verdict = reports::Verdict::kFail;
  return results;
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  const std::string_view text = fuzz::Text(data, size);
  const harness::OrError<harness::Waivers> waivers = harness::ReadWaivers(text, "w.toml");
  if (!waivers.ok()) {
    fuzz::Require(waivers.error().starts_with("w.toml:"), "a refusal that does not say where", text, waivers.error());
    return 0;
  }
  for (const harness::Waiver& waiver : waivers->all) fuzz::CheckOne(waiver, text);
  harness::WaiverScope scope;
  scope.cases = {"resolution/RES-004-newest"};
  scope.clauses = {"RES-004"};
  scope.release = "pytorch-1.13";
  scope.version = "1.13.0";
  scope.today = "2026-11-29";
  const std::vector<reports::WaiverUse> uses = harness::JudgeWaivers(*waivers, fuzz::Results(*waivers), scope);
  fuzz::Require(uses.size() <= waivers->all.size(), "more uses than waivers", text);
  return 0;
}
