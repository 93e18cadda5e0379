// The states of one operator and the steps between them, as the spec has it: what the search of check.h walks.
//
//   OperatorStates states(keys, starting_fallbacks, events);
//   int next = states.Step(OperatorStates::kStart, 3);   // the fourth event, or kRefused: it would have answered else
//
// A state is a number; equal states have equal numbers, and each step is worked out once. An event's answer must be
// just what the model answers in that state. An event that never answered may have been done or not: its step is taken
// without a look at the answer.
//
// Not thread-safe. Keys and events outlive it.
#ifndef PLUMBLINE_CONFORMANCE_RACE_OPERATOR_STATES_H_
#define PLUMBLINE_CONFORMANCE_RACE_OPERATOR_STATES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/harness/or_error.h"
#include "conformance/race/history.h"
#include "spec/model/call.h"
#include "spec/model/key_table.h"
#include "spec/model/machine.h"
#include "spec/model/resolve.h"

namespace plumbline::race {

// A call's answer is that of one state: what falls through and what answers, whatever was remembered, with the guards
// of its own thread only [CONC-004] [CONC-007] [CONC-008] [CONC-011] [CONC-017]. So are a list and a table [CONC-015]
// [CONC-020]; and what was refused is in none [CONC-021].
class OperatorStates {
 public:
  static constexpr int kStart = 0;
  static constexpr int kRefused = -1;

  // All names of keys in the events must be known to `keys`.
  OperatorStates(const model::KeyTable& keys, std::span<const model::StartingFallback> fallbacks, std::string op,
                 std::vector<const Event*> events);
  ~OperatorStates();

  int Step(int state, int event);
  // What the event would have answered in that state, as text, for messages.
  std::string Expected(int state, int event);
  const Event& event(int index) const { return *events_[static_cast<std::size_t>(index)]; }
  int event_count() const { return static_cast<int>(events_.size()); }

 private:
  // A registration is its event's index; a handle too.
  struct Kernel {
    model::Key key;
    int made_by;
    friend bool operator==(const Kernel&, const Kernel&) = default;
  };
  struct State {
    int born = -1;                             // the registration that made the operator exist; -1: it does not
    int definition = -1;                       // -1: none
    std::vector<Kernel> kernels;               // by key, the oldest first
    std::vector<Kernel> fallbacks;             // by key
    std::vector<std::pair<int, int>> handles;  // find -> what was `born` then
    friend bool operator==(const State&, const State&) = default;
  };
  struct HashState {
    std::size_t operator()(const State* state) const;
  };
  struct SameState {
    bool operator()(const State* a, const State* b) const { return *a == *b; }
  };
  // An event with its names looked up.
  struct Prepared {
    model::Key key = model::kUndefined;
    model::KeySet arguments;
    model::ThreadState thread;
    int question = -1;  // calls that ask the same share it
  };
  struct Reply {
    std::string error;
    int ran = kNothing;  // a registration, or one of these two
    bool yes = false;
    std::vector<std::pair<std::string, std::string>> table;
  };
  static constexpr int kNothing = -1, kBuiltIn = -2;

  int Intern(State&& state);
  bool Change(const Event& event, int index, State& state, std::string* error) const;
  Reply Answer(int state, int index);
  Reply Call(const State& state, const Event& event, const Prepared& prepared);
  bool Agrees(const Event& event, const Reply& reply) const;
  const std::string& NameOf(int registration) const;
  model::Slot SlotOf(const State& state, model::Key key);
  void Enter(const State& state);  // fills kernels_ and fallbacks_ for the rules

  const model::KeyTable& keys_;
  const std::string op_;
  std::vector<const Event*> events_;
  std::vector<Prepared> prepared_;
  std::map<std::string, int> made_by_;  // registrations and handles by name

  std::vector<std::unique_ptr<State>> states_;
  std::unordered_map<const State*, int, HashState, SameState> numbers_;
  std::unordered_map<std::uint64_t, int> steps_;      // state, event -> state
  std::unordered_map<std::uint64_t, Reply> replies_;  // state, question -> reply

  std::vector<model::Registration> registrations_;  // by event
  std::vector<model::Registration> built_in_;
  model::Fallbacks built_in_fallbacks_;
  const State* entered_ = nullptr;
  model::Kernels kernels_;
  model::Fallbacks fallbacks_;
  model::Chains chains_;
};

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_OPERATOR_STATES_H_
