// Waivers: the failures of one backend that are known, understood, and accepted for now.
//
//   [[waiver]]
//   id        = "stale-autogradother"
//   clause    = "RES-021"                      # that the backend breaks, or a list of such
//   cause     = "bug"                          # bug | limit | dispute
//   reference = "https://..."                  # or words: where it is reported or explained
//   owner     = "dispatcher team"
//   expires   = "2027-06-30"                   # a day, or a version of the backend ("2.9")
//   deviation = "stale-autogradother"          # either: the model, with this switch, predicts the failure exactly, or
//                                              # the suite knows the fault by this name
//   cases     = ["resolution/RES-021-order"]   # exact ids; with a deviation they may be left out: all cases
//   # or, without a deviation:
//   outcome   = "error internal"               # what the backend does instead: what the finding says it got
//   # or, for undefined behaviour:
//   unstable  = true
//   admits    = ["crash", "timeout", "fail"]   # the outcomes that may be seen; a pass is one of them
//   from      = "call @*"                      # the undefined step, as a pattern: only it or a later one may go wrong
//   tier      = "standard"                     # the smallest tier that needs it; left out: quick
//   releases  = ["pytorch-1.13"]               # left out: all
//
// A waiver accepts exactly what it describes. One that describes something else than what happened, that is not
// needed, that has expired, or that names a case or clause that does not exist, is a problem of its own.
//
// Plain data; no thread rules.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_WAIVERS_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_WAIVERS_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/case.h"
#include "conformance/harness/or_error.h"
#include "reports/result/result.h"

namespace plumbline::harness {

struct Waiver {
  std::string id, cause, reference, owner, expires;
  std::vector<std::string> clauses;
  std::vector<std::string> cases;
  std::string deviation;  // by name; empty: it is by outcome
  std::string outcome;
  bool unstable = false;
  std::vector<std::string> admits;
  std::string from;  // a pattern of glob.h; empty: any step
  Tier tier = Tier::kQuick;
  std::vector<std::string> releases;
  std::string where;  // file:line

  bool IsOf(std::string_view release) const;
  bool AppliesTo(std::string_view case_id, std::string_view release) const;
};

struct Waivers {
  std::vector<Waiver> all;

  // The deviations that a case of that id may accept, in the order of the file.
  std::vector<const Waiver*> DeviationsFor(std::string_view case_id, std::string_view release) const;
  // The waivers by outcome for that case.
  std::vector<const Waiver*> OutcomesFor(std::string_view case_id, std::string_view release) const;
};

// Names of the deviations that a waiver may be about.
using DeviationNames = std::vector<std::string_view>;
DeviationNames DeviationsOfModel();

// The error names file, line and what is wrong. `name` is for messages.
OrError<Waivers> ReadWaivers(std::string_view toml, const std::string& name,
                             const DeviationNames& deviations = DeviationsOfModel());
OrError<Waivers> ReadWaiverFile(const std::string& path, const DeviationNames& deviations = DeviationsOfModel());

// The waivers of a backend's own faults that are shipped with it: NAME.RELEASE.waivers.toml beside its shared object,
// by what it declares of itself; NAME.RELEASE.race.waivers.toml of the suite "race". Empty if there is no such file.
std::string ShippedWaiverFile(const BackendFacts& facts, const std::string& suite = "");

// What --waivers says: files, or none at all ("none" alone). The error names the file.
struct GivenWaivers {
  Waivers waivers;
  std::vector<std::string> files;  // by name, without folders
};
OrError<GivenWaivers> ReadGivenWaivers(const std::vector<std::string>& given,
                                       const DeviationNames& deviations = DeviationsOfModel());

// True if `got`, what a finding says that the backend did, is what the waiver's `outcome` describes: the same words, or
// the same kernels and error class whatever the message.
bool MatchesOutcome(std::string_view outcome, reports::Verdict verdict, std::string_view got);

struct WaiverScope {
  std::set<std::string> cases;    // ids of all that the suite has, at any tier
  std::set<std::string> clauses;  // ids of the index; empty: not known, not checked
  std::string release, version;   // of the backend
  std::string today;              // "2026-11-29"
  Tier tier = Tier::kFull;        // of the run
  bool whole = true;              // neither filtered nor a shard: an unused waiver is a problem
  bool all_of_backend = true;     // false: what is waived may well be changed by libraries that were loaded
};

// What is wrong with the waiver itself, whatever its cases came to: it names a clause that there is not, or has
// expired. Empty: nothing.
std::string Flaw(const Waiver& waiver, const WaiverScope& scope);

// What became of every waiver that the run's release and tier call for.
std::vector<reports::WaiverUse> JudgeWaivers(const Waivers& waivers, const std::vector<reports::CaseResult>& results,
                                             const WaiverScope& scope);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_WAIVERS_H_
