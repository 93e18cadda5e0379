// A case: one thing that the suites check on a backend, under one id and one verdict.
//
//   PL_CASE("resolution", "newest-wins", Tier::kQuick, PL_CLAUSES("RES-004"), PL_CAPABILITY(CORE)) {
//     ctx.Check(scenario);                      // runs it on the model and on the backend, and compares
//     ctx.CheckProperty(GenNewestWins(ctx.backend()));   // RapidCheck: many, and the smallest that fails
//   }
//
// A case runs in a process that never loads the backend; its scenarios run in an executor (executor.h). It may be run
// in any order and on its own: its randomness comes from the run's seed and its id. A Case is plain data; a CaseContext
// belongs to the thread that runs the case.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_CASE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_CASE_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/observation.h"
#include "reports/result/result.h"
#include "spec/abi/abi.h"
#include "spec/scenario/scenario.h"

namespace rc {
template <typename T>
class Gen;
}

namespace plumbline::harness {

enum class Tier { kQuick, kStandard, kFull };

class CaseContext;
class Executor;

struct Case {
  std::string id;  // chapter/name
  std::string chapter;
  std::vector<std::string> clauses;  // that it is evidence for
  Tier tier = Tier::kQuick;          // the smallest tier that runs it
  std::uint64_t needs = 0;           // PL_CAPABILITY bits; where one is not claimed the case reads unsupported
  bool sampled = false;              // its counts may differ between runs
  std::string where;                 // the file that holds it
  std::function<void(CaseContext&)> run;
};

class CaseContext {
 public:
  virtual ~CaseContext() = default;

  virtual const BackendFacts& backend() const = 0;  // release, capabilities, keys, as the backend declares them
  virtual Tier tier() const = 0;                    // of this run, not of the case

  // Runs a scenario on the model and on the backend and compares every step; what disagrees becomes a finding (shrunk,
  // confirmed in a fresh executor). True: agreed, or accepted by a waiver's deviation, or unsupported.
  virtual bool Check(const scenario::Scenario& scenario) = 0;

  // Checks scenarios from a generator until `runs` of them agreed (scaled by tier: a tenth in quick, ten times in
  // full), or one does not; that one is shrunk along the generator's own shrinks, then by leaving out steps, confirmed
  // in a fresh executor, and reported. Scenarios that need what the backend does not claim are discarded and counted.
  virtual bool CheckProperty(const rc::Gen<scenario::Scenario>& generator, int runs = 200) = 0;

  // For a case that says in its own words what must hold: runs it on the backend only.
  virtual Observation Run(const scenario::Scenario& scenario) = 0;

  // For a case that asks the backend in a way of its own (ExecutorConfig::service). It says what it tried itself.
  virtual Executor& executor() = 0;
  virtual std::uint64_t seed() const = 0;  // of the run and this case
  virtual void Tried(std::uint64_t scenarios) = 0;
  virtual void Unsupported(const std::string& missing) = 0;
  // Whether a waiver accepts a deviation of the suite's own in this case; and that so many of what was tried are as it
  // says.
  virtual bool Accepts(std::string_view deviation) const = 0;
  virtual void Accepted(const std::string& deviation, std::uint64_t scenarios) = 0;
  // How the backend was named, for a line that reruns: " --backend X --load Y".
  virtual std::string BackendArguments() const = 0;
  // Keeps a file beside the saved scenarios of failures; its path, or nothing where none are saved.
  virtual std::string SaveAs(const std::string& suffix, const std::string& text) = 0;

  // Reports what `Run` or the executor showed to be wrong.
  virtual void Fail(reports::Finding finding, reports::Verdict verdict = reports::Verdict::kFail) = 0;

  // Reports that the case could not show that it would have seen a fault.
  virtual void Inconclusive(const std::string& what) = 0;

  // Reports that the case itself is broken: a harness-error, not a failure of the backend.
  virtual void Broken(const std::string& what) = 0;
};

// All cases that PL_CASE has registered, by id.
const std::vector<Case>& RegisteredCases();
bool RegisterCase(Case made);

struct Clauses {
  std::vector<std::string> ids;
};

}  // namespace plumbline::harness

#define PL_CLAUSES(...) (::plumbline::harness::Clauses{{__VA_ARGS__}})

#define PL_CASE_JOIN_(a, b) a##b
#define PL_CASE_JOIN(a, b) PL_CASE_JOIN_(a, b)
#define PL_CASE_AT(line, is_sampled, case_chapter, case_name, case_tier, case_clauses, case_needs) \
  static void PL_CASE_JOIN(PlumblineCase, line)(::plumbline::harness::CaseContext & ctx);          \
  [[maybe_unused]] static const bool PL_CASE_JOIN(kPlumblineCase, line) =                          \
      ::plumbline::harness::RegisterCase({.id = std::string(case_chapter) + "/" + (case_name),     \
                                          .chapter = (case_chapter),                               \
                                          .clauses = (case_clauses).ids,                           \
                                          .tier = ::plumbline::harness::case_tier,                 \
                                          .needs = (case_needs),                                   \
                                          .sampled = (is_sampled),                                 \
                                          .where = __FILE__,                                       \
                                          .run = PL_CASE_JOIN(PlumblineCase, line)});              \
  static void PL_CASE_JOIN(PlumblineCase, line)([[maybe_unused]] ::plumbline::harness::CaseContext & ctx)

// PL_CASE("chapter", "name", Tier::kQuick, PL_CLAUSES("RES-001"), PL_CAPABILITY(GUARDS) | PL_CAPABILITY(TYPED)) { ... }
#define PL_CASE(chapter, name, tier, clauses, needs) PL_CASE_AT(__LINE__, false, chapter, name, tier, clauses, needs)
// The same, for a case whose threads race: in what way a wrong backend fails first is chance.
#define PL_SAMPLED_CASE(chapter, name, tier, clauses, needs) \
  PL_CASE_AT(__LINE__, true, chapter, name, tier, clauses, needs)

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_CASE_H_
