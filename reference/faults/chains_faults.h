// Faults against the chapter on fallback chains: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CHAINS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CHAINS_FAULTS_H_

// clang-format off
#define PLUMBLINE_CHAINS_FAULTS(X)                                                                                    \
  X(chain_serves_nothing, "CHAIN-001", "a declared chain serves no slot")                                             \
  X(chain_before_fallback, "CHAIN-002", "a chain is tried before the fallback of the key")                            \
  X(chains_do_not_compose, "CHAIN-003", "a chain does not go on where the key that serves is itself served by a "     \
    "chain")                                                                                                          \
  X(cycle_is_dropped_silently, "CHAIN-004", "a chain that would be a cycle is dropped without an error")              \
  X(second_chain_is_dropped_silently, "CHAIN-005", "a second chain of a key is dropped without an error")             \
  X(released_chain_serves_on, "CHAIN-006", "a chain goes on after its release")                                       \
  X(chain_names_the_serving_key, "CHAIN-007", "a kernel behind a chain receives the serving key alone")               \
  X(chain_between_aliases_is_dropped, "CHAIN-008", "a chain to or from an alias key or Undefined is dropped "         \
    "without an error")                                                                                               \
  X(change_misses_served_slots, "CHAIN-009", "a change at the serving key does not reach the slots that it serves")   \
  X(chain_to_fallthrough_is_empty, "CHAIN-010", "a chain to a fallthrough leaves the slot empty")                     \
  X(chain_to_nothing_takes_any, "CHAIN-011", "a chain to an empty slot takes the newest kernel of the operator")      \
  X(chain_is_not_shown, "CHAIN-012", "the computed table and the question for a computed kernel leave chains out")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CHAINS_FAULTS_H_
