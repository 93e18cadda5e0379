/* How the operands of one enqueued kernel lie in memory: the same text for the compiler of the host and for that of the
 * device, as which it is passed by value. Operand 0 is the result. Offsets and strides count elements.
 *
 * C99, OpenCL C 1.2 and C++; both sides have a long of 64 bits. */
#ifndef PLUMBLINE_KERNELS_OPENCL_PROGRAMS_LAYOUT_H_
#define PLUMBLINE_KERNELS_OPENCL_PROGRAMS_LAYOUT_H_

#define LAYOUT_DIMS 12
#define LAYOUT_OPERANDS 4

/* What an operand is made of. TYPE_IMMEDIATE: a number in the layout, in `reals` for programs that compute floats and
 * in `integers` for the others. */
#define TYPE_BOOL 0
#define TYPE_INT 1
#define TYPE_LONG 2
#define TYPE_FLOAT 3
#define TYPE_IMMEDIATE 4

#define OP_ADD 0
#define OP_SUB 1
#define OP_MUL 2
#define OP_DIV 3
#define OP_MAXIMUM 4
#define OP_MINIMUM 5
#define OP_EQ 6
#define OP_NE 7
#define OP_LT 8
#define OP_LE 9
#define OP_GT 10
#define OP_GE 11

#define OP_COPY 0
#define OP_NEG 1
#define OP_ABS 2
#define OP_RELU 3
#define OP_EXP 4
#define OP_SQRT 5

typedef struct {
  long count;                                 /* elements of the result */
  long sizes[LAYOUT_DIMS];                    /* of the result */
  long strides[LAYOUT_OPERANDS][LAYOUT_DIMS]; /* an operand is read with the result's sizes */
  long offsets[LAYOUT_OPERANDS];
  long integers[LAYOUT_OPERANDS]; /* of immediate operands; the result's is alpha */
  long reduced;                   /* sums, products: terms of one result */
  float reals[LAYOUT_OPERANDS];
  int types[LAYOUT_OPERANDS];
  int dims;
  int reduced_dims; /* sums: their sizes stand in strides[3], their strides in strides[2] */
  int op;
  int pad;
} Layout;

#endif
