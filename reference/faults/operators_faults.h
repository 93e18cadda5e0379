// Faults against the chapter on operators: X(name, "CLAUSE", "what goes wrong"). See faults.h.
#ifndef PLUMBLINE_REFERENCE_FAULTS_OPERATORS_FAULTS_H_
#define PLUMBLINE_REFERENCE_FAULTS_OPERATORS_FAULTS_H_

// clang-format off
#define PLUMBLINE_OPERATORS_FAULTS(X)                                                                                 \
  X(schemas_forget_what_they_write, "OPER-001", "the schema of an in-place operator does not say that it writes")     \
  X(composites_are_of_the_backend, "OPER-002", "a composite operator is registered for each backend instead")         \
  X(factories_forget_their_device, "OPER-003", "a factory makes its tensor on the CPU whatever device it is given")   \
  X(missing_dtype_is_a_missing_kernel, "OPER-004", "a dtype that a kernel lacks is told as a missing kernel")         \
  X(devices_may_differ, "OPER-006", "tensors on two devices are taken together")                                      \
  X(refused_calls_have_written, "OPER-008", "an in-place call that is refused has changed the first element")         \
  X(unsigned_bytes_promote_to_signed, "OPER-010", "uint8 and int8 promote to int8")                                   \
  X(scalars_count_like_tensors, "OPER-011", "a Scalar is promoted with as if it were a tensor of its default dtype")  \
  X(integers_divide_in_float64, "OPER-012", "integers are divided in float64")                                        \
  X(comparison_is_in_the_first_dtype, "OPER-013", "a comparison converts both to the dtype of the first")             \
  X(sums_keep_their_dtype, "OPER-014", "a sum of integers has their dtype")                                           \
  X(means_of_integers_are_floats, "OPER-015", "a mean of integers without a dtype is taken in float32")               \
  X(dtypes_of_matrices_may_differ, "OPER-016", "matrices of two dtypes are multiplied")                               \
  X(dimensions_have_to_be_as_many, "OPER-020", "tensors of different numbers of dimensions do not broadcast")         \
  X(dimensions_count_from_the_start, "OPER-022", "a negative dimension is refused")                                   \
  X(elementwise_results_are_rows, "OPER-023", "an elementwise result lies in rows whatever its inputs do")            \
  X(keepdim_is_forgotten, "OPER-024", "a reduction never keeps a dimension")                                          \
  X(out_gives_a_view, "OPER-030", "an operator with out gives back a view of it")                                     \
  X(in_place_changes_sizes, "OPER-031", "an in-place operator gives self other sizes")                                \
  X(results_are_cast_down, "OPER-032", "a result is converted to a lower category")                                   \
  X(out_is_made_rows, "OPER-033", "an out of the right sizes is given the strides of rows")                           \
  X(out_may_be_elsewhere, "OPER-034", "an out on another device is taken")                                            \
  X(what_overlaps_itself_is_written, "OPER-035", "a tensor that overlaps itself is written")                          \
  X(partial_overlap_is_written, "OPER-036", "a tensor that overlaps an input in part is written")                     \
  X(last_element_is_not_written, "OPER-037", "the last element of a result is not written")                           \
  X(neighbours_are_written, "OPER-038", "the element before a written view is written too")                           \
  X(add_is_a_unit_off, "OPER-050", "the first element of a sum of float32 is a unit too large")                       \
  X(added_products_are_rough, "OPER-051", "what is added with a factor is a thousandth off")                          \
  X(sums_are_rough, "OPER-052", "a sum is a thousandth off")                                                          \
  X(products_of_matrices_are_rough, "OPER-053", "a product of matrices is a thousandth off")                          \
  X(softmax_is_rough, "OPER-054", "a row of softmax is a thousandth off")                                             \
  X(normalised_is_shifted, "OPER-055", "what is normalised is a hundredth too large")                                 \
  X(losses_are_rough, "OPER-056", "a loss is a thousandth off")                                                       \
  X(integers_saturate, "OPER-057", "int8 ends at 127 where it would wrap to -128")                                    \
  X(integers_are_divided_by_zero, "OPER-058", "a divisor of 0 is not looked for")                                     \
  X(nan_is_false, "OPER-059", "NaN as a bool is false")                                                               \
  X(halves_are_summed_in_halves, "OPER-060", "a sum of float16 stops at 2048")                                        \
  X(subnormals_are_zero, "OPER-061", "a subnormal result is 0")                                                       \
  X(sum_of_nothing_is_one, "OPER-062", "the sum of no elements is 1")                                                 \
  X(nan_is_lost, "OPER-063", "a maximum with a NaN is 0")                                                             \
  X(infinity_is_the_largest, "OPER-064", "an infinite result is the largest number")                                  \
  X(last_of_equals_is_told, "OPER-065", "argmax tells the last of equal elements")                                    \
  X(empty_product_is_not_zero, "OPER-066", "a product over no terms is not 0")                                        \
  X(scalars_need_not_fit, "OPER-067", "a Scalar that the dtype cannot hold is written as whatever it is converted to")  \
  X(negative_zero_is_zero, "OPER-070", "a result of -0.0 is 0.0")                                                     \
  X(scan_skips_the_last, "OPER-071", "the last element of a scan is the one before")                                  \
  X(strides_show, "OPER-080", "of an input that does not lie in rows the first two results are exchanged")            \
  X(index_past_the_end_is_the_last, "OPER-090", "an index past the end is taken for the last")                        \
  X(every_index_counts_from_the_end, "OPER-091", "gather and its like take a negative index")                         \
  X(the_last_of_equal_indices_wins, "OPER-092", "of values that are added at one index the last one is left")         \
  X(mask_chooses_backwards, "OPER-093", "a mask chooses from the end")                                                \
  X(any_integer_is_an_index, "OPER-094", "an index of any integer dtype is taken")                                    \
  X(nan_sorts_below_all, "OPER-095", "NaN sorts below all numbers")                                                   \
  X(empty_tensors_are_joined, "OPER-096", "a tensor of sizes [0] is not left out of cat")                             \
  X(the_smaller_part_is_dropped, "OPER-097", "split leaves the last part out if it is smaller")                       \
  X(expand_copies, "OPER-100", "expand gives a copy")                                                                 \
  X(slices_are_not_cut, "OPER-101", "a slice that ends past the end is refused")                                      \
  X(expand_keeps_no_size, "OPER-102", "expand refuses -1")                                                            \
  X(squeeze_refuses_other_sizes, "OPER-103", "squeeze refuses a dimension of another size than 1")                    \
  X(copies_are_rows, "OPER-105", "clone gives rows whatever it copies")                                               \
  X(to_always_copies, "OPER-106", "to copies what needs no change")                                                   \
  X(item_takes_the_first, "OPER-107", "item takes the first of many elements")                                        \
  X(ranges_are_floating, "OPER-110", "arange of integers is float32")                                                 \
  X(ranges_end_late, "OPER-111", "arange has one element too many")                                                   \
  X(linspace_of_one_is_its_end, "OPER-112", "linspace of one step is its end")                                        \
  X(like_tensors_are_rows, "OPER-113", "a like factory gives rows whatever it is like")                               \
  X(random_numbers_start_again, "OPER-120", "every call gives the same random numbers")                               \
  X(rand_reaches_its_end, "OPER-121", "uniform numbers reach the end of their range")                                 \
  X(normal_numbers_are_narrow, "OPER-122", "normal numbers have half the deviation")                                  \
  X(dropout_does_not_scale, "OPER-123", "dropout does not scale what it keeps")                                       \
  X(meta_results_are_rows, "OPER-130", "results on meta lie in rows")                                                 \
  X(meta_takes_any_sizes, "OPER-131", "matrices on meta of sizes that do not fit are multiplied")                     \
  X(meta_is_copied_from, "OPER-132", "a copy from meta leaves what was there")                                        \
  X(results_depend_on_the_call, "OPER-140", "every other result is a millionth off")                                  \
  X(running_statistics_stay, "OPER-150", "batch_norm leaves its running statistics")                                  \
  X(ignored_rows_count, "OPER-151", "rows of a loss that are ignored count")                                          \
  X(padding_is_an_element, "OPER-152", "padding counts as an element of 0 in max_pool2d")
// clang-format on

#endif  // PLUMBLINE_REFERENCE_FAULTS_OPERATORS_FAULTS_H_
