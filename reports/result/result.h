// The result model: what a run of the suites found. The suites fill it, every report is written from it.
//
//   Run run; run.backend.name = "reference"; run.cases.push_back({.id = "resolution/RES-001/newest-wins", ...});
//   WriteJson(run, out);
//
// For deterministic cases a Run is a pure function of (suite, backend, seed): no times, no paths, no process ids;
// those go to SideNotes. Cases are sorted by id before they are written. Plain data; no thread rules.
#ifndef PLUMBLINE_REPORTS_RESULT_RESULT_H_
#define PLUMBLINE_REPORTS_RESULT_RESULT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plumbline::reports {

// Only kPass counts as pass.
enum class Verdict {
  kPass,
  kFail,
  kCrash,  // a signal, an exit, or an exception across the ABI
  kTimeout,
  kUnsupported,   // a capability that the backend does not claim
  kWaived,        // failed exactly as a waiver says
  kVacuous,       // nothing was checked
  kInconclusive,  // the check could not show that it works here
  kHarnessError   // our own fault: the model disagrees with a written outcome, a waiver does not hold, ...
};

const char* Spelling(Verdict verdict);  // "pass", "harness-error", ...

// Why a case did not pass: everything a reader needs to understand and rerun it.
struct Finding {
  std::string summary;   // one line
  std::string scenario;  // text form, shrunk
  int line = 0;          // of the scenario, where it went wrong; 0: not tied to a line
  std::string expected;  // in words or as an outcome
  std::string got;
  std::string rule;                  // which rule expects it, with its clause
  std::string rerun;                 // the one command line that reruns exactly this
  std::vector<std::string> clauses;  // that this failure contradicts
};

struct CaseResult {
  std::string id;  // chapter/CLAUSE-or-property/name; stable
  std::string chapter;
  std::vector<std::string> clauses;  // that the case names
  Verdict verdict = Verdict::kVacuous;
  bool sampled = false;         // counts may differ between runs (stress, race)
  std::uint64_t scenarios = 0;  // compared with the model
  std::uint64_t discarded = 0;  // generated, but out of the property's scope or the backend's claims
  std::map<std::string, std::uint64_t> accepted_by_deviation{};  // deviation -> scenarios
  std::vector<std::string> missing_capabilities{};               // kUnsupported
  std::string waiver{};                                          // id, when waived
  std::vector<std::string> waived_clauses{};  // kWaived: that the waivers in use say are broken; sorted
  std::string blocked_by{};                   // id of a failed case to look at first, see MarkBlocked; empty: a root
  std::vector<Finding> findings{};            // first is the headline
};

struct Clause {
  std::string id, title{}, strength{} /* MUST, SHOULD */, profile{}, chapter{}, text{};
  std::vector<std::string> needs{};                     // clauses that it presumes
  std::string where{};                                  // file:line of the text
  std::vector<std::string> tests{}, model{}, faults{};  // file:line of what checks, executes and violates it
};

struct Backend {
  std::string name, version, release, abi, digest /* sha256 of the shared object */;
  std::vector<std::string> capabilities;
  std::vector<std::string> loaded;          // --load, by file name
  std::uint64_t key_count = 0;              // dispatch keys that it was asked for; 0: it was asked for none
  std::vector<std::string> unknown_keys{};  // of these, those that it does not know
};

// "5 of 114 keys and alias keys of pytorch-1.13; unknown: HIP, XLA, MPS and 106 more"; empty if it knows all.
std::string UnknownKeys(const Backend& backend);

struct WaiverUse {
  std::string id, clause, cause, reference, expires;
  std::uint64_t used = 0;
  std::string problem;  // "unused", "matched another outcome", "expired", ...; empty: fine
};

struct Run {
  std::string suite_version;  // of Plumbline
  std::string tier;           // quick, standard, full
  std::uint64_t seed = 0;
  std::string filter;         // empty: everything
  int shard = 1, shards = 1;  // counted from 1, as --shard 1/4 is
  Backend backend;
  std::vector<Clause> clauses;
  std::vector<CaseResult> cases;
  std::vector<WaiverUse> waivers;
  std::vector<std::string> waiver_files;  // that they were read from, by file name
};

struct SideNotes {  // what may differ between equal runs
  double seconds = 0;
  std::map<std::string, double> seconds_by_case;
  std::map<std::string, std::uint64_t> tried_by_case{};  // sampled cases: how many schedules, or scenarios
  std::string command_line, started, host_note;
};

struct Counts {
  std::map<Verdict, int> by_verdict;
  int roots = 0, blocked = 0;
  std::uint64_t scenarios = 0, accepted_by_deviation = 0;
};
Counts Count(const Run& run);  // the one place that counts; every format uses it

// Clause -> verdict over all cases that name it: the worst of them. One that no case names is vacuous in a whole run;
// in a part of one, a filtered run or a shard, it is left out: it was not selected. A case that only deviations made
// acceptable is evidence for all its clauses but those that the deviations break, named by the case or not, if some of
// its scenarios were right without one; one that failed as a waiver says is evidence for none.
std::map<std::string, Verdict> ByClause(const Run& run);

// Fills `blocked_by`: a failed case is folded under another failed one that names a clause which its own clauses need,
// near or far, and names no more clauses; or whose step of the same kind ends in the same crash or error of no rule.
// What names such a clause itself is a root, and every circle has one. Needs the run's clauses.
void MarkBlocked(Run& run);

// True if the run is good: nothing failed, crashed, timed out or was a harness error, and something was checked.
bool Good(const Run& run);

// The shards of one run, in any order, as the run that they are parts of. The error says which shard is missing, given
// twice, or of another run.
struct MergeResult {
  Run run;
  std::string error;
};
MergeResult Merge(const std::vector<Run>& shards);
// The notes of all shards: the seconds are those of the shards together.
SideNotes MergeNotes(const std::vector<SideNotes>& shards);

// Puts back what a written run leaves out: the counts of its sampled cases.
void AddSampledCounts(Run& run, const SideNotes& notes);

// What a run says of a waiver that nothing in it needed.
inline constexpr const char* kUnusedWaiver = "unused: nothing failed as it says";

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_RESULT_RESULT_H_
