#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/row_major.h"

namespace plumbline::suites {
namespace {

// One number stands for all spatial dimensions.
Sizes Spatial(const Argument& list, std::size_t count) {
  Sizes values;
  if (list.kind == PL_INT) return Sizes(count, list.integer);
  for (const Argument& item : list.items) values.push_back(item.integer);
  return values.size() == 1 ? Sizes(count, values[0]) : values;
}

struct Convolution {
  const HostTensor& input;
  const HostTensor& weight;
  const Argument& bias;
  Sizes stride, padding, dilation, output_padding;
  bool transposed = false;
  std::int64_t groups = 1;
};

// What is padded at both ends may be longer than any size.
bool FitsPadded(std::int64_t size, std::int64_t padding) {
  return __int128{size} + 2 * __int128{padding} <= std::numeric_limits<std::int64_t>::max();
}
const char* const kTooLong = "a padded size does not fit";

std::string Wrong(const Convolution& of, std::size_t spatial) {
  const HostTensor &input = of.input, &weight = of.weight;
  if (weight.sizes.size() != spatial + 2 || input.sizes.size() != spatial + 2)
    return "the numbers of dimensions do not fit";
  if (of.groups <= 0) return "there is no group";
  const std::int64_t channels = of.transposed ? weight.sizes[0] : weight.sizes[1] * of.groups;
  if (input.sizes[1] != channels) return "input and weight differ in channels";
  if (!of.transposed && weight.sizes[0] % of.groups != 0) return "the groups do not divide the channels";
  const std::int64_t outputs = of.transposed ? weight.sizes[1] * of.groups : weight.sizes[0];
  if (of.bias.kind == PL_TENSOR && of.bias.tensor.sizes != Sizes{outputs})
    return "the bias is not one for each channel";
  if (of.input.dtype != weight.dtype || (of.bias.kind == PL_TENSOR && of.bias.tensor.dtype != input.dtype)) {
    return "the operands differ in dtype";
  }
  for (std::size_t d = 0; d < spatial; ++d) {
    if (of.stride[d] <= 0 || of.padding[d] < 0 || of.dilation[d] <= 0)
      return "stride, padding or dilation is too small";
    if (!FitsPadded(input.sizes[d + 2], of.padding[d])) return kTooLong;
    if (!of.transposed && input.sizes[d + 2] + 2 * of.padding[d] < of.dilation[d] * (weight.sizes[d + 2] - 1) + 1) {
      return "the kernel is larger than the padded input";
    }
  }
  return "";
}

Expected Convolve(const Convolution& of, std::size_t spatial) {
  if (const std::string wrong = Wrong(of, spatial); !wrong.empty()) {
    return wrong == kTooLong ? Expected::Refused(PL_ERROR_OVERFLOW, wrong) : Refused(wrong.c_str());
  }
  const HostTensor &input = of.input, &weight = of.weight;
  if (!IsFloating(input.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::int64_t outputs = of.transposed ? weight.sizes[1] * of.groups : weight.sizes[0];
  const std::int64_t per_group = input.sizes[1] / of.groups, outputs_per_group = outputs / of.groups;
  Sizes sizes{input.sizes[0], outputs}, kernel(weight.sizes.begin() + 2, weight.sizes.end());
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t reach = of.dilation[d] * (kernel[d] - 1) + 1;
    sizes.push_back(of.transposed
                        ? (input.sizes[d + 2] - 1) * of.stride[d] - 2 * of.padding[d] + reach + of.output_padding[d]
                        : (input.sizes[d + 2] + 2 * of.padding[d] - reach) / of.stride[d] + 1);
    if (sizes.back() <= 0) return Refused("the result would be too small");
  }
  ExpectedTensor out{.dtype = input.dtype, .sizes = sizes, .values = {}, .bounds = {}};
  const std::int64_t taps = NumelOf(kernel);
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    const Sizes at = IndexOf(i, sizes);
    const std::int64_t group = at[1] / outputs_per_group;
    long double sum = 0, magnitudes = 0;
    std::int64_t k = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const Sizes offset = IndexOf(tap, kernel);
      Sizes from{at[0], 0};
      bool inside = true;
      for (std::size_t d = 0; d < spatial; ++d) {
        std::int64_t place = 0;
        if (of.transposed) {
          place = at[d + 2] + of.padding[d] - offset[d] * of.dilation[d];
          inside = inside && place % of.stride[d] == 0;
          place /= of.stride[d];
          inside = inside && at[d + 2] + of.padding[d] - offset[d] * of.dilation[d] >= 0;
        } else {
          place = at[d + 2] * of.stride[d] - of.padding[d] + offset[d] * of.dilation[d];
        }
        inside = inside && place >= 0 && place < input.sizes[d + 2];
        from.push_back(place);
      }
      if (!inside) continue;
      for (std::int64_t channel = 0; channel < per_group; ++channel) {
        from[1] = group * per_group + channel;
        Sizes which{of.transposed ? from[1] : at[1], of.transposed ? at[1] % outputs_per_group : channel};
        which.insert(which.end(), offset.begin(), offset.end());
        const long double product =
            input.Get(RowMajorOf(from, input.sizes)) * weight.Get(RowMajorOf(which, weight.sizes));
        sum += product;
        magnitudes += std::fabs(product);
        ++k;
      }
    }
    const long double added = of.bias.kind == PL_TENSOR ? of.bias.tensor.Get(at[1]) : 0;
    out.values.push_back(sum + added);
    // k as the kernel has it: what is padded is added too.
    const auto terms = static_cast<long double>(taps * per_group);
    out.bounds.push_back(std::isfinite(magnitudes)
                             ? (2 * std::sqrt(terms) + 4) * UnitOf(out.dtype) * magnitudes +
                                   2 * UnitOf(out.dtype) * std::fabs(added) + LeastNormal(out.dtype)
                             : 0);
  }
  return Only(std::move(out));
}

// One that has no batch is a batch of one.
Expected ConvNd(const OperatorCall& call, std::size_t spatial) {
  HostTensor input = call.arguments[0].tensor;
  const bool batched = input.sizes.size() != spatial + 1;
  if (!batched) {
    input.sizes.insert(input.sizes.begin(), 1);
    input.strides.insert(input.strides.begin(), 0);
  }
  Expected expected = Convolve({input, call.arguments[1].tensor, call.arguments[2], Spatial(call.arguments[3], spatial),
                                Spatial(call.arguments[4], spatial), Spatial(call.arguments[5], spatial),
                                Sizes(spatial, 0), false, call.arguments[6].integer},
                               spatial);
  if (!expected.refused() && !batched) expected.tensors[0].sizes.erase(expected.tensors[0].sizes.begin());
  return expected;
}

// ---- pooling ----

struct Pool {
  Sizes kernel, stride, padding, dilation;
  bool ceil = false;
};

std::int64_t PooledSize(std::int64_t size, const Pool& pool, std::size_t d) {
  const std::int64_t room = size + 2 * pool.padding[d] - pool.dilation[d] * (pool.kernel[d] - 1) - 1;
  const std::int64_t above = room + (pool.ceil ? pool.stride[d] - 1 : 0);
  // Rounded down, of negative numbers too.
  std::int64_t count = (above >= 0 ? above / pool.stride[d] : -((-above + pool.stride[d] - 1) / pool.stride[d])) + 1;
  // The last window has to begin inside of the input or what is padded before it.
  if (pool.ceil && (count - 1) * pool.stride[d] >= size + pool.padding[d]) --count;
  return count;
}

std::string WrongPool(const HostTensor& self, const Pool& pool) {
  const std::size_t dim = self.sizes.size();
  if (dim != 3 && dim != 4) return "it has neither 3 nor 4 dimensions";
  for (std::size_t d = dim == 4 ? 1 : 0; d < dim; ++d) {
    if (self.sizes[d] == 0) return "there is nothing to pool";
  }
  for (std::size_t d = 0; d < 2; ++d) {
    if (pool.kernel[d] <= 0 || pool.stride[d] <= 0 || pool.dilation[d] <= 0)
      return "kernel, stride or dilation is below 1";
    if (pool.padding[d] < 0 || pool.padding[d] > pool.kernel[d] / 2) return "more is padded than half of the kernel";
    if (PooledSize(self.sizes[dim - 2 + d], pool, d) < 1) return "the result would be too small";
  }
  return "";
}

Pool PoolOf(const OperatorCall& call, bool dilated) {
  Pool pool{Spatial(call.arguments[1], 2), Spatial(call.arguments[2], 2), Spatial(call.arguments[3], 2), {1, 1}};
  if (pool.stride.empty()) pool.stride = pool.kernel;
  if (dilated) pool.dilation = Spatial(call.arguments[4], 2);
  pool.ceil = call.arguments[dilated ? 5 : 4].integer != 0;
  return pool;
}

Expected MaxPool(const OperatorCall& call, bool indices_too) {
  const HostTensor& self = call.arguments[0].tensor;
  const Pool pool = PoolOf(call, true);
  if (const std::string wrong = WrongPool(self, pool); !wrong.empty()) return Refused(wrong.c_str());
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::size_t dim = self.sizes.size();
  const std::int64_t height = self.sizes[dim - 2], width = self.sizes[dim - 1];
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}};
  for (std::size_t d = 0; d < 2; ++d) out.sizes[dim - 2 + d] = PooledSize(self.sizes[dim - 2 + d], pool, d);
  ExpectedTensor indices{.dtype = PL_DTYPE_INT64, .sizes = out.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(out.sizes); ++i) {
    const Sizes at = IndexOf(i, out.sizes);
    const std::int64_t plane = i / (out.sizes[dim - 2] * out.sizes[dim - 1]) * height * width;
    long double greatest = -kInf;
    std::int64_t where = -1;
    for (std::int64_t y = 0; y < pool.kernel[0]; ++y) {
      for (std::int64_t x = 0; x < pool.kernel[1]; ++x) {
        const std::int64_t row = at[dim - 2] * pool.stride[0] - pool.padding[0] + y * pool.dilation[0];
        const std::int64_t column = at[dim - 1] * pool.stride[1] - pool.padding[1] + x * pool.dilation[1];
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        const long double value = self.Get(plane + row * width + column);
        if (where < 0 || value > greatest || std::isnan(value)) {
          if (where >= 0 && std::isnan(greatest) && !std::isnan(value)) continue;
          greatest = value;
          where = row * width + column;
        }
      }
    }
    out.values.push_back(greatest);
    out.bounds.push_back(greatest == 0 ? kEitherZero : 0);
    indices.values.push_back(static_cast<long double>(where));
  }
  Expected expected = Only(std::move(out));
  if (indices_too) expected.tensors.push_back(std::move(indices));
  return expected;
}

// The mean of the elements of self in a window, as that of a sum, divided.
Element WindowMean(const HostTensor& self, std::int64_t plane, std::int64_t width, const Sizes& from, const Sizes& to,
                   long double divisor) {
  long double sum = 0, magnitudes = 0;
  std::int64_t n = 0;
  for (std::int64_t row = from[0]; row < to[0]; ++row) {
    for (std::int64_t column = from[1]; column < to[1]; ++column) {
      const long double value = self.Get(plane + row * width + column);
      sum += value;
      magnitudes += std::fabs(value);
      ++n;
    }
  }
  const long double mean = sum / divisor;
  if (!std::isfinite(magnitudes)) return {mean, 0};
  if (magnitudes > Greatest(self.dtype)) return {mean, kAnything};
  return {mean,
          (2 * std::sqrt(static_cast<long double>(n)) + 4) * UnitOf(self.dtype) * magnitudes / std::fabs(divisor) +
              UlpOf(self.dtype, mean)};
}

Expected AvgPool(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const Pool pool = PoolOf(call, false);
  const Argument& override = call.arguments[6];
  if (const std::string wrong = WrongPool(self, pool); !wrong.empty()) return Refused(wrong.c_str());
  if (override.kind == PL_INT && override.integer == 0) return Refused("the divisor is 0");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  const std::size_t dim = self.sizes.size();
  const Sizes area{self.sizes[dim - 2], self.sizes[dim - 1]};
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}};
  for (std::size_t d = 0; d < 2; ++d) out.sizes[dim - 2 + d] = PooledSize(area[d], pool, d);
  for (std::int64_t i = 0; i < NumelOf(out.sizes); ++i) {
    const Sizes at = IndexOf(i, out.sizes);
    Sizes from(2), to(2);
    std::int64_t padded = 1, inside = 1;
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t start = at[dim - 2 + d] * pool.stride[d] - pool.padding[d];
      const std::int64_t end = std::min(start + pool.kernel[d], area[d] + pool.padding[d]);
      padded *= end - start;
      from[d] = std::max<std::int64_t>(start, 0);
      to[d] = std::min(end, area[d]);
      inside *= std::max<std::int64_t>(to[d] - from[d], 0);
    }
    const std::int64_t divisor = override.kind == PL_INT          ? override.integer
                                 : call.arguments[5].integer != 0 ? padded
                                                                  : inside;
    const std::int64_t plane = i / (out.sizes[dim - 2] * out.sizes[dim - 1]) * area[0] * area[1];
    // A window of which all is padded has the mean 0.
    const Element mean = inside == 0 ? Element{0, kAnything}
                                     : WindowMean(self, plane, area[1], from, to, static_cast<long double>(divisor));
    out.values.push_back(mean.value);
    out.bounds.push_back(mean.bound);
  }
  return Only(std::move(out));
}

Expected AdaptiveAvgPool(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const std::size_t dim = self.sizes.size();
  const Sizes wanted = Spatial(call.arguments[1], 2);
  if (dim != 3 && dim != 4) return Refused("it has neither 3 nor 4 dimensions");
  for (std::size_t d = dim == 4 ? 1 : 0; d < dim; ++d) {
    if (self.sizes[d] == 0) return Refused("there is nothing to pool");
  }
  if (wanted[0] < 0 || wanted[1] < 0) return Refused("a size is negative");
  if (!IsFloating(self.dtype)) return NoDtype("it is defined for floating dtypes only");
  const Sizes area{self.sizes[dim - 2], self.sizes[dim - 1]};
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}};
  out.sizes[dim - 2] = wanted[0];
  out.sizes[dim - 1] = wanted[1];
  for (std::int64_t i = 0; i < NumelOf(out.sizes); ++i) {
    const Sizes at = IndexOf(i, out.sizes);
    Sizes from(2), to(2);
    for (std::size_t d = 0; d < 2; ++d) {
      from[d] = at[dim - 2 + d] * area[d] / wanted[d];
      to[d] = ((at[dim - 2 + d] + 1) * area[d] + wanted[d] - 1) / wanted[d];
    }
    const std::int64_t plane = i / (wanted[0] * wanted[1]) * area[0] * area[1];
    const Element mean =
        WindowMean(self, plane, area[1], from, to, static_cast<long double>((to[0] - from[0]) * (to[1] - from[1])));
    out.values.push_back(mean.value);
    out.bounds.push_back(mean.bound);
  }
  return Only(std::move(out));
}

}  // namespace

void AddConvolution(Oracles& oracles) {
  oracles["conv1d"] = [](const OperatorCall& call) { return ConvNd(call, 1); };
  oracles["conv2d"] = [](const OperatorCall& call) { return ConvNd(call, 2); };
  oracles["convolution"] = [](const OperatorCall& call) {
    const std::vector<Argument>& a = call.arguments;
    return Convolve({a[0].tensor, a[1].tensor, a[2], Spatial(a[3], 2), Spatial(a[4], 2), Spatial(a[5], 2),
                     Spatial(a[7], 2), a[6].integer != 0, a[8].integer},
                    2);
  };
  oracles["max_pool2d"] = [](const OperatorCall& call) { return MaxPool(call, false); };
  oracles["max_pool2d_with_indices"] = [](const OperatorCall& call) { return MaxPool(call, true); };
  oracles["avg_pool2d"] = &AvgPool;
  oracles["adaptive_avg_pool2d"] = &AdaptiveAvgPool;
  oracles["_adaptive_avg_pool2d"] = &AdaptiveAvgPool;
}

}  // namespace plumbline::suites
