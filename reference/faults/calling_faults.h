// Faults against the chapter on calling, boxing and redispatch: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_

// clang-format off
#define PLUMBLINE_CALLING_FAULTS(X)                                                                                  \
  X(arguments_change_places, "CALL-001", "two arguments of a kind change places on their way through values")        \
  X(tensor_is_copied, "CALL-002", "a kernel gets a new tensor with the keys of the one that was passed")             \
  X(absent_items_close_up, "CALL-003", "items of a list close up over an absent one")                                \
  X(undefined_becomes_none, "CALL-004", "an undefined tensor reaches a boxed kernel as an absent one")               \
  X(list_loses_its_last, "CALL-005", "the last of several items of a list is lost")                                  \
  X(int_is_narrowed, "CALL-006", "an int is cut to 32 bits on its way through a value")                              \
  X(scalar_bool_becomes_int, "CALL-007", "a truth value that is given for a Scalar arrives as 0 or 1")               \
  X(typed_call_loses_ints, "CALL-008", "the int that a typed kernel returns to a typed call becomes 0")              \
  X(boxed_call_reverses_results, "CALL-009", "a typed kernel's tuple is boxed back to front")                        \
  X(typed_call_boxes_ints_as_zero, "CALL-010", "a typed call passes 0 to a boxed kernel for every int")              \
  X(results_are_reversed, "CALL-011", "several results of a boxed call come back to front")                          \
  X(in_place_call_returns_the_kernels, "CALL-012", "a typed in-place call returns what the boxed kernel behind it "  \
    "returned")                                                                                                      \
  X(typed_call_sees_single_tensors, "CALL-013", "a typed call forms its key set without lists and optional tensors") \
  X(surplus_arguments_are_dropped, "CALL-014", "a call with too many arguments goes ahead with the first of them")   \
  X(none_fits_everywhere, "CALL-015", "None is taken for an argument of any type")                                   \
  X(int_fits_float, "CALL-016", "an int is taken where the schema says float")                                       \
  X(defaults_are_filled_in, "CALL-017", "an int that was left out is filled in from the schema's default")           \
  X(any_signature_of_that_length_fits, "CALL-018", "a signature fits a schema if only their numbers of arguments "   \
    "agree")                                                                                                         \
  X(typed_call_ignores_the_kernels, "CALL-019", "a typed call does not look at the signature of the typed kernels")  \
  X(signature_outlives_the_kernels, "CALL-019", "a call must go on with the signature of typed kernels that were "   \
    "released")                                                                                                      \
  X(redispatch_applies_thread_state, "CALL-020", "a redispatch takes the excluded keys out of its set")              \
  X(redispatch_masks_fallthrough, "CALL-021", "a redispatch takes the keys that fall through out of its set")        \
  X(empty_redispatch_takes_thread_state, "CALL-022", "a redispatch to the empty set goes to the keys that the "      \
    "thread includes")                                                                                               \
  X(redispatch_swaps_arguments, "CALL-023", "two arguments of a kind change places in a redispatch")                 \
  X(typed_redispatch_loses_ints, "CALL-024", "the int that a typed redispatch returns becomes 0")                    \
  X(failed_redispatch_is_no_key, "CALL-025", "a redispatch that finds no kernel fails as a call without keys does")  \
  X(inner_call_keeps_within_its_kernel, "CALL-026", "a call from inside a kernel loses the keys that the kernel "    \
    "did not receive")                                                                                               \
  X(redispatch_follows_the_last_call, "CALL-027", "a redispatch goes to the operator that was called last, not to "  \
    "its kernel's own")                                                                                              \
  X(kernel_error_is_replaced, "CALL-028", "what a kernel raised is replaced by an internal error")                   \
  X(redispatch_replaces_errors, "CALL-029", "an error that leaves a redispatch is wrapped into an internal one")     \
  X(failure_leaves_its_key_excluded, "CALL-030", "the key of a kernel that failed stays excluded on the thread")     \
  X(caught_error_comes_back, "CALL-031", "a kernel that caught the error of a call inside fails all the same")       \
  X(registration_by_a_kernel_waits, "CALL-032", "a kernel that is registered from inside a kernel does not reach "   \
    "slots in use")                                                                                                  \
  X(release_by_a_kernel_waits, "CALL-033", "a kernel that is released from inside a kernel stays in slots in use")   \
  X(released_kernel_loses_its_results, "CALL-034", "a kernel that was released while it ran fails when it returns")  \
  X(fallback_learns_the_first, "CALL-035", "a fallback is told the operator that it served first")                   \
  X(handle_serves_until_a_change, "CALL-036", "a handle is invalid after a registration that came later")            \
  X(results_are_taken_as_they_are, "CALL-037", "nobody looks at how many results a boxed kernel left, nor of what "  \
    "kind")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_CALLING_FAULTS_H_
