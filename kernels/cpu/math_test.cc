// The accuracy of each function of floats, at both levels, over all binades of F32 and at special values.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/cpu/level.h"

namespace plumbline::kernels::cpu {
namespace {

using Reference = long double (*)(long double);

struct Case {
  const char* name;
  UnaryOp op;
  double ulps;
  Reference reference;
};

constexpr long double kSqrt2 = 1.4142135623730950488016887242096980786L;
const Case kCases[] = {
    {"exp", UnaryOp::kExp, 1.1, [](long double x) { return std::exp(x); }},
    {"exp2", UnaryOp::kExp2, 1.1, [](long double x) { return std::exp2(x); }},
    {"expm1", UnaryOp::kExpm1, 1.1, [](long double x) { return std::expm1(x); }},
    {"log", UnaryOp::kLog, 1.0, [](long double x) { return std::log(x); }},
    {"log2", UnaryOp::kLog2, 1.1, [](long double x) { return std::log2(x); }},
    {"log10", UnaryOp::kLog10, 1.1, [](long double x) { return std::log10(x); }},
    {"log1p", UnaryOp::kLog1p, 1.1, [](long double x) { return std::log1p(x); }},
    {"sin", UnaryOp::kSin, 1.1, [](long double x) { return std::sin(x); }},
    {"cos", UnaryOp::kCos, 1.1, [](long double x) { return std::cos(x); }},
    {"tan", UnaryOp::kTan, 1.1, [](long double x) { return std::tan(x); }},
    {"asin", UnaryOp::kAsin, 1.1, [](long double x) { return std::asin(x); }},
    {"acos", UnaryOp::kAcos, 1.1, [](long double x) { return std::acos(x); }},
    {"atan", UnaryOp::kAtan, 1.1, [](long double x) { return std::atan(x); }},
    {"sinh", UnaryOp::kSinh, 2.5, [](long double x) { return std::sinh(x); }},
    {"cosh", UnaryOp::kCosh, 2.5, [](long double x) { return std::cosh(x); }},
    {"tanh", UnaryOp::kTanh, 1.7, [](long double x) { return std::tanh(x); }},
    {"asinh", UnaryOp::kAsinh, 1.6, [](long double x) { return std::asinh(x); }},
    {"acosh", UnaryOp::kAcosh, 1.6, [](long double x) { return std::acosh(x); }},
    {"atanh", UnaryOp::kAtanh, 1.1, [](long double x) { return std::atanh(x); }},
    {"erf", UnaryOp::kErf, 1.9, [](long double x) { return std::erf(x); }},
    {"erfc", UnaryOp::kErfc, 2.0, [](long double x) { return std::erfc(x); }},
    {"sqrt", UnaryOp::kSqrt, 0.5, [](long double x) { return std::sqrt(x); }},
    {"rsqrt", UnaryOp::kRsqrt, 1.5, [](long double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", UnaryOp::kReciprocal, 0.5, [](long double x) { return 1 / x; }},
    {"sigmoid", UnaryOp::kSigmoid, 2.5, [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {"log_sigmoid", UnaryOp::kLogSigmoid, 2.5,
     [](long double x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x))); }},
    {"silu", UnaryOp::kSilu, 3.5,
     [](long double x) { return std::isinf(x) && x < 0 ? -0.0L : x / (1 + std::exp(-x)); }},
    {"gelu", UnaryOp::kGelu, 7.5,
     [](long double x) { return std::isinf(x) && x < 0 ? -0.0L : x / 2 * std::erfc(-x / kSqrt2); }},
    {"floor", UnaryOp::kFloor, 0, [](long double x) { return std::floor(x); }},
    {"ceil", UnaryOp::kCeil, 0, [](long double x) { return std::ceil(x); }},
    {"trunc", UnaryOp::kTrunc, 0, [](long double x) { return std::trunc(x); }},
    {"round", UnaryOp::kRound, 0, [](long double x) { return std::rint(x); }},
};

// Distance of a result from the true value in units of the last place there; what rounds to a subnormal may be off by
// the smallest normal number.
template <class T>
double Ulps(T got, long double expected) {
  if (std::isnan(expected)) return std::isnan(got) ? 0 : HUGE_VAL;
  const T rounded = static_cast<T>(expected);
  if (got == rounded) return 0;
  if (std::isinf(rounded) && std::fabs(got) == std::numeric_limits<T>::max()) return 1;
  if (std::isnan(got) || std::isinf(rounded) ||
      (std::isinf(got) && std::fabs(expected) < std::numeric_limits<T>::max())) {
    return HUGE_VAL;
  }
  int exponent;
  std::frexp(expected, &exponent);
  const long double ulp =
      std::ldexp(1.0L, std::max(exponent - std::numeric_limits<T>::digits,
                                std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits));
  const long double error = std::fabs(got - expected);
  if (std::fabs(expected) < std::numeric_limits<T>::min() && error <= std::numeric_limits<T>::min()) return 0;
  return static_cast<double>(error / ulp);
}

class MathTest : public testing::TestWithParam<std::tuple<const char*, Case>> {
 protected:
  const LevelTable* level() const { return std::string(std::get<0>(GetParam())) == "v3" ? V3Level() : BaseLevel(); }
  const Case& test() const { return std::get<1>(GetParam()); }

  template <class T>
  double Worst(const std::vector<T>& in, double* where) const {
    std::vector<T> out(in.size());
    void* const data[] = {out.data(), const_cast<T*>(in.data())};
    const Type type = sizeof(T) == 4 ? Type::kF32 : Type::kF64;
    level()->unary[Index(test().op)][Index(type)](data, static_cast<std::int64_t>(in.size()), Parameters());
    double worst = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double error = Ulps(out[i], test().reference(in[i]));
      if (error > worst) {
        worst = error;
        *where = in[i];
      }
    }
    return worst;
  }
};

TEST_P(MathTest, FloatsOfAllBinades) {
  if (level() == nullptr) GTEST_SKIP() << "this processor has no v3";
  std::vector<float> in;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099) {
    in.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  double where = 0;
  const double worst = Worst(in, &where);
  RecordProperty("ulps", std::to_string(worst));
  EXPECT_LE(worst, test().ulps) << "at " << where;
}

TEST_P(MathTest, SpecialValues) {
  if (level() == nullptr) GTEST_SKIP() << "this processor has no v3";
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> in = {0.0f,       -0.0f,    kInf,     -kInf, std::nanf(""), 1e-45f, -1e-45f,   1.17549435e-38f,
                           3.4e38f,    -3.4e38f, 1,        -1,    0.5f,          -0.5f,  88.72283f, 88.72284f,
                           -87.33655f, -103.97f, -103.98f, 2.5f,  3.5f};
  for (float value : {0.625f, 10.0f, 9.01f, 0.70710677f, 1.4142135f}) {
    in.insert(in.end(), {std::nextafter(value, 0.0f), value, std::nextafter(value, kInf)});
  }
  for (const float x : in) {  // alone, so that each is a tail
    double where = 0;
    EXPECT_LE(Worst(std::vector<float>{x}, &where), test().ulps) << "at " << x;
    EXPECT_LE(Worst(std::vector<double>{x}, &where), test().ulps) << "double, at " << x;
  }
}

TEST_P(MathTest, Doubles) {
  if (level() == nullptr) GTEST_SKIP() << "this processor has no v3";
  std::vector<double> in;
  std::uint64_t bits = 88172645463325252u;
  for (int i = 0; i < 20000; ++i) {
    bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
    const double x = std::bit_cast<double>(bits);
    if (std::fabs(x) < 1e15 || std::isinf(x)) in.push_back(x);
    in.push_back(static_cast<double>(bits >> 11) * 0x1p-53 * 40 - 20);
  }
  double where = 0;
  EXPECT_LE(Worst(in, &where), test().ulps + 0.1) << "at " << where;
}

INSTANTIATE_TEST_SUITE_P(All, MathTest, testing::Combine(testing::Values("base", "v3"), testing::ValuesIn(kCases)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace plumbline::kernels::cpu
