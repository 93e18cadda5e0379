/* Limits that both sides of the backend ABI and the scenario language share.
 *
 * Data, valid C11 and C++20.
 */
#ifndef PLUMBLINE_SPEC_TABLES_LIMITS_H_
#define PLUMBLINE_SPEC_TABLES_LIMITS_H_

/* How deep lists nest in a value: {1} is one deep. A deeper value is refused as PL_ERROR_INVALID_ARGUMENT, and no
 * scenario can write one. */
#define PL_MAX_LIST_DEPTH 16

/* How many dimensions a tensor may have that the host makes in a backend (pl_tensor_layout.dim). More are refused as
 * PL_ERROR_OVERFLOW before sizes and strides are read. */
#define PL_MAX_DIM 64

#endif /* PLUMBLINE_SPEC_TABLES_LIMITS_H_ */
