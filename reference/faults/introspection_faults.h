// Faults against the chapter on introspection: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_

// clang-format off
#define PLUMBLINE_INTROSPECTION_FAULTS(X)                                                                             \
  X(direct_question_counts_aliases, "INTRO-001", "the question for a direct kernel counts those of aliases")          \
  X(alias_question_counts_members, "INTRO-002", "the question for a kernel at an alias counts kernels at its "        \
    "members")                                                                                                        \
  X(computed_question_is_direct, "INTRO-003", "the question for a computed kernel counts direct ones only")           \
  X(questions_leave_out_fallthroughs, "INTRO-004", "the question for a direct kernel leaves out fallthroughs")        \
  X(alias_has_no_computed_kernel, "INTRO-005", "the question for a computed kernel of an alias is answered with no")  \
  X(built_in_is_no_fallback, "INTRO-006", "the question for a fallback leaves out the built-in ones")                 \
  X(table_names_implicit_for_explicit, "INTRO-007", "the table names CompositeImplicitAutograd where the explicit "   \
    "kernel serves")                                                                                                  \
  X(table_is_remembered, "INTRO-008", "the table is the one that was first asked for")                                \
  X(table_forgets_what_holds_off, "INTRO-009", "the table shows the implicit kernel where it is held off")            \
  X(overloads_are_not_listed, "INTRO-010", "the list of operators leaves out overloads")                              \
  X(dangling_list_is_empty, "INTRO-011", "no operator is listed as dangling")                                         \
  X(at_key_counts_aliases, "INTRO-012", "the operators at a key include those that an alias serves there")            \
  X(schema_is_shown_without_defaults, "INTRO-013", "the schema is shown without its defaults")                        \
  X(unknown_has_no_kernel, "INTRO-014", "a question about an unknown operator is answered with no")                   \
  X(question_makes_the_operator, "INTRO-015", "a question about an unknown operator makes one of that name")           \
  X(alias_has_no_fallback, "INTRO-016", "the question for a fallback at an alias is answered with no")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_INTROSPECTION_FAULTS_H_
