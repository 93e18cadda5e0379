// The search for an order of one operator's events; see check.h.
//
//   Search search(states, max_steps);
//   if (search.Run() == Search::Result::kNone) ... search.longest() ...
//
// Not thread-safe; owns nothing but its memory.
#ifndef PLUMBLINE_CONFORMANCE_RACE_SEARCH_H_
#define PLUMBLINE_CONFORMANCE_RACE_SEARCH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "conformance/race/operator_states.h"

namespace plumbline::race {

// An event may come next only if no other ended before it began [CONC-001] [CONC-002] [CONC-009].
class Search {
 public:
  enum class Result { kFound, kNone, kGaveUp };

  Search(OperatorStates& states, std::uint64_t max_steps) : states_(states), max_steps_(max_steps) {}
  Result Run();
  std::uint64_t steps() const { return steps_; }

  // After kNone: the last event that some order came up to, none got past its end, and the state before it.
  int stuck_at() const { return stuck_at_; }
  int stuck_in() const { return stuck_in_; }

 private:
  struct Node {  // a start or an end, in the order of time
    int event = -1;
    bool start = false;
    int other = 0;  // the node of the event's end; 0: it has none
    int next = 0, previous = 0;
  };
  void Build();
  void TakeOut(int start);
  void PutBack(int start);

  OperatorStates& states_;
  const std::uint64_t max_steps_;
  std::uint64_t steps_ = 0;
  std::vector<Node> nodes_;  // nodes_[0] is the head of the list
  int ended_ = 0;            // events that answered
  int stuck_at_ = -1, stuck_in_ = 0;
};

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_SEARCH_H_
