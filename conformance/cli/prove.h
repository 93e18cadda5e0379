// Proof that the suites can fail: each planted fault of a backend must be caught by a case that names the fault's
// clause.
//
//   OrError<std::vector<Fault>> faults = ReadFaults(lines, clauses);
//   const std::vector<Case> order = CasesFor(faults->front(), cases, /*everything=*/false);
//   FaultResult result = TryFault(faults->front(), order, run, /*everything=*/false);
//   OrError<Proof> proof = Prove(options, cases);      // all of it, in processes of its own
//   return proof->Holds() ? 0 : 1;
//
// A fault counts as killed only if a case that names its clause fails a check: an outcome differed from the model's, or
// a context leaked. A crash or a hang counts where the fault's description says that it crashes or hangs. With no fault
// at all every case must pass: else a kill says nothing. Prove forks: call it before this process has other threads.
#ifndef PLUMBLINE_CONFORMANCE_CLI_PROVE_H_
#define PLUMBLINE_CONFORMANCE_CLI_PROVE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"
#include "reports/result/result.h"

namespace plumbline::cli {

struct Fault {
  std::string name, clause, what;
};

// Lines of a backend's fault list: name, clause and what goes wrong, with tabs between. The error names a line that is
// not of that form, or whose clause no chapter holds.
harness::OrError<std::vector<Fault>> ReadFaults(const std::vector<std::string>& lines,
                                                const std::vector<reports::Clause>& clauses);

struct FaultResult {
  Fault fault;
  bool killed = false;
  std::string by{};  // the first case that names the clause and saw it; else the first that crashed, or was broken
  reports::Verdict verdict = reports::Verdict::kPass;  // of that case
  std::string seen{};                                  // what the case saw, in one line
  bool sampled = false;                                // that case tries what it comes to, see case.h
  std::size_t cases = 0;                               // that ran
  std::vector<std::string> also{};                     // other cases that failed, where everything was run
};

// The cases of the standard tier that name the clause, the quickest evidence first: its own scenario, other scenarios,
// properties. With `everything`, all others after them.
std::vector<harness::Case> CasesFor(const Fault& fault, const std::vector<harness::Case>& cases, bool everything);

// Runs the cases in order until one kills the fault, or all of them.
FaultResult TryFault(const Fault& fault, const std::vector<harness::Case>& cases,
                     const std::function<reports::CaseResult(const harness::Case&)>& run, bool everything);

struct ProveOptions {
  harness::ExecutorConfig executor;  // without a fault
  std::string with_operators;        // the shared object for cases that need operators; empty: the same
  std::string backend_argument;
  std::vector<std::string> only;  // names of faults; empty: all
  std::vector<reports::Clause> clauses;
  std::uint64_t seed = 1;
  int shard = 1, shards = 1;  // counted from 1; faults and cases go by their own names
  int jobs = 2;
  bool everything = false;
  // Called now and then, from one thread at a time.
  std::function<void(std::string_view doing, std::size_t done, std::size_t total)> progress;
};

struct Proof {
  std::string backend;
  std::uint64_t seed = 1;
  int shard = 1, shards = 1;
  std::size_t null_cases = 0;                      // that ran without a fault
  std::vector<reports::CaseResult> null_failures;  // of these, those that did not pass
  std::vector<FaultResult> faults;                 // by clause and name
  std::vector<std::string> without_fault;          // MUST clauses that no fault violates; not judged if only some ran
  double seconds = 0;

  bool Holds() const;
};

// The error is about the input: a backend without faults, a fault that there is not.
harness::OrError<Proof> Prove(const ProveOptions& options, const std::vector<harness::Case>& cases);

// The kill matrix as text.
std::string PrintProof(const Proof& proof, bool colours);

// As JSON: the same for every run of the same backend, seed and shard, and read back but for the seconds. Of a fault
// that a sampled case killed it does not say what was seen, since another run may see another end of the same race.
std::string ProofAsJson(const Proof& proof);
harness::OrError<Proof> ProofFromJson(const std::string& text);

// The proof of the whole run; the error names the shard that is missing, twice there, or of another run.
harness::OrError<Proof> MergeProofs(const std::vector<Proof>& shards);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_PROVE_H_
