// Faults against the chapter on registration: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_

// clang-format off
#define PLUMBLINE_REGISTRATION_FAULTS(X)                                                                              \
  X(definition_alone_is_unknown, "REG-001", "an operator without kernels is not found")                               \
  X(impl_forgets_the_overload, "REG-002", "a kernel goes to the operator without an overload")                        \
  X(overload_names_are_free, "REG-003", "reserved overload names are taken")                                          \
  X(second_definition_is_dropped, "REG-004", "a second definition is dropped without an error")                       \
  X(unknown_type_is_int, "REG-005", "an unknown type in a schema is taken for int")                                   \
  X(argument_names_may_repeat, "REG-006", "two arguments of a schema may have one name")                              \
  X(required_may_follow_default, "REG-007", "a required argument may follow one with a default")                      \
  X(impl_needs_a_definition, "REG-008", "a kernel is refused until its operator is defined")                          \
  X(defined_once_is_never_dangling, "REG-009", "an operator whose definition was released is not listed as dangling") \
  X(definition_takes_its_kernels, "REG-010", "the kernels go when the definition is released")                        \
  X(last_kernels_outlive_their_operator, "REG-011", "kernels that are released without a definition stay")            \
  X(released_has_no_kernel, "REG-012", "a call through a handle of a released operator fails as one without a "       \
    "kernel")                                                                                                         \
  X(schema_holds_any_number, "REG-013", "a schema may have more than 64 arguments")                                   \
  X(change_misses_autogradother, "REG-018", "a change at a backend behind AutogradOther does not reach "              \
    "AutogradOther")                                                                                                  \
  X(change_misses_autogradnestedtensor, "REG-019", "a change at a nested key does not reach AutogradNestedTensor")    \
  X(explicit_change_misses_nested, "REG-020", "a change at CompositeExplicitAutograd does not reach nested and "      \
    "autograd keys")                                                                                                  \
  X(dense_change_misses_autograd, "REG-021", "a change at a dense key does not reach its autograd key")               \
  X(composite_change_misses_undefined, "REG-022", "a change at a composite alias does not reach Undefined")           \
  X(later_alias_wins, "REG-023", "of CompositeImplicitAutograd and Autograd the one registered later serves")         \
  X(no_key_means_explicit, "REG-024", "a kernel without a key goes to CompositeExplicitAutograd")                     \
  X(release_empties_the_key, "REG-025", "releasing the newest kernel leaves its key without one")                     \
  X(release_drops_the_newest, "REG-026", "releasing a shadowed kernel drops the newest instead")                      \
  X(last_kernel_stays, "REG-027", "the last kernel of a key goes on after its release")                               \
  X(alias_keeps_its_oldest, "REG-028", "the oldest kernel of an alias answers")                                       \
  X(release_out_of_order_is_ignored, "REG-029", "releasing a shadowed kernel is ignored")                             \
  X(released_kernel_is_kept, "REG-030", "the context of a released kernel is never destroyed")                        \
  X(kernel_released_inside_is_kept, "REG-031", "the context of a kernel that is released while it runs is never "     \
    "destroyed")                                                                                                      \
  X(kernel_may_not_register, "REG-032", "a registration from inside a kernel fails")                                  \
  X(argument_counts_may_differ, "REG-035", "a typed kernel may have another number of arguments than the schema")     \
  X(argument_types_may_differ, "REG-036", "a typed kernel may have other argument types than the schema")             \
  X(results_may_differ, "REG-037", "a typed kernel may have other results than the schema")                           \
  X(defaults_must_agree, "REG-038", "a typed kernel is refused where the schema has a default")                       \
  X(symint_takes_symint_only, "REG-039", "an int kernel is refused where the schema says SymInt")                     \
  X(definition_does_not_check, "REG-040", "a definition is not checked against the kernels that are there")           \
  X(second_definition_does_not_check, "REG-041", "a new definition is not checked against surviving kernels")         \
  X(signatures_may_differ, "REG-042", "typed kernels of one operator may have different signatures")                  \
  X(first_signature_binds_for_ever, "REG-043", "the signature of released kernels goes on binding")                   \
  X(boxed_kernel_binds, "REG-044", "a typed kernel is refused beside a boxed one")                                    \
  X(refused_kernel_binds, "REG-050", "the signature of a refused kernel binds")                                       \
  X(refused_kernel_hides_the_last, "REG-051", "a kernel that is refused for its signature hides the one before it")   \
  X(refused_definition_is_remembered, "REG-052", "a definition that was refused once is refused for ever")            \
  X(refused_kernel_is_kept, "REG-053", "the context of a refused kernel is never destroyed")                          \
  X(fallback_serves_later_operators, "REG-060", "a fallback serves only operators that were made after it")           \
  X(second_fallback_is_dropped, "REG-061", "a second fallback of a key is dropped without an error")                  \
  X(built_in_fallback_gives_way, "REG-062", "a fallback takes the place of a built-in one")                           \
  X(fallback_without_slot_is_dropped, "REG-063", "a fallback at an alias, at Undefined or without a key is "          \
    "dropped without an error")                                                                                       \
  X(fallthrough_fallback_is_entered, "REG-064", "a fallback that falls through is not masked")                        \
  X(fallback_receives_its_key, "REG-065", "a fallback receives its own key alone")                                    \
  X(typed_fallback_is_dropped, "REG-069", "a typed fallback is dropped without an error")                             \
  X(fallthrough_is_every_operators, "REG-066", "a fallthrough of one operator hides its key in every operator")       \
  X(fallthrough_covers_its_stack, "REG-067", "a fallthrough hides the kernels that are registered over it")           \
  X(released_fallthrough_stays_masked, "REG-068", "the key of a released fallthrough stays out of the set")           \
  X(second_def_library_is_taken, "REG-070", "a namespace may have two DEF libraries")                                 \
  X(fragment_needs_a_def, "REG-071", "a FRAGMENT library is refused before the DEF library")                          \
  X(library_takes_full_names, "REG-072", "a library does not complete names")                                         \
  X(library_takes_foreign_names, "REG-073", "a library takes names of other namespaces")                              \
  X(impl_library_defines, "REG-074", "an IMPL library may define operators")                                          \
  X(library_key_is_ignored, "REG-075", "the key of a library is not that of its kernels")                             \
  X(key_beats_the_library, "REG-076", "a kernel's own key may contradict the library's")                              \
  X(wildcard_is_for_every_library, "REG-077", "DEF and FRAGMENT libraries may take the wildcard namespace")           \
  X(wildcard_kernel_is_dropped, "REG-078", "a kernel in a wildcard library is dropped without an error")              \
  X(fallback_in_any_library, "REG-079", "a fallback may be made in any library")                                      \
  X(closing_keeps_registrations, "REG-080", "closing a library leaves what was made in it")                           \
  X(late_release_drops_another, "REG-081", "releasing a handle after its library was closed drops the newest kernel") \
  X(library_holds_its_handles, "REG-082", "releasing a handle does nothing while its library is open")                \
  X(listener_hears_no_past, "REG-085", "a listener does not hear of what is defined already")                         \
  X(listener_misses_removals, "REG-086", "a listener does not hear of the end of a definition")                       \
  X(listener_hears_kernels, "REG-087", "a listener hears of an operator that only has a kernel")                      \
  X(released_listener_hears_on, "REG-088", "a listener goes on hearing after its release")                            \
  X(shadowing_does_not_warn, "REG-090", "a kernel that shadows another is registered without a warning")              \
  X(second_kernel_warns, "REG-091", "every second kernel of an operator warns")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_REGISTRATION_FAULTS_H_
