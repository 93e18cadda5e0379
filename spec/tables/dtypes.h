/* The element types of tensors.
 *
 * Data, not code: expand PL_DTYPES with a macro X(number, NAME, "spelling", bytes of one element).
 * Valid C11 and C++20. The numbers are those of PyTorch's ScalarType, by which a dtype crosses in a boxed value.
 *
 *   #define X(number, NAME, spelling, bytes) PL_DTYPE_##NAME = number,
 */
#ifndef PLUMBLINE_SPEC_TABLES_DTYPES_H_
#define PLUMBLINE_SPEC_TABLES_DTYPES_H_

/* clang-format off */
#define PL_DTYPES(X)               \
  X(0,  UINT8,    "uint8",    1)   \
  X(1,  INT8,     "int8",     1)   \
  X(2,  INT16,    "int16",    2)   \
  X(3,  INT32,    "int32",    4)   \
  X(4,  INT64,    "int64",    8)   \
  X(5,  FLOAT16,  "float16",  2)   \
  X(6,  FLOAT32,  "float32",  4)   \
  X(7,  FLOAT64,  "float64",  8)   \
  X(11, BOOL,     "bool",     1)   \
  X(15, BFLOAT16, "bfloat16", 2)
/* clang-format on */

#endif /* PLUMBLINE_SPEC_TABLES_DTYPES_H_ */
