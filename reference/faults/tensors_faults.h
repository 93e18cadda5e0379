// Faults against the chapter on tensors: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_TENSORS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_TENSORS_FAULTS_H_

// clang-format off
#define PLUMBLINE_TENSORS_FAULTS(X)                                                                                   \
  X(in_place_gives_a_view, "TENS-001", "an in-place operator gives back a view of what it wrote")                     \
  X(strides_of_columns, "TENS-002", "a new tensor has the strides of columns")                                        \
  X(no_element_has_no_stride, "TENS-002", "a size of 0 makes the strides of the dimensions before it 0")              \
  X(stride_of_one_element_counts, "TENS-003", "the stride of a dimension of size 1 makes a tensor not contiguous")    \
  X(no_dimension_has_no_element, "TENS-004", "a tensor of no dimensions has no element")                              \
  X(channels_last_is_forgotten, "TENS-005", "a memory format is taken and not heeded")                                \
  X(channels_last_of_any_dimensions, "TENS-005", "channels_last of another number of dimensions is taken for the usual one")\
  X(offset_is_forgotten, "TENS-006", "a tensor from the host begins at the start of its storage")                     \
  X(undefined_is_zero, "TENS-007", "an undefined tensor is taken for one zero")                                       \
  X(negative_size_is_zero, "TENS-010", "a negative size is taken for 0")                                              \
  X(negative_stride_is_taken, "TENS-010", "negative strides are not looked for")                                      \
  X(element_count_wraps, "TENS-011", "a number of elements that does not fit wraps")                                  \
  X(byte_count_wraps, "TENS-012", "a number of bytes that does not fit wraps")                                        \
  X(last_offset_wraps, "TENS-013", "the offset of the last element wraps")                                            \
  X(zero_size_overflows, "TENS-014", "other sizes overflow in spite of a size of 0")                                  \
  X(expanded_elements_are_not_counted, "TENS-015", "the elements of a stride of 0 are not counted")                   \
  X(overflow_does_not_say_the_sizes, "TENS-016", "an overflow message holds no sizes")                                \
  X(no_memory_ends_the_process, "TENS-017", "the process ends, a crash, where there is not enough memory")            \
  X(slice_of_32_bits, "TENS-018", "slice keeps 32 bits of its bounds")                                                \
  X(select_copies, "TENS-030", "select gives a copy")                                                                 \
  X(detach_copies, "TENS-030", "detach gives a copy")                                                                 \
  X(select_forgets_the_offset, "TENS-031", "what select gives begins where its base does")                            \
  X(slice_forgets_the_step, "TENS-031", "slice gives the strides of its base whatever the step")                      \
  X(view_takes_any_strides, "TENS-032", "view takes the elements of any strides for those of rows")                   \
  X(reshape_always_copies, "TENS-033", "reshape copies where a view is possible")                                     \
  X(contiguous_always_copies, "TENS-034", "contiguous copies what is contiguous")                                     \
  X(view_may_end_outside, "TENS-035", "a view may end behind its storage")                                            \
  X(two_sizes_are_left, "TENS-036", "of two sizes of -1 one is what is left, and the other 1")                        \
  X(minus_one_beside_zero, "TENS-036", "a size of -1 beside one of 0 is 0")                                           \
  X(clone_shares, "TENS-037", "clone gives a view")                                                                   \
  X(write_does_not_count, "TENS-040", "an in-place operator does not raise the version")                              \
  X(write_counts_twice, "TENS-040", "an operator with out raises the version by 2")                                   \
  X(view_has_a_counter_of_its_own, "TENS-041", "a view has a version counter of its own")                             \
  X(all_tensors_share_a_counter, "TENS-042", "every tensor tells the version of the one that was written most")       \
  X(refused_write_counts, "TENS-043", "a write that is refused raises the version")                                   \
  X(resize_counts, "TENS-044", "resize_ raises the version")                                                          \
  X(bool_has_no_autograd_key, "TENS-050", "a bool tensor lacks the autograd key of its device")                       \
  X(meta_has_the_keys_of_the_cpu, "TENS-051", "a tensor on meta has the keys of the CPU")                             \
  X(unknown_device_is_the_cpu, "TENS-052", "a device of unknown spelling is the CPU")                                 \
  X(nan_payload_is_lost, "TENS-053", "a NaN from the host loses its payload")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_TENSORS_FAULTS_H_
