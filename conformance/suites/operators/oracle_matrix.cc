#include "conformance/suites/operators/oracle_matrix.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace plumbline::suites {
namespace {

// Rule 4: (2 sqrt(k) + 4) u (|A| |B|), and half an ulp of the result.
void Dot(const HostTensor& a, std::int64_t a_start, std::int64_t a_step, const HostTensor& b, std::int64_t b_start,
         std::int64_t b_step, std::int64_t k, ExpectedTensor& out) {
  if (!IsFloating(out.dtype)) {
    std::uint64_t sum = 0;  // wraps as the dtype does, in its low bits
    for (std::int64_t i = 0; i < k; ++i) {
      sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(a.GetAt(a_start + i * a_step))) *
             static_cast<std::uint64_t>(static_cast<std::int64_t>(b.GetAt(b_start + i * b_step)));
    }
    const int unused = 64 - static_cast<int>(DtypeBytes(out.dtype)) * 8;
    out.values.push_back(out.dtype == PL_DTYPE_UINT8
                             ? static_cast<long double>(sum & 0xff)
                             : static_cast<long double>(static_cast<std::int64_t>(sum << unused) >> unused));
    out.bounds.push_back(0);
    return;
  }
  long double sum = 0, magnitudes = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const long double product = a.GetAt(a_start + i * a_step) * b.GetAt(b_start + i * b_step);
    sum += product;
    magnitudes += std::fabs(product);
  }
  const std::uint32_t accumulated = DtypeBytes(out.dtype) == 2 ? std::uint32_t{PL_DTYPE_FLOAT32} : out.dtype;
  const long double u = std::ldexp(1.0L, -DigitsOf(accumulated));
  out.values.push_back(sum);
  out.bounds.push_back(std::isfinite(magnitudes)
                           ? (2 * std::sqrt(static_cast<long double>(k)) + 4) * u * magnitudes + LeastNormal(out.dtype)
                           : 0);
}

Expected Product(const OperatorCall& call, std::size_t batch) {
  const HostTensor& a = call.arguments[0].tensor;
  const HostTensor& b = call.arguments[1].tensor;
  if (a.sizes.size() != batch + 2 || b.sizes.size() != batch + 2) {
    return Expected::Refused(PL_ERROR_INVALID_ARGUMENT,
                             batch == 0 ? "it multiplies matrices" : "it multiplies batches");
  }
  if (a.dtype != b.dtype) return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, "the operands differ in dtype");
  if (a.sizes[batch + 1] != b.sizes[batch] || (batch == 1 && a.sizes[0] != b.sizes[0])) {
    return Expected::Refused(PL_ERROR_INVALID_ARGUMENT, "the shapes do not go together");
  }
  if (a.dtype == PL_DTYPE_BOOL) return Expected::Refused(PL_ERROR_NO_DTYPE, "there is no product of bools");
  const std::int64_t batches = batch == 0 ? 1 : a.sizes[0];
  const std::int64_t m = a.sizes[batch], k = a.sizes[batch + 1], n = b.sizes[batch + 1];
  ExpectedTensor out{.dtype = a.dtype, .sizes = {m, n}, .values = {}, .bounds = {}};
  if (batch == 1) out.sizes.insert(out.sizes.begin(), batches);
  for (std::int64_t at = 0; at < batches; ++at) {
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        const std::int64_t a_start = a.offset + (batch == 0 ? 0 : at * a.strides[0]) + row * a.strides[batch];
        const std::int64_t b_start = b.offset + (batch == 0 ? 0 : at * b.strides[0]) + column * b.strides[batch + 1];
        Dot(a, a_start, a.strides[batch + 1], b, b_start, b.strides[batch], k, out);
      }
    }
  }
  Expected expected;
  expected.tensors.push_back(std::move(out));
  return expected;
}

}  // namespace

void AddMatrix(std::map<std::string, Oracle, std::less<>>& oracles) {
  oracles["mm"] = [](const OperatorCall& call) { return Product(call, 0); };
  oracles["bmm"] = [](const OperatorCall& call) { return Product(call, 1); };
}

}  // namespace plumbline::suites
