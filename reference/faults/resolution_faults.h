// Faults against the chapter on resolution: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_

// clang-format off
#define PLUMBLINE_RESOLUTION_FAULTS(X)                                                                                \
  X(oldest_kernel_answers, "RES-004", "the oldest kernel of a key answers, not the newest")                           \
  X(included_keys_are_not_excluded, "RES-007", "keys that the thread includes survive its exclusion")                 \
  X(mask_of_the_arguments, "RES-015", "the fallthrough mask is chosen before thread state is applied")                \
  X(missing_kernel_is_skipped, "RES-018", "a slot without a kernel is skipped for the next lower key")                \
  X(nothing_serves_undefined, "RES-019", "a call without a key never reaches the Undefined slot's kernel")            \
  X(explicit_before_nonfunctional, "RES-031", "CompositeExplicitAutograd is tried before its non-functional sister")  \
  X(explicit_does_not_hold_off, "RES-039", "CompositeImplicitAutograd serves beside CompositeExplicitAutograd")       \
  X(nonfunctional_holds_off, "RES-040", "CompositeExplicitAutogradNonFunctional keeps the implicit kernel out")       \
  X(ambiguity_is_not_seen, "RES-042", "AutogradOther takes the implicit kernel beside one of its backends")           \
  X(explicit_lifts_ambiguity, "RES-045", "CompositeExplicitAutograd lifts the ambiguity of AutogradOther")            \
  X(autograd_before_implicit, "RES-047", "the Autograd alias is tried before CompositeImplicitAutograd")              \
  X(fallback_before_aliases, "RES-050", "a backend fallback is tried before the operator's alias kernels")            \
  X(first_tensor_decides, "RES-001", "only the first tensor argument brings its keys")                                \
  X(lists_bring_nothing, "RES-002", "tensors in lists bring no keys")                                                 \
  X(absent_tensor_counts_as_undefined, "RES-003", "an absent tensor brings what an undefined one does")               \
  X(undefined_tensor_brings_nothing, "RES-005", "an undefined tensor brings no keys")                                 \
  X(include_guard_is_ignored, "RES-006", "an include guard adds nothing")                                             \
  X(exclusion_takes_backends, "RES-008", "an exclude guard over a per-backend key takes its backend out of every "    \
    "set")                                                                                                            \
  X(thread_includes_nothing, "RES-009", "a thread starts without the keys that are included by default")              \
  X(thread_excludes_nothing, "RES-010", "a thread starts without the keys that are excluded by default")              \
  X(include_brings_no_backend, "RES-011", "an included per-backend key leaves its backend out")                       \
  X(fallthrough_is_not_masked, "RES-012", "a key that falls through stays in the set")                                \
  X(fallthrough_is_every_backends, "RES-013", "a fallthrough of a per-backend key cuts it for every backend")         \
  X(lowest_backend_chooses_mask, "RES-014", "the mask of the lowest backend in the set is applied")                   \
  X(lowest_key_answers, "RES-016", "the lowest key of the set chooses the slot")                                      \
  X(kernel_receives_what_fell_through, "RES-017", "a kernel receives the set before the mask")                        \
  X(implicit_first_at_undefined, "RES-020", "the Undefined slot prefers CompositeImplicitAutograd")                   \
  X(autograd_fills_undefined, "RES-021", "the Autograd alias fills the Undefined slot")                               \
  X(fallthrough_at_undefined_is_no_key, "RES-022", "a fallthrough in the Undefined slot counts as an empty one")      \
  X(lone_fallthrough_is_no_kernel, "RES-023", "a call whose only keys fall through fails")                            \
  X(highest_argument_decides, "RES-024", "the keys of the argument with the highest functionality decide alone")      \
  X(plain_fallthrough_is_one_backends, "RES-025", "a fallthrough of a plain key is cut for the lowest backend only")  \
  X(explicit_before_kernel, "RES-030", "CompositeExplicitAutograd is tried before the kernel at the key")             \
  X(implicit_before_explicit, "RES-032", "CompositeImplicitAutograd is tried before CompositeExplicitAutograd")       \
  X(implicit_before_nested, "RES-033", "CompositeImplicitAutograd is tried before its nested sister")                 \
  X(nested_is_held_off, "RES-034", "the nested composite is held off as the implicit one is")                         \
  X(implicit_leaves_autograd_keys, "RES-035", "CompositeImplicitAutograd does not serve autograd keys")               \
  X(backend_holds_nothing_off, "RES-036", "CompositeImplicitAutograd serves an autograd key though its backend "      \
    "has a kernel")                                                                                                   \
  X(sparse_is_behind_its_component, "RES-037", "sparse and quantized keys are behind the autograd key of their "      \
    "component")                                                                                                      \
  X(hip_is_behind_its_name, "RES-038", "the dense key of HIP is behind AutogradHIP")                                  \
  X(fallthrough_holds_nothing_off, "RES-041", "a fallthrough at a backend key does not hold the implicit kernel off") \
  X(quantized_is_not_behind_other, "RES-043", "the quantized keys are not behind AutogradOther")                      \
  X(autograd_outranks_ambiguity, "RES-044", "the Autograd alias serves AutogradOther instead of the ambiguity")       \
  X(ambiguity_outranks_kernel, "RES-046", "AutogradOther stays ambiguous with a kernel of its own")                   \
  X(autograd_yields_to_any_composite, "RES-048", "the Autograd alias serves no operator that has "                    \
    "CompositeImplicitAutograd")                                                                                      \
  X(autograd_key_hides_alias, "RES-049", "a kernel at one autograd key keeps the Autograd alias out of all")          \
  X(fallback_serves_sister_keys, "RES-051", "a fallback also serves the other keys of its backend")                   \
  X(autograd_cpu_has_no_built_in, "RES-052", "the built-in fallback of AutogradCPU is missing")                       \
  X(implicit_serves_modes, "RES-053", "CompositeImplicitAutograd serves mode keys")                                   \
  X(batched_serves_nothing, "RES-054", "FuncTorchBatchedDecomposition serves no slot")                           \
  X(nested_backend_holds_nothing_off, "RES-055", "a kernel at a nested key does not hold the implicit kernel off "    \
    "AutogradNestedTensor")                                                                                           \
  X(private_autograd_falls_through, "RES-056", "AutogradPrivateUse1 comes with a fallthrough")                        \
  X(built_in_keeps_to_autograd, "RES-057", "a built-in fallback passes the call on to the next autograd key")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_RESOLUTION_FAULTS_H_
