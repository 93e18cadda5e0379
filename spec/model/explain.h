// Why a call went where it went, rule by rule, and which of the usual causes holds when a kernel did not run.
//
//   for (const Explanation& e : Explain(scenario, settings)) std::cout << Print(e);
//
//   demo.scn:6  call demo::f [CPU AutogradCPU]  =>  kauto
//     argument 1 brings [CPU AutogradCPU]
//     ...
//     kernel      no   no kernel is registered at AutogradCPU        RES-030
//     autograd    yes  the newest there is kernel 'kauto'            RES-048
//   why not kcpu (CPU): a higher key answers first: AutogradCPU, by the kernel at Autograd, before CPU   RES-016
//
// Pure functions of scenario, settings and what was observed; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_EXPLAIN_H_
#define PLUMBLINE_SPEC_MODEL_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "spec/model/machine.h"
#include "spec/scenario/outcome.h"
#include "spec/scenario/scenario.h"

namespace plumbline::model {

// One of the usual causes. `kind` is from a closed list:
//   key differs · a higher key answers first · a higher key has no kernel · a higher rule answers first · held off ·
//   falls through · excluded by a guard · shadowed · ambiguous · misspelt operator · misspelt namespace ·
//   other overload · never registered · registration refused · no key is given · never defined ·
//   registered after the call · released before the call · inner operator lacks a kernel · calls without end · a stale
//   answer
struct Cause {
  std::string kind;
  std::string detail;
  std::string clause;
  std::string kernel;        // that did not run: "kcpu (CPU)"; empty: the call as a whole
  std::string condition;     // "kimp runs"; empty: it holds
  std::string Text() const;  // "kind: detail", or "kind if condition: detail"
};

struct RuleTried {
  std::string rule;  // as in a table; "missing" at the end when none applies
  bool applies = false;
  std::string why, clause;
};

// One call or redispatch, with those that its kernels made after it.
struct CallExplanation {
  std::string operator_name;
  int depth = 0;
  bool redispatch = false;
  bool refused = false;                     // before a key was chosen; then only `error` and `message` are set
  std::vector<std::string> arguments;       // what each argument brings, "[CPU AutogradCPU]"; not for a redispatch
  std::string brought;                      // their union
  std::string included, excluded;           // of the thread
  std::string with_thread;                  // what is left
  std::vector<std::string> added, removed;  // keys by thread state
  std::string backend;                      // the component whose fallthrough keys count; "" if none
  std::vector<std::string> fell_through;    // keys, lowest first
  std::string received;                     // the set that the kernel receives
  std::string key;                          // the highest
  std::vector<RuleTried> rules;             // of that key's slot, in order
  std::string winner;                       // "kernel 'k1', registered at CPU, line 6"; "" if none
  bool hit = false;                         // of the cache
  std::string error, message;
};

struct Explanation {
  std::size_t step = 0;  // index in the scenario
  int line = 0;
  std::string text;  // the step
  scenario::Outcome outcome;
  std::string mismatch;  // with what the step's author expected, in words; "" if none, or if nothing was expected
  std::vector<CallExplanation> calls;  // in order of entry
  std::vector<Cause> causes;           // likeliest first
};

// One for each call of the scenario. `observed`, if given, has an outcome for each step: where it differs from the
// model's and is what an outdated table would give, the cause is a stale answer.
std::vector<Explanation> Explain(const scenario::Scenario& scenario, const Settings& settings,
                                 const std::vector<scenario::Outcome>* observed = nullptr);

// Whether what the kernels do is known: a scenario says it of its own, nothing says it of those that a backend has.
enum class Bodies { kKnown, kUnknown };

// Plain text, several lines, ends in a newline.
std::string Print(const Explanation& explanation, Bodies bodies = Bodies::kKnown);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_EXPLAIN_H_
