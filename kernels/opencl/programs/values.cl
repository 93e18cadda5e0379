// Elements of any of the four types, read and written as the type that is computed in: one of COMPUTE_BOOL,
// COMPUTE_INT, COMPUTE_LONG and COMPUTE_FLOAT is defined. A bool is a byte, 0 or 1. Floats become integers by cutting,
// and what does not fit becomes the nearest; integers wrap, so they are added and multiplied without a sign.

#pragma OPENCL FP_CONTRACT OFF

#if defined(COMPUTE_FLOAT)
typedef float value_t;
#define IMMEDIATE(layout, k) ((layout)->reals[k])
#define FROM_FLOAT(x) (x)
#define FROM_INTEGER(x) ((float)(x))
#elif defined(COMPUTE_LONG)
typedef long value_t;
#define UNSIGNED ulong
#define IMMEDIATE(layout, k) ((layout)->integers[k])
#define FROM_FLOAT(x) convert_long_sat_rtz(x)
#define FROM_INTEGER(x) ((long)(x))
#elif defined(COMPUTE_INT)
typedef int value_t;
#define UNSIGNED uint
#define IMMEDIATE(layout, k) ((int)(layout)->integers[k])
#define FROM_FLOAT(x) convert_int_sat_rtz(x)
#define FROM_INTEGER(x) ((int)(x))
#else
typedef uchar value_t;
#define IMMEDIATE(layout, k) ((uchar)((layout)->integers[k] != 0))
#define FROM_FLOAT(x) ((uchar)((x) != 0))
#define FROM_INTEGER(x) ((uchar)((x) != 0))
#endif

value_t load(__global const uchar* from, int type, long at) {
  switch (type) {
    case TYPE_BOOL:
      return FROM_INTEGER(from[at]);
    case TYPE_INT:
      return FROM_INTEGER(((__global const int*)from)[at]);
    case TYPE_LONG:
      return FROM_INTEGER(((__global const long*)from)[at]);
    default:
      return FROM_FLOAT(((__global const float*)from)[at]);
  }
}

#if defined(COMPUTE_FLOAT)
#define TO_INT(x) convert_int_sat_rtz(x)
#define TO_LONG(x) convert_long_sat_rtz(x)
#else
#define TO_INT(x) ((int)(x))
#define TO_LONG(x) ((long)(x))
#endif

void store(__global uchar* to, int type, long at, value_t x) {
  switch (type) {
    case TYPE_BOOL:
      to[at] = x != 0;
      break;
    case TYPE_INT:
      ((__global int*)to)[at] = TO_INT(x);
      break;
    case TYPE_LONG:
      ((__global long*)to)[at] = TO_LONG(x);
      break;
    default:
      ((__global float*)to)[at] = (float)x;
  }
}

// What a test gave.
void store_flag(__global uchar* to, int type, long at, int flag) {
  switch (type) {
    case TYPE_BOOL:
      to[at] = flag;
      break;
    case TYPE_INT:
      ((__global int*)to)[at] = flag;
      break;
    case TYPE_LONG:
      ((__global long*)to)[at] = flag;
      break;
    default:
      ((__global float*)to)[at] = flag;
  }
}

// The places of element `i` of the result, in row-major order, in the first `operands` operands.
void places(const Layout* layout, int operands, long i, long* at) {
  for (int k = 0; k < operands; ++k) at[k] = layout->offsets[k];
  for (int d = layout->dims - 1; d >= 0; --d) {
    const long index = i % layout->sizes[d];
    i /= layout->sizes[d];
    for (int k = 0; k < operands; ++k) at[k] += index * layout->strides[k][d];
  }
}

value_t read(const Layout* layout, int k, __global const uchar* from, long at) {
  return layout->types[k] == TYPE_IMMEDIATE ? IMMEDIATE(layout, k) : load(from, layout->types[k], at);
}

value_t added(value_t a, value_t b) {
#if defined(COMPUTE_FLOAT)
  return a + b;
#elif defined(UNSIGNED)
  return (value_t)((UNSIGNED)a + (UNSIGNED)b);
#else
  return a | b;
#endif
}

value_t multiplied(value_t a, value_t b) {
#if defined(COMPUTE_FLOAT)
  return a * b;
#elif defined(UNSIGNED)
  return (value_t)((UNSIGNED)a * (UNSIGNED)b);
#else
  return a & b;
#endif
}

// Terms that come one after the other, added in pairs, pairs of pairs and so on: the error of a sum then grows with the
// logarithm of the number of terms, and an infinity or NaN goes through.
typedef struct {
  value_t parts[64];
  int depth;
  ulong count;
} Sum;

void sum_begin(Sum* sum) {
  sum->depth = 0;
  sum->count = 0;
}
void sum_add(Sum* sum, value_t x) {
  for (ulong n = sum->count++; n & 1; n >>= 1) x = added(sum->parts[--sum->depth], x);
  sum->parts[sum->depth++] = x;
}
value_t sum_end(Sum* sum) {
  if (sum->depth == 0) return 0;
  value_t x = sum->parts[--sum->depth];
  while (sum->depth > 0) x = added(sum->parts[--sum->depth], x);
  return x;
}
