// Histories, as text.
//
// Property: a text is read, or refused with words; what was read prints, reads back equal and prints alike. The check
// of a history ends within its steps; it does not depend on the order in which events are written; and the part of a
// history that is shown because it cannot be, cannot be by itself either.
#include <algorithm>

#include "conformance/race/check.h"
#include "conformance/race/history.h"
#include "fuzz/targets/property.h"

namespace plumbline::fuzz {
namespace {

constexpr std::size_t kMostEvents = 200;
const race::CheckOptions kBounded{.max_steps = 20'000, .fallbacks = std::nullopt};

void CheckJudgement(race::History history, const std::string& printed) {
  using Outcome = race::Verdict::Outcome;
  const harness::OrError<race::Verdict> verdict = race::Check(history, kBounded);
  Require(verdict.ok() || !verdict.error().empty(), "a refusal without words", printed);
  std::reverse(history.events.begin(), history.events.end());
  const harness::OrError<race::Verdict> turned = race::Check(history, kBounded);
  Require(verdict.ok() == turned.ok(), "whether a history can be judged depends on the order of its lines", printed);
  if (!verdict.ok() || verdict->outcome == Outcome::kGaveUp || turned->outcome == Outcome::kGaveUp) return;
  Require(verdict->outcome == turned->outcome, "the verdict depends on the order of the lines", printed,
          verdict->words + turned->words);
  if (verdict->outcome != Outcome::kContradiction) return;
  Require(!verdict->words.empty(), "a contradiction without words", printed);
  const std::string smallest = race::PrintHistory(verdict->smallest);
  const harness::OrError<race::Verdict> alone = race::Check(verdict->smallest, kBounded);
  Require(alone.ok(), "the smallest part cannot be judged", smallest, alone.ok() ? "" : alone.error());
  Require(alone->outcome != Outcome::kExplained, "what is shown as a contradiction is none by itself", printed,
          smallest);
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  const std::string_view text = fuzz::Text(data, size);
  const harness::OrError<race::History> history = race::ParseHistory(text);
  if (!history.ok()) {
    fuzz::Require(!history.error().empty(), "a refusal without words", text);
    return 0;
  }
  const std::string printed = race::PrintHistory(*history);
  const harness::OrError<race::History> again = race::ParseHistory(printed);
  fuzz::Require(again.ok(), "a printed history does not parse", printed, again.ok() ? "" : again.error());
  fuzz::Require(*again == *history, "a printed history reads back as another", text, printed);
  fuzz::Require(race::PrintHistory(*again) == printed, "a history prints in two ways", printed);
  if (history->events.size() <= fuzz::kMostEvents) fuzz::CheckJudgement(*history, printed);
  return 0;
}
