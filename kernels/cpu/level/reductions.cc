// Reductions of elements that lie side by side, and the rows of softmax and normalisation.
//
// The order of additions is fixed, whatever the level: 64 partial results, each of every 64th element, then joined in
// pairs. A caller that gives at most a few thousand elements at a time, and joins their doubles, has an error that
// hardly grows with the number of elements.
#include "kernels/cpu/level/math.h"
#include "kernels/cpu/level/parts.h"
#include "kernels/cpu/level/vectors.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

constexpr double kInfinity = __builtin_inf();

template <class T>
T Lowest() {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(-kInfinity);
  } else {
    return static_cast<T>(1ull << 63);
  }
}
template <class T>
T Highest() {
  if constexpr (kIsFloat<T>) {
    return static_cast<T>(kInfinity);
  } else {
    return static_cast<T>(~(1ull << 63));
  }
}

template <class T>
[[gnu::always_inline]] inline T Magnitude(T x) {
  if constexpr (sizeof(T) == 4) {
    return __builtin_fabsf(x);
  } else if constexpr (kIsFloat<T>) {
    return __builtin_fabs(x);
  } else {
    return x < 0 ? static_cast<T>(-static_cast<Wrap<T>>(x)) : x;
  }
}

struct Sum {
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return 0;
  }
  template <class T>
  static T Map(T x) {
    return x;
  }
  template <class T>
  static T Join(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};
struct Prod {
  static constexpr bool kWide = true;
  template <class T>
  static T First() {
    return 1;
  }
  template <class T>
  static T Map(T x) {
    return x;
  }
  template <class T>
  static T Join(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};
struct Min {  // NaN wins
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return Highest<T>();
  }
  template <class T>
  static T Map(T x) {
    return x;
  }
  template <class T>
  static T Join(T a, T b) {
    const T smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
struct Max {
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return Lowest<T>();
  }
  template <class T>
  static T Map(T x) {
    return x;
  }
  template <class T>
  static T Join(T a, T b) {
    const T larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct SumSquares : Sum {
  template <class T>
  static T Map(T x) {
    return static_cast<T>(static_cast<Wrap<T>>(x) * static_cast<Wrap<T>>(x));
  }
};
struct SumAbs : Sum {
  template <class T>
  static T Map(T x) {
    return Magnitude(x);
  }
};
struct MaxAbs : Max {
  template <class T>
  static T First() {
    return 0;
  }
  template <class T>
  static T Map(T x) {
    return Magnitude(x);
  }
};
struct CountNonZero : Sum {
  template <class T>
  static T Map(T x) {
    return x != 0 ? 1 : 0;
  }
};

constexpr int kLanes = 64;

// In pairs; the widths are constants, so that the wide ones are vectors.
template <class Op, int kWidth, class A>
[[gnu::always_inline]] inline A JoinLanes(A* lanes) {
  if constexpr (kWidth == 1) {
    return lanes[0];
  } else {
    A half[kWidth / 2];
    for (int k = 0; k < kWidth / 2; ++k) half[k] = Op::Join(lanes[k], lanes[k + kWidth / 2]);
    return JoinLanes<Op, kWidth / 2>(half);
  }
}

template <class T>
Partial PartialOf(T x) {
  Partial partial;
  if constexpr (kIsFloat<T>) {
    partial.real = x;
  } else {
    partial.integer = x;
  }
  return partial;
}

template <class Op, class T>
Partial Reduce(const void* data, std::int64_t n) {
  const T* const in = static_cast<const T*>(data);
  if constexpr (kIndexOf<T> == 5 && Op::kWide) {
    // Products of floats would overflow where those of doubles do not.
    double lanes[kLanes];
    for (double& lane : lanes) lane = 1;
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lanes[k] *= in[i + k];
    }
    const int rest = static_cast<int>(n - i);
    for (int k = 0; k < rest; ++k) lanes[k] *= in[i + k];
    return PartialOf(JoinLanes<Op, kLanes>(lanes));
  } else {
    T lanes[kLanes];
    for (T& lane : lanes) lane = Op::template First<T>();
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lanes[k] = Op::Join(lanes[k], Op::Map(in[i + k]));
    }
    const int rest = static_cast<int>(n - i);
    for (int k = 0; k < rest; ++k) lanes[k] = Op::Join(lanes[k], Op::Map(in[i + k]));
    return PartialOf(JoinLanes<Op, kLanes>(lanes));
  }
}

// Four rows at a time, so that the results are loaded and stored once for the four.
template <class Op, class T>
void ReduceRows(void* acc_data, const void* data, std::int64_t rows, std::int64_t stride, std::int64_t n) {
  T* const acc = static_cast<T*>(acc_data);
  const char* row = static_cast<const char*>(data);
  const auto at = [&](std::int64_t k) { return reinterpret_cast<const T*>(row + k * stride); };
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4, row += 4 * stride) {
    const T *const a = at(0), *const b = at(1), *const c = at(2), *const d = at(3);
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      const T both = Op::Join(Op::Join(Op::Map(a[i]), Op::Map(b[i])), Op::Join(Op::Map(c[i]), Op::Map(d[i])));
      acc[i] = Op::Join(acc[i], both);
    }
  }
  for (; r < rows; ++r, row += stride) {
    const T* const a = at(0);
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) acc[i] = Op::Join(acc[i], Op::Map(a[i]));
  }
}

template <class T>
double SumSquaredDistance(const void* data, std::int64_t n, double mean) {
  const T* const in = static_cast<const T*>(data);
  constexpr int kWide = 16;
  double lanes[kWide] = {};
  std::int64_t i = 0;
  for (; i + kWide <= n; i += kWide) {
    for (int k = 0; k < kWide; ++k) {
      const double d = static_cast<double>(in[i + k]) - mean;
      lanes[k] += d * d;
    }
  }
  for (int k = 0; i < n; ++i, ++k) {
    const double d = static_cast<double>(in[i]) - mean;
    lanes[k] += d * d;
  }
  return JoinLanes<Sum, kWide>(lanes);
}

template <bool kStore>
double ExpAndSumFloats(float* out, const float* in, std::int64_t n, float shift) {
  constexpr int kWide = 32;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += 4096) {
    const std::int64_t end = n - begin < 4096 ? n : begin + 4096;
    float lanes[kWide] = {};
    std::int64_t i = begin;
    for (; i + kWide <= end; i += kWide) {
      PLUMBLINE_INDEPENDENT
      for (int k = 0; k < kWide; ++k) {
        const float e = ExpF(in[i + k] - shift);
        if constexpr (kStore) out[i + k] = e;
        lanes[k] += e;
      }
    }
    const int rest = static_cast<int>(end - i);
    PLUMBLINE_INDEPENDENT
    for (int k = 0; k < rest; ++k) {
      const float e = ExpF(in[i + k] - shift);
      if constexpr (kStore) out[i + k] = e;
      lanes[k] += e;
    }
    total += JoinLanes<Sum, kWide>(lanes);
  }
  return total;
}
template <bool kStore>
double ExpAndSumDoubles(double* out, const double* in, std::int64_t n, double shift) {
  constexpr int kPerVector = sizeof(Doubles) / 8;
  Doubles sum = {};
  std::int64_t i = 0;
  for (; i + kPerVector <= n; i += kPerVector) {
    Doubles x;
    __builtin_memcpy(&x, in + i, sizeof x);
    const Doubles e = PLUMBLINE_SLEEF_D(exp, u10)(x - shift);
    if constexpr (kStore) __builtin_memcpy(out + i, &e, sizeof e);
    sum += e;
  }
  double total = 0;
  for (int k = 0; k < kPerVector; ++k) total += sum[k];
  for (; i < n; ++i) {
    const Doubles e = PLUMBLINE_SLEEF_D(exp, u10)(Doubles{} + (in[i] - shift));
    if constexpr (kStore) out[i] = e[0];
    total += e[0];
  }
  return total;
}

template <class T>
double SumExp(const void* in, std::int64_t n, double shift) {
  if constexpr (sizeof(T) == 4) {
    return ExpAndSumFloats<false>(nullptr, static_cast<const float*>(in), n, static_cast<float>(shift));
  } else {
    return ExpAndSumDoubles<false>(nullptr, static_cast<const double*>(in), n, shift);
  }
}
template <class T>
double ExpAndSum(void* out, const void* in, std::int64_t n, double shift) {
  if constexpr (sizeof(T) == 4) {
    return ExpAndSumFloats<true>(static_cast<float*>(out), static_cast<const float*>(in), n, static_cast<float>(shift));
  } else {
    return ExpAndSumDoubles<true>(static_cast<double*>(out), static_cast<const double*>(in), n, shift);
  }
}

template <class T>
void ScaleShift(void* out_data, const void* in_data, std::int64_t n, double scale, double offset) {
  T* const out = static_cast<T*>(out_data);
  const T* const in = static_cast<const T*>(in_data);
  const T factor = static_cast<T>(scale), addend = static_cast<T>(offset);
  if (offset == 0) {
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * factor;
  } else {
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * factor + addend;
  }
}

template <class T>
void Normalize(void* out_data, const void* in_data, const void* weight_data, const void* bias_data, std::int64_t n,
               double mean, double more, double scale) {
  T* const out = static_cast<T*>(out_data);
  const T* const in = static_cast<const T*>(in_data);
  const T* const weight = static_cast<const T*>(weight_data);
  const T* const bias = static_cast<const T*>(bias_data);
  // x - mean is of doubles rounded to T: a float mean would lose what a large one does not share with x.
  const T centre = static_cast<T>(mean), rest = static_cast<T>(mean - static_cast<double>(centre) + more);
  const T factor = static_cast<T>(scale);
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    T y = ((in[i] - centre) - rest) * factor;
    if (weight != nullptr) y *= weight[i];
    if (bias != nullptr) y += bias[i];
    out[i] = y;
  }
}

template <class Op, class... T>
void Add(LevelTable& table, ReduceOp op) {
  ((table.reduce[static_cast<int>(op)][kIndexOf<T>] = &Reduce<Op, T>), ...);
  ((table.reduce_rows[static_cast<int>(op)][kIndexOf<T>] = &ReduceRows<Op, T>), ...);
}
template <class Op>
void AddAll(LevelTable& table, ReduceOp op) {
  Add<Op, float, double, std::int64_t>(table, op);
}

}  // namespace

void AddReductions(LevelTable& table) {
  AddAll<Sum>(table, ReduceOp::kSum);
  AddAll<Prod>(table, ReduceOp::kProd);
  AddAll<Min>(table, ReduceOp::kMin);
  AddAll<Max>(table, ReduceOp::kMax);
  AddAll<SumSquares>(table, ReduceOp::kSumSquares);
  AddAll<SumAbs>(table, ReduceOp::kSumAbs);
  AddAll<MaxAbs>(table, ReduceOp::kMaxAbs);
  AddAll<CountNonZero>(table, ReduceOp::kCountNonZero);
  table.sum_squared_distance[0] = &SumSquaredDistance<float>;
  table.sum_squared_distance[1] = &SumSquaredDistance<double>;
  table.sum_exp[0] = &SumExp<float>;
  table.sum_exp[1] = &SumExp<double>;
  table.exp_and_sum[0] = &ExpAndSum<float>;
  table.exp_and_sum[1] = &ExpAndSum<double>;
  table.scale_shift[0] = &ScaleShift<float>;
  table.scale_shift[1] = &ScaleShift<double>;
  table.normalize[0] = &Normalize<float>;
  table.normalize[1] = &Normalize<double>;
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
