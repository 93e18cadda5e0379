// Faults against the chapter on caching: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_

// clang-format off
#define PLUMBLINE_CACHING_FAULTS(X)                                                                                 \
  X(change_is_not_published, "CACHE-001", "a kernel that is registered does not reach slots that were used before") \
  X(release_is_not_published, "CACHE-002", "a kernel that is released goes on serving slots that were used before") \
  X(missing_kernel_is_remembered, "CACHE-003", "a slot that a call found empty stays empty")                        \
  X(explicit_change_misses_autograd, "CACHE-004", "CompositeExplicitAutograd comes and goes without a word to the " \
    "autograd slots")                                                                                               \
  X(backend_change_misses_autograd, "CACHE-005", "a backend kernel comes and goes without a word to the autograd "  \
    "slot above it")                                                                                                \
  X(fallback_is_not_published, "CACHE-006", "a fallback that is registered does not reach operators that were "     \
    "called before")                                                                                                \
  X(mask_is_made_once, "CACHE-007", "which keys of an operator fall through is settled by its first call")          \
  X(used_definition_stays, "CACHE-008", "the definition of an operator that was called outlives its release")       \
  X(typed_calls_keep_their_table, "CACHE-009", "typed calls go on with the kernels that they found first")          \
  X(change_spreads_to_used_slots, "CACHE-010", "a kernel that is registered takes over every slot that was used "   \
    "before")                                                                                                       \
  X(empty_slot_is_no_miss, "CACHE-011", "the first use of a slot without a kernel is not counted")                  \
  X(hit_counts_twice, "CACHE-012", "a use of a resolved slot counts two hits")                                      \
  X(redispatch_is_no_hit, "CACHE-013", "a redispatch that finds its slot resolved is not counted")                  \
  X(change_counts_one_invalidation, "CACHE-014", "a change counts one invalidation, however many slots it drops")   \
  X(change_drops_every_slot, "CACHE-015", "a change drops every resolved slot of its operator")                     \
  X(flush_counts_invalidations, "CACHE-016", "a flush counts an invalidation for every slot that it drops")         \
  X(question_resolves_the_slot, "CACHE-017", "asking what a slot holds resolves it")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CACHING_FAULTS_H_
