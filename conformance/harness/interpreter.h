// Runs a scenario on a backend, through the ABI and nothing else, and tells what each step led to in the model's terms.
//
//   Interpretation done = Interpret(*adapter, scenario, keys, {.fresh = true});
//   for (const scenario::Outcome& outcome : done.outcomes) ...
//
// The kernels that it registers are probes: they note what they were given, then do what the scenario's kernel of that
// name does. Everything that a scenario makes is released at its end, in reverse order. It runs in an executor
// (executor.h): a backend that crashes takes the process with it.
//
// One scenario at a time in a process; a scenario's own threads are made and joined here.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spec/abi/abi.h"
#include "spec/model/key_table.h"
#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct InterpretOptions {
  bool fresh = true;                      // else the process-wide registry, with namespaces of the scenario's own
  std::function<void(int step)> on_step;  // called before each step
  // False: on the caller's thread, which is faster; what a backend leaves in its state then reaches the next scenario.
  bool own_thread = true;
};

// How often the contexts of one kernel were handed out and destroyed by the end, when all was released.
struct ContextCount {
  int made = 0;
  int destroyed = 0;
};

struct Interpretation {
  std::vector<scenario::Outcome> outcomes;  // one a step, if neither of the next two is set
  std::string refused;                      // no registry was opened: why, and the class of the error
  std::string refused_class;
  std::string threw;                             // an exception came across the ABI; what it said
  std::map<std::string, ContextCount> contexts;  // by kernel
};

// `keys` are those in force for the scenario's release on that backend.
Interpretation Interpret(const pl_adapter& adapter, const scenario::Scenario& scenario, const model::KeyTable& keys,
                         const InterpretOptions& options);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_INTERPRETER_H_
