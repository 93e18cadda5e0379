// Elementwise functions of three arguments.
#include "kernels/cpu/level/parts.h"

namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL {
namespace {

template <class T>
void Where(void* const* data, std::int64_t n, const Parameters&) {
  auto* const out = static_cast<T*>(data[0]);
  const auto* const condition = static_cast<const std::uint8_t*>(data[1]);
  const auto* const a = static_cast<const T*>(data[2]);
  const auto* const b = static_cast<const T*>(data[3]);
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const T yes = a[i], no = b[i];
    out[i] = condition[i] != 0 ? yes : no;
  }
}

template <class Op, class T>
void Run(void* const* data, std::int64_t n, const Parameters& parameters) {
  auto* const out = static_cast<T*>(data[0]);
  const auto* const a = static_cast<const T*>(data[1]);
  const auto* const b = static_cast<const T*>(data[2]);
  const auto* const c = static_cast<const T*>(data[3]);
  T value;
  if constexpr (kIsFloat<T>) {
    value = static_cast<T>(parameters.real[0]);
  } else {
    value = static_cast<T>(parameters.integer[0]);
  }
  PLUMBLINE_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) out[i] = Op::Of(a[i], b[i], c[i], value);
}

struct Addcmul {
  template <class T>
  static T Of(T a, T b, T c, T value) {
    using W = Wrap<T>;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(value) * static_cast<W>(b) * static_cast<W>(c));
  }
};
struct Addcdiv {
  template <class T>
  static T Of(T a, T b, T c, T value) {
    return a + value * b / c;
  }
};
struct Lerp {
  template <class T>
  static T Of(T a, T b, T w, T) {
    const T near_a = a + w * (b - a), near_b = b - (b - a) * (1 - w);
    return w < T(0.5) && w > T(-0.5) ? near_a : near_b;
  }
};
struct ClampTensor {  // NaN in any wins
  template <class T>
  static T Of(T a, T low, T high, T) {
    if constexpr (kIsFloat<T>) {
      const T raised = a < low || low != low ? low : a;
      const T result = raised > high || high != high ? high : raised;
      return a != a ? a : low != low ? low : result;
    } else {
      const T raised = a < low ? low : a;
      return raised > high ? high : raised;
    }
  }
};

template <class Op, class... T>
void Add(LevelTable& table, TernaryOp op) {
  ((table.ternary[static_cast<int>(op)][kIndexOf<T>] = &Run<Op, T>), ...);
}

}  // namespace

void AddTernary(LevelTable& table) {
  Loop* const where = table.ternary[static_cast<int>(TernaryOp::kWhere)];
  where[kIndexOf<std::uint8_t>] = where[kIndexOf<std::int8_t>] = where[kIndexOf<bool>] = &Where<std::uint8_t>;
  where[kIndexOf<std::int16_t>] = &Where<std::uint16_t>;
  where[kIndexOf<std::int32_t>] = where[kIndexOf<float>] = &Where<std::uint32_t>;
  where[kIndexOf<std::int64_t>] = where[kIndexOf<double>] = &Where<std::uint64_t>;
  Add<Addcmul, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double>(table,
                                                                                                   TernaryOp::kAddcmul);
  Add<Addcdiv, float, double>(table, TernaryOp::kAddcdiv);
  Add<Lerp, float, double>(table, TernaryOp::kLerp);
  Add<ClampTensor, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, float, double>(
      table, TernaryOp::kClampTensor);
}

}  // namespace plumbline::kernels::cpu::PLUMBLINE_LEVEL
