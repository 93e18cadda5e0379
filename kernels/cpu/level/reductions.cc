// Reductions of elements that lie side by side, and the rows of softmax and normalisation.
//
// The order of additions is fixed, whatever the level: 64 partial results, each of every 64th element, joined in pairs,
// then the last few elements. A caller that gives at most a few thousand elements at a time, and joins their doubles,
// has an error that hardly grows with the number of elements.
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

// Some elements of T side by side, which operators work on as they do on one.
template <class T>
struct LaneOf {
  typedef T Type __attribute__((vector_size(32)));
};
template <class T>
using Lane = typename LaneOf<T>::Type;

// What V, elements of T, is computed in: integers wrap.
template <class T, class V>
struct WrapFor {
  using Type = Lane<Wrap<T>>;
};
template <class T>
struct WrapFor<T, T> {
  using Type = Wrap<T>;
};

// The operations, on V: a T or a Lane of them. First is the result of no element.
struct Sum {
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return 0;
  }
  template <class T, class V>
  static V Map(V x) {
    return x;
  }
  template <class T, class V>
  static V Join(V a, V b) {
    using W = typename WrapFor<T, V>::Type;
    return (V)((W)a + (W)b);
  }
};
struct Prod {
  static constexpr bool kWide = true;
  template <class T>
  static T First() {
    return 1;
  }
  template <class T, class V>
  static V Map(V x) {
    return x;
  }
  template <class T, class V>
  static V Join(V a, V b) {
    using W = typename WrapFor<T, V>::Type;
    return (V)((W)a * (W)b);
  }
};
struct Min {  // NaN wins
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return Highest<T>();
  }
  template <class T, class V>
  static V Map(V x) {
    return x;
  }
  template <class T, class V>
  static V Join(V a, V b) {
    const V smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};
struct Max {
  static constexpr bool kWide = false;
  template <class T>
  static T First() {
    return Lowest<T>();
  }
  template <class T, class V>
  static V Map(V x) {
    return x;
  }
  template <class T, class V>
  static V Join(V a, V b) {
    const V larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct SumSquares : Sum {
  template <class T, class V>
  static V Map(V x) {
    using W = typename WrapFor<T, V>::Type;
    return (V)((W)x * (W)x);
  }
};
struct Magnitude {
  template <class T, class V>
  static V Of(V x) {
    if constexpr (kIsFloat<T>) {  // of -0 it is 0
      return x > 0 ? x : V{} - x;
    } else {
      using W = typename WrapFor<T, V>::Type;
      return x < 0 ? (V)(W{} - (W)x) : x;
    }
  }
};
struct SumAbs : Sum {
  template <class T, class V>
  static V Map(V x) {
    return Magnitude::Of<T>(x);
  }
};
struct MaxAbs : Max {
  template <class T>
  static T First() {
    return 0;
  }
  template <class T, class V>
  static V Map(V x) {
    return Magnitude::Of<T>(x);
  }
};
struct CountNonZero : Sum {
  template <class T, class V>
  static V Map(V x) {
    return x != 0 ? V{} + T{1} : V{};
  }
};

constexpr int kLanes = 64;
constexpr int kPrefetched = 1024;  // elements ahead; a row of fewer has its successor prefetched

// In pairs: n a power of two.
template <class Op, class T, int n, class V>
[[gnu::always_inline]] inline V JoinPairs(const V* parts) {
  if constexpr (n == 1) {
    return parts[0];
  } else {
    V half[n / 2];
    for (int k = 0; k < n / 2; ++k) half[k] = Op::template Join<T>(parts[k], parts[k + n / 2]);
    return JoinPairs<Op, T, n / 2>(half);
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
[[gnu::always_inline]] inline Partial ReduceOne(const void* data, std::int64_t n) {
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
    return PartialOf(JoinPairs<Op, double, kLanes>(lanes));
  } else {
    constexpr int kPerLane = 32 / int{sizeof(T)}, kCount = kLanes / kPerLane;
    Lane<T> lanes[kCount];
    for (Lane<T>& lane : lanes) lane = Lane<T>{} + Op::template First<T>();
    const auto add = [&](int k, const T* from) {
      Lane<T> x;
      __builtin_memcpy(&x, from, sizeof x);
      lanes[k] = Op::template Join<T>(lanes[k], Op::template Map<T>(x));
    };
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 16
      for (int k = 0; k < kCount; k += 2) {
        __builtin_prefetch(in + i + k * kPerLane + kPrefetched);
        add(k, in + i + k * kPerLane);
        add(k + 1, in + i + (k + 1) * kPerLane);
      }
    }
    // A row of a few hundred elements is mostly what is left: by lanes too, as far as they go.
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) {
      if (i + kPerLane > n) break;
      add(k, in + i);
      i += kPerLane;
    }
    const Lane<T> joined = JoinPairs<Op, T, kCount>(lanes);
    T elements[kPerLane];
    __builtin_memcpy(elements, &joined, sizeof elements);
    T result = JoinPairs<Op, T, kPerLane>(elements);
    for (; i < n; ++i) result = Op::template Join<T>(result, Op::template Map<T>(in[i]));
    return PartialOf(result);
  }
}

template <class Op, class T>
Partial Reduce(const void* data, std::int64_t n) {
  return ReduceOne<Op, T>(data, n);
}

template <class Op, class T>
void ReduceEach(Partial* results, const void* data, std::int64_t rows, std::int64_t stride, std::int64_t n) {
  const char* row = static_cast<const char*>(data);
  for (std::int64_t r = 0; r < rows; ++r, row += stride) results[r] = ReduceOne<Op, T>(row, n);
}

// Eight rows at a time, so that the results are loaded and stored once for the eight.
template <class Op, class T>
void ReduceRows(void* acc_data, const void* data, std::int64_t rows, std::int64_t stride, std::int64_t n) {
  T* const acc = static_cast<T*>(acc_data);
  const char* row = static_cast<const char*>(data);
  const auto at = [&](std::int64_t k) { return reinterpret_cast<const T*>(row + k * stride); };
  std::int64_t r = 0;
  const auto join = [](T a, T b) { return Op::template Join<T>(a, b); };
  const auto pair = [](const T* a, const T* b, std::int64_t i) {
    return Op::template Join<T>(Op::template Map<T>(a[i]), Op::template Map<T>(b[i]));
  };
  for (; r + 8 <= rows; r += 8, row += 8 * stride) {
    const T *const a = at(0), *const b = at(1), *const c = at(2), *const d = at(3);
    const T *const e = at(4), *const f = at(5), *const g = at(6), *const h = at(7);
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      acc[i] = join(acc[i], join(join(pair(a, b, i), pair(c, d, i)), join(pair(e, f, i), pair(g, h, i))));
    }
  }
  for (; r < rows; ++r, row += stride) {
    const T* const a = at(0);
    PLUMBLINE_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) acc[i] = join(acc[i], Op::template Map<T>(a[i]));
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
  return JoinPairs<Sum, double, kWide>(lanes);
}

template <bool kStore>
double ExpAndSumFloats(float* out, const float* in, std::int64_t n, float shift) {
  constexpr int kWide = 32, kPerVector = sizeof(Floats) / 4;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += 4096) {
    const std::int64_t end = n - begin < 4096 ? n : begin + 4096;
    Floats sums[kWide / kPerVector] = {};
    std::int64_t i = begin;
    for (; i + kWide <= end; i += kWide) {
      for (int k = 0; k < kWide / kPerVector; ++k) {
        const Floats e = ExpBelowF(Load(in + i + k * kPerVector) - shift);
        if constexpr (kStore) __builtin_memcpy(out + i + k * kPerVector, &e, sizeof e);
        sums[k] += e;
      }
    }
    for (int k = 0; i < end; i += kPerVector, ++k) {
      const int rest = static_cast<int>(end - i);
      const Floats e = ExpBelowF(LoadSome(in + i, rest, -__builtin_inff()) - shift);  // e^-infinity adds nothing
      if constexpr (kStore) StoreSome(out + i, e, rest);
      sums[k] += e;
    }
    float lanes[kWide];
    __builtin_memcpy(lanes, sums, sizeof lanes);
    total += JoinPairs<Sum, float, kWide>(lanes);
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
  ((table.reduce_each[static_cast<int>(op)][kIndexOf<T>] = &ReduceEach<Op, T>), ...);
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
