// The executable spec: what a scenario leads to, step by step.
//
//   std::vector<Outcome> outcomes = Predict(scenario, {});
//
// or, where the state between steps matters:
//
//   Machine machine(scenario, settings);
//   for (const Step& step : scenario.steps) Outcome outcome = machine.Run(step);
//
// It is a pure function of scenario and settings: small, slow, and with no memo but of the releases' key tables. Not
// thread-safe; a scenario's threads are names here, each with guards of its own.
//
// What a scenario itself can get wrong is an outcome too:
//   - a name (registration, library, guard, handle, listener) that no step has made, or whose step was refused, is
//     `not-found`; one that was released, closed or left already is `invalid-handle`; a live name that is given again
//     is `invalid-argument`; leaving a guard on another thread is `invalid-argument`;
//   - an error that ends a kernel's body (a failed redispatch, call or registration in it) ends the call with that same
//     class; `throw` gives `kernel-raised`;
//   - a kernel without a `return` returns a zero of each return type of the schema; for a Tensor, the first of its
//     arguments that is a tensor, defined or not, else an undefined tensor;
//   - `inner` stands for all results of the last redispatch or call of that body that returned;
//   - a call or redispatch of a kernel beyond what limits.h allows is not made, and fails as `overflow`;
//   - a refused registration destroys the kernel's context at once, and counts so, if it was refused for a reason other
//     than an unknown name of a key or of a library, and other than a name that is taken.
//
// Cache counters. A slot is *resolved* for an operator when a call or a redispatch of it reaches the slot, whatever the
// slot holds: the first time is a miss, later times are hits. A registration or its release *can change* the slot of
// key S if it is made at a key that the rules for S read: S itself (kernel, fallback or chain); an alias key that S is
// in, or for Undefined one of the three composite ones that fill it; CompositeExplicitAutograd where
// CompositeImplicitAutograd serves S; a backend behind S where S is an autograd key; and, where a chain leads from S to
// T, all that the rules for T read. Each resolved slot that a change made by a register or release can change is
// dropped and counts one invalidation; others stay. A flush drops all and counts nothing. A definition starts with
// nothing resolved and all counters at zero.
#ifndef PLUMBLINE_SPEC_MODEL_MACHINE_H_
#define PLUMBLINE_SPEC_MODEL_MACHINE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/model/deviations.h"
#include "spec/model/key_table.h"
#include "spec/scenario/outcome.h"
#include "spec/scenario/scenario.h"

namespace plumbline::model {

struct StartingFallback {
  std::string key;
  bool fallthrough = false;
};

// What the backend declares, and which faults of it are to be predicted.
struct Settings {
  std::string release;                                         // empty: the scenario's
  std::vector<scenario::KeyDeclaration> declared_keys;         // the backend's own; the scenario's come on top
  std::optional<std::vector<StartingFallback>> own_fallbacks;  // instead of the release's built-in ones
  Deviations deviations;
  bool record = false;  // keep CallRecords
};

struct CallRecord;  // call.h
class Registry;     // registry.h

class Machine {
 public:
  // An unknown release or a senseless key declaration makes every step's outcome an error that says so.
  Machine(const scenario::Scenario& scenario, const Settings& settings);
  ~Machine();
  Machine(Machine&&) noexcept;

  scenario::Outcome Run(const scenario::Step& step);

  // Why there is no machine: unknown release, senseless declaration. Empty: there is one.
  const std::string& problem() const;
  const KeyTable& keys() const;      // if there is no problem
  const Registry& registry() const;  // if there is no problem
  Registry& registry();              // the same, to take what it notes
  // The calls and redispatches of the last step, in order of entry; only with `Settings::record`.
  const std::vector<CallRecord>& last_calls() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One outcome a step.
std::vector<scenario::Outcome> Predict(const scenario::Scenario& scenario, const Settings& settings);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_MACHINE_H_
