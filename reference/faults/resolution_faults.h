// Faults against the chapter on resolution: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_

// clang-format off
#define PLUMBLINE_RESOLUTION_FAULTS(X)                                                                               \
  X(oldest_kernel_answers, "RES-004", "the oldest kernel of a key answers, not the newest")                          \
  X(included_keys_are_not_excluded, "RES-007", "keys that the thread includes survive its exclusion")                \
  X(mask_of_the_arguments, "RES-015", "the fallthrough mask is chosen before thread state is applied")               \
  X(missing_kernel_is_skipped, "RES-018", "a slot without a kernel is skipped for the next lower key")               \
  X(nothing_serves_undefined, "RES-019", "a call without a key never reaches the Undefined slot's kernel")           \
  X(explicit_before_nonfunctional, "RES-031", "CompositeExplicitAutograd is tried before its non-functional sister") \
  X(explicit_does_not_hold_off, "RES-039", "CompositeImplicitAutograd serves beside CompositeExplicitAutograd")      \
  X(nonfunctional_holds_off, "RES-040", "CompositeExplicitAutogradNonFunctional keeps the implicit kernel out")      \
  X(ambiguity_is_not_seen, "RES-042", "AutogradOther takes the implicit kernel beside one of its backends")          \
  X(explicit_lifts_ambiguity, "RES-045", "CompositeExplicitAutograd lifts the ambiguity of AutogradOther")           \
  X(autograd_before_implicit, "RES-047", "the Autograd alias is tried before CompositeImplicitAutograd")             \
  X(fallback_before_aliases, "RES-050", "a backend fallback is tried before the operator's alias kernels")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_
