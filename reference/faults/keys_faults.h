// Faults against the chapter on keys and key sets: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_

// clang-format off
#define PLUMBLINE_KEYS_FAULTS(X)                                                                                      \
  X(unknown_name_is_a_key, "KEY-001", "a name that no key has is taken for the lowest key")                           \
  X(two_keys_share_a_slot, "KEY-002", "QuantizedHIP is given the slot of QuantizedCUDA")                              \
  X(functionality_is_a_key, "KEY-003", "the name of a per-backend functionality is taken for a key")                  \
  X(keys_of_every_release, "KEY-004", "a key of another release is taken for one")                                    \
  X(synonyms_are_unknown, "KEY-005", "a synonym is no name of its key")                                               \
  X(functionalities_are_reversed, "KEY-006", "the functionality earlier in the table has priority")                   \
  X(components_are_reversed, "KEY-007", "the backend earlier in the table has priority")                              \
  X(set_holds_one_backend, "KEY-008", "a set keeps the backend of its last key only")                                 \
  X(plain_keys_bring_a_backend, "KEY-009", "a plain key brings the lowest backend with it")                           \
  X(sets_are_listed_from_the_top, "KEY-010", "a set is listed from the highest key down")                             \
  X(undefined_empties_a_set, "KEY-011", "Undefined in a list of keys makes the set empty")                            \
  X(alias_adds_its_first_member, "KEY-012", "an alias in a list of keys adds its lowest member")                      \
  X(autograd_lacks_nested, "KEY-013", "AutogradNestedTensor is no member of Autograd")                                \
  X(explicit_lacks_quantized, "KEY-014", "the quantized keys are no members of CompositeExplicitAutograd")            \
  X(nonfunctional_holds_lazy, "KEY-015", "Lazy is a member of CompositeExplicitAutogradNonFunctional")                \
  X(implicit_lacks_nested, "KEY-016", "the nested keys are no members of CompositeImplicitAutograd")                  \
  X(nested_lacks_its_autograd_key, "KEY-017", "AutogradNestedTensor is no member of the nested composite")            \
  X(batched_holds_dense, "KEY-018", "the dense keys are members of FuncTorchBatchedDecomposition")                    \
  X(declared_component_stands_last, "KEY-019", "a declared component is put above all others")                        \
  X(declared_component_has_no_autograd, "KEY-020", "the dense key of a declared component is not behind its "         \
    "autograd key")                                                                                                   \
  X(declared_backend_is_in_no_alias, "KEY-021", "a declared backend key is no member of the composite aliases")       \
  X(declared_mode_is_in_implicit, "KEY-022", "a declared mode key is a member of CompositeImplicitAutograd")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_KEYS_FAULTS_H_
