/* The closed catalogue of C++ signatures that typed kernels and typed calls use.
 *
 * Data, not code: expand PL_SIGNATURES with X(id, name, (argument types), (return types)). The types
 * are names of schema kinds; an adapter maps each to its own C++ type (see spec/abi/adapter.h).
 * Every schema kind occurs at least once. Ids are never reused.
 *
 *   Tensor TensorOpt TensorList TensorOptList MutableTensor
 *   Int SymInt Float Bool Str Scalar  IntList SymIntList FloatList BoolList
 *   IntOpt FloatOpt BoolOpt StrOpt ScalarOpt
 */
#ifndef PLUMBLINE_SPEC_TABLES_SIGNATURES_H_
#define PLUMBLINE_SPEC_TABLES_SIGNATURES_H_

/* clang-format off */
#define PL_SIGNATURES(X)                                                              \
  X(1,  tensor,            (Tensor),                                     (Tensor))    \
  X(2,  tensor_tensor,     (Tensor, Tensor),                             (Tensor))    \
  X(3,  tensor4,           (Tensor, Tensor, Tensor, Tensor),             (Tensor))    \
  X(4,  tensor8,           (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor), (Tensor)) \
  X(5,  tensor_tensor_int, (Tensor, Tensor),                             (Int))       \
  X(6,  tensor_optional,   (Tensor, TensorOpt),                          (Tensor))    \
  X(7,  tensor_list,       (TensorList),                                 (Tensor))    \
  X(8,  tensor_optional_list, (Tensor, TensorOptList),                   (Tensor))    \
  X(9,  int_to_int,        (Int),                                        (Int))       \
  X(10, tensor_int,        (Tensor, Int),                                (Tensor))    \
  X(11, tensor_symint,     (Tensor, SymInt),                             (Tensor))    \
  X(12, tensor_float,      (Tensor, Float),                              (Float))     \
  X(13, tensor_bool,       (Tensor, Bool),                               (Bool))      \
  X(14, tensor_str,        (Tensor, Str),                                (Str))       \
  X(15, tensor_scalar,     (Tensor, Scalar),                             (Tensor))    \
  X(16, tensor_lists,      (Tensor, IntList, FloatList, BoolList),       (Tensor))    \
  X(17, tensor_optionals,  (Tensor, IntOpt, FloatOpt, BoolOpt, StrOpt, ScalarOpt), (Tensor)) \
  X(18, tensor_int_two,    (Tensor, Int),                                (Tensor, Int)) \
  X(19, tensor_nothing,    (Tensor),                                     ())          \
  X(20, inplace,           (MutableTensor, Tensor),                      (MutableTensor)) \
  X(21, tensor_symint_list,(Tensor, SymIntList),                         (Tensor))
/* clang-format on */

#endif /* PLUMBLINE_SPEC_TABLES_SIGNATURES_H_ */
