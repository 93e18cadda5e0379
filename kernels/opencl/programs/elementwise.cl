// One work item for each element of the result.

value_t computed(int op, value_t x) {
  switch (op) {
    case OP_NEG:
#if defined(COMPUTE_FLOAT)
      return -x;
    case OP_ABS:
      return fabs(x);
    case OP_RELU:
      return x != x ? x : fmax(x, 0.0f);
    case OP_EXP:
      return exp(x);
    case OP_SQRT:
      return sqrt(x);
#elif defined(UNSIGNED)
      return (value_t)(0 - (UNSIGNED)x);
    case OP_ABS:
      return x < 0 ? (value_t)(0 - (UNSIGNED)x) : x;
    case OP_RELU:
      return x < 0 ? 0 : x;
#else
      return x;
#endif
    default:
      return x;
  }
}

__kernel void unary(const Layout layout, __global uchar* out, __global const uchar* a) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  long at[2];
  places(&layout, 2, i, at);
  store(out, layout.types[0], at[0], computed(layout.op, read(&layout, 1, a, at[1])));
}

__kernel void binary(const Layout layout, __global uchar* out, __global const uchar* a, __global const uchar* b) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  long at[3];
  places(&layout, 3, i, at);
  const value_t x = read(&layout, 1, a, at[1]), y = read(&layout, 2, b, at[2]);
  value_t made = x;
  switch (layout.op) {
    case OP_ADD:
    case OP_SUB: {
      const value_t alpha = IMMEDIATE(&layout, 0);
      const value_t scaled = alpha == 1 ? y : multiplied(alpha, y);
#if defined(COMPUTE_FLOAT)
      made = layout.op == OP_ADD ? x + scaled : x - scaled;
#elif defined(UNSIGNED)
      made = (value_t)(layout.op == OP_ADD ? (UNSIGNED)x + (UNSIGNED)scaled : (UNSIGNED)x - (UNSIGNED)scaled);
#else
      made = x | scaled;
#endif
      break;
    }
    case OP_MUL:
      made = multiplied(x, y);
      break;
#if defined(COMPUTE_FLOAT)
    case OP_DIV:
      made = x / y;
      break;
    case OP_MAXIMUM:
      made = x != x ? x : y != y ? y : x < y ? y : x;
      break;
    case OP_MINIMUM:
      made = x != x ? x : y != y ? y : y < x ? y : x;
      break;
#else
    case OP_MAXIMUM:
      made = x < y ? y : x;
      break;
    case OP_MINIMUM:
      made = y < x ? y : x;
      break;
#endif
    default: {
      int flag = 0;
      switch (layout.op) {
        case OP_EQ:
          flag = x == y;
          break;
        case OP_NE:
          flag = x != y;
          break;
        case OP_LT:
          flag = x < y;
          break;
        case OP_LE:
          flag = x <= y;
          break;
        case OP_GT:
          flag = x > y;
          break;
        default:
          flag = x >= y;
      }
      store_flag(out, layout.types[0], at[0], flag);
      return;
    }
  }
  store(out, layout.types[0], at[0], made);
}

__kernel void choose(const Layout layout, __global uchar* out, __global const uchar* condition,
                     __global const uchar* a, __global const uchar* b) {
  const long i = get_global_id(0);
  if (i >= layout.count) return;
  long at[4];
  places(&layout, 4, i, at);
  const bool yes = layout.types[1] == TYPE_IMMEDIATE ? layout.integers[1] != 0 : condition[at[1]] != 0;
  store(out, layout.types[0], at[0], yes ? read(&layout, 2, a, at[2]) : read(&layout, 3, b, at[3]));
}
