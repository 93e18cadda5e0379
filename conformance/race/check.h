// Decides whether some order of a history's events explains it: the registry must have answered as if each event had
// happened at one moment between its start and its end. That order is sought for each operator by itself; what concerns
// all of them (fallbacks, libraries) is an event of each, so operators may see it at different moments.
//
//   OrError<Verdict> verdict = Check(history);
//   if (verdict->outcome == Verdict::Outcome::kContradiction) std::cout << verdict->words;
//
// The search is that of Wing and Gong, with Lowe's memory of what was tried (set of events done, state). It remembers a
// set by 128 bits of hash, so that histories of many thousand events fit; two sets that were taken for each other
// would need a collision of those.
//
// Pure function of its arguments; any thread.
#ifndef PLUMBLINE_CONFORMANCE_RACE_CHECK_H_
#define PLUMBLINE_CONFORMANCE_RACE_CHECK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "conformance/race/history.h"
#include "spec/model/key_table.h"
#include "spec/model/machine.h"

namespace plumbline::race {

struct CheckOptions {
  std::uint64_t max_steps = 4'000'000;  // of the search, per operator: some seconds
  // Instead of the release's own, where the backend declares them.
  std::optional<std::vector<model::StartingFallback>> fallbacks;
};

struct Verdict {
  enum class Outcome {
    kExplained,
    kContradiction,
    kGaveUp  // after max_steps
  } outcome = Outcome::kExplained;
  std::uint64_t steps = 0;  // of the search

  // With kContradiction:
  std::string op;
  enum class Kind {
    kUnknownKernel,       // a kernel ran that was never registered for the operator
    kBeforeRegistration,  // a call was over before the kernel that it ran was registered
    kAfterRelease,        // a call began after the release of the kernel that it ran had returned
    kMissed,              // one call found no kernel though there was one all along
    kStale,               // one call ran another kernel than the one that was in force all along
    kNoOrder              // it takes several answers to show it
  } kind = Kind::kNoOrder;
  std::string words;  // what cannot be, in a few lines
  History smallest;   // a part of the history that already cannot be
};

// The error is that of a history which names keys or a release that do not exist.
harness::OrError<Verdict> Check(const History& history, const CheckOptions& options = {});

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CHECK_H_
