// The transcendental functions of the oracle against MPFR: within a hundredth of a unit in the last place of float64.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <string>
#include <utility>

#include "conformance/suites/operators/draw.h"
#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {
namespace {

constexpr int kDigits = 160;
constexpr int kPoints = 4000;
constexpr std::uint32_t kF64 = PL_DTYPE_FLOAT64;

class Real {
 public:
  Real() { mpfr_init2(value_, kDigits); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

int Sigmoid(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_neg(out, x, rounding);
  mpfr_exp(out, out, rounding);
  mpfr_add_ui(out, out, 1, rounding);
  return mpfr_ui_div(out, 1, out, rounding);
}
int ReciprocalRoot(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rounding) { return mpfr_rec_sqrt(out, x, rounding); }
int Silu(mpfr_ptr out, mpfr_srcptr x, mpfr_rnd_t rounding) {
  Sigmoid(out, x, rounding);
  return mpfr_mul(out, out, x, rounding);
}

HostTensor Points(std::uint64_t seed, Values values) {
  Draw draw(seed);
  return draw.Contiguous(kF64, {kPoints}, values);
}

// How far the oracle is from the true value, at most, in units of the last place; where that is finite and normal.
template <class F>
void ExpectNear(const std::string& name, const Expected& expected, const F& truth) {
  Real out;
  const ExpectedTensor& tensor = expected.tensors.at(0);
  int compared = 0;
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    truth(out.get(), i);
    const long double value = mpfr_get_ld(out.get(), MPFR_RNDN);
    if (!std::isfinite(value) || std::fabs(value) > Greatest(kF64) || std::fabs(value) < LeastNormal(kF64)) continue;
    ++compared;
    EXPECT_LE(std::fabs(tensor.values[i] - value), 0.01L * UlpOf(kF64, value)) << name << " at point " << i;
  }
  EXPECT_GT(compared, kPoints / 8) << name;
}

TEST(OracleAgainstMpfr, Unary) {
  const std::pair<const char*, Unary> functions[] = {
      {"exp", mpfr_exp},   {"exp2", mpfr_exp2},   {"expm1", mpfr_expm1}, {"log", mpfr_log},
      {"log2", mpfr_log2}, {"log10", mpfr_log10}, {"log1p", mpfr_log1p}, {"rsqrt", ReciprocalRoot},
      {"sin", mpfr_sin},   {"cos", mpfr_cos},     {"tan", mpfr_tan},     {"asin", mpfr_asin},
      {"acos", mpfr_acos}, {"atan", mpfr_atan},   {"sinh", mpfr_sinh},   {"cosh", mpfr_cosh},
      {"tanh", mpfr_tanh}, {"erf", mpfr_erf},     {"erfc", mpfr_erfc},   {"sigmoid", Sigmoid},
      {"silu", Silu},
  };
  for (const auto& [name, function] : functions) {
    for (const Values values : {Values::kUsual, Values::kAny}) {
      const HostTensor points = Points(11, values);
      const Expected expected = (*OracleFor(name))({name, {Argument::Of(points)}});
      Real x;
      ExpectNear(name, expected, [&, f = function](mpfr_ptr out, std::size_t i) {
        mpfr_set_d(x.get(), static_cast<double>(points.Get(static_cast<std::int64_t>(i))), MPFR_RNDN);
        f(out, x.get(), MPFR_RNDN);
      });
    }
  }
}

TEST(OracleAgainstMpfr, Binary) {
  const std::pair<const char*, Binary> functions[] = {{"pow.Tensor_Tensor", mpfr_pow}, {"atan2", mpfr_atan2}};
  const HostTensor a = Points(12, Values::kPositive), b = Points(13, Values::kUsual);
  for (const auto& [name, function] : functions) {
    const Expected expected = (*OracleFor(name))({name, {Argument::Of(a), Argument::Of(b)}});
    Real x, y;
    ExpectNear(name, expected, [&, f = function](mpfr_ptr out, std::size_t i) {
      mpfr_set_d(x.get(), static_cast<double>(a.Get(static_cast<std::int64_t>(i))), MPFR_RNDN);
      mpfr_set_d(y.get(), static_cast<double>(b.Get(static_cast<std::int64_t>(i))), MPFR_RNDN);
      f(out, x.get(), y.get(), MPFR_RNDN);
    });
  }
}

}  // namespace
}  // namespace plumbline::suites
