#include "conformance/suites/operators/oracle_elements.h"

#include <cmath>
#include <optional>
#include <utility>

#include "conformance/suites/operators/broadcast.h"

namespace plumbline::suites {
namespace {

long double OperandAt(const Argument& operand, const Sizes& sizes, std::int64_t i) {
  return operand.kind == PL_TENSOR ? At(operand.tensor, sizes, i) : NumberOf(operand);
}

}  // namespace

long double Wrapped(std::uint32_t dtype, Wide value) {
  const int bits = static_cast<int>(DtypeBytes(dtype)) * 8;
  const Wide modulus = static_cast<Wide>(1) << bits;
  Wide low = value & (modulus - 1);
  if (dtype != PL_DTYPE_UINT8 && low >= modulus / 2) low -= modulus;
  return static_cast<long double>(static_cast<std::int64_t>(low));
}

Element Within(std::uint32_t dtype, long double value, long double ulps) {
  if (!std::isfinite(value)) return {value, 0};
  return {value, ulps * UlpOf(dtype, value) + LeastNormal(dtype)};
}

long double CastTo(std::uint32_t dtype, long double value) {
  if (dtype == PL_DTYPE_BOOL) return value != 0 ? 1 : 0;
  return IsFloating(dtype) ? RoundTo(dtype, value) : Wrapped(dtype, ToWide(value));
}

Element Converted(std::uint32_t from, std::uint32_t to, long double value) {
  if (!IsFloating(from) || IsFloating(to) || to == PL_DTYPE_BOOL) return {CastTo(to, value), 0};
  const long double half = std::ldexp(1.0L, static_cast<int>(DtypeBytes(to)) * 8 - 1);
  const bool fits = to == PL_DTYPE_UINT8 ? value > -1 && value < 2 * half : value > -half - 1 && value < half;
  return fits ? Element{std::trunc(value), 0} : Element{0, kAnything};
}

Element ConvertedScalar(std::uint32_t to, long double value) {
  const bool whole = std::fabs(value) <= 0x1p63L && value == std::trunc(value);
  return Converted(whole ? PL_DTYPE_INT64 : PL_DTYPE_FLOAT64, to, value);
}

long double NumberOf(const Argument& scalar) {
  return scalar.kind == PL_FLOAT ? static_cast<long double>(scalar.real) : static_cast<long double>(scalar.integer);
}

bool Holds(std::uint32_t dtype, const Argument& scalar) {
  if (dtype == PL_DTYPE_BOOL) return true;
  const long double value = NumberOf(scalar);
  if (IsFloating(dtype)) return !std::isfinite(value) || std::fabs(value) <= Greatest(dtype);
  const long double half = std::ldexp(1.0L, static_cast<int>(DtypeBytes(dtype)) * 8 - 1);
  if (dtype != PL_DTYPE_UINT8) return value >= -half && value < half;  // and no NaN
  return value < 2 * half && (scalar.kind == PL_FLOAT ? value >= 0 : value > -2 * half);
}

std::uint32_t GivenOr(const Argument& dtype, std::uint32_t otherwise) {
  return dtype.kind == PL_INT ? static_cast<std::uint32_t>(dtype.integer) : otherwise;
}

std::uint32_t FloatOr(std::uint32_t dtype) { return IsFloating(dtype) ? dtype : std::uint32_t{PL_DTYPE_FLOAT32}; }

std::uint32_t ComputedIn(std::uint32_t dtype) {
  return IsFloating(dtype) && DtypeBytes(dtype) == 2 ? std::uint32_t{PL_DTYPE_FLOAT32} : dtype;
}

long double UnitOf(std::uint32_t dtype) { return std::ldexp(1.0L, -DigitsOf(ComputedIn(dtype))); }

Expected Map(const Operands& operands, std::uint32_t compute, std::uint32_t result, const OnElements& f) {
  std::vector<const Sizes*> all;
  for (const Argument* operand : operands) {
    if (operand->kind == PL_TENSOR) all.push_back(&operand->tensor.sizes);
  }
  const std::optional<Sizes> sizes = CommonSizes(all);
  if (!sizes) return Refused("the operands' shapes do not broadcast");
  ExpectedTensor tensor{.dtype = result, .sizes = *sizes, .values = {}, .bounds = {}};
  const std::int64_t count = NumelOf(*sizes);
  Elements elements(operands.size());
  tensor.values.reserve(static_cast<std::size_t>(count));
  tensor.bounds.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      elements[k] = CastTo(compute, OperandAt(*operands[k], *sizes, i));
    }
    const Element element = f(compute, elements);
    tensor.values.push_back(element.value);
    tensor.bounds.push_back(element.bound);
  }
  return Only(std::move(tensor));
}

Operands FirstOf(const OperatorCall& call, std::size_t count) {
  Operands operands;
  for (std::size_t i = 0; i < count; ++i) operands.push_back(&call.arguments[i]);
  return operands;
}

Expected Refused(const char* why) { return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, why); }

Expected RefusedByElements(const char* why) {
  Expected expected = Refused(why);
  expected.by_elements = true;
  return expected;
}

Expected NoDtype(const char* why) {
  Expected expected = Expected::Refused(PL_ERROR_NO_DTYPE, why);
  expected.errors.push_back(PL_ERROR_INVALID_ARGUMENT);
  return expected;
}

Expected Only(ExpectedTensor tensor) {
  Expected expected;
  expected.tensors.push_back(std::move(tensor));
  return expected;
}

ExpectedTensor Copied(const HostTensor& tensor) {
  ExpectedTensor out{.dtype = tensor.dtype, .sizes = tensor.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < tensor.numel(); ++i) out.values.push_back(tensor.Get(i));
  return out;
}

}  // namespace plumbline::suites
