// Convolution, pooling and batch norm.
#include <cmath>
#include <limits>

#include "kernels/compute.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

std::vector<double> Reals(const Tensor& t) {
  const Tensor wide = Tensor::Empty(t.sizes(), DType::kFloat64, t.device(), t.keys());
  CopyTo(wide, t);
  return {wide.data<double>(), wide.data<double>() + wide.numel()};
}
// A list for each spatial dimension; one number stands for all.
DimVector Spread(const Call& call, int i, std::size_t count, std::int64_t least) {
  DimVector list = call.ints(i);
  if (list.size() == 1) list.resize(count, list[0]);
  if (list.size() != count)
    call.Fail("argument " + call.Name(i) + ": expected 1 or " + std::to_string(count) + " numbers, but got " +
              std::to_string(list.size()));
  for (const std::int64_t x : list) {
    if (x < least)
      call.Fail("argument " + call.Name(i) + ": expected numbers from " + std::to_string(least) + " on, but got " +
                std::to_string(x));
  }
  return list;
}
// How far a kernel can be moved over a padded dimension, and `more`; below 0 if it is larger.
std::int64_t Room(const Call& call, std::int64_t size, std::int64_t padding, std::int64_t dilation, std::int64_t kernel,
                  std::int64_t more) {
  using Wide = __int128;
  const Wide padded = Wide{size} + 2 * Wide{padding};
  call.SizeFrom(padded);
  return call.SizeFrom(padded - Wide{dilation} * (Wide{kernel} - 1) - 1 + more);
}

// input [N, C, spatial...], weight [O, C / groups, kernel...]: columns of each image, then a product.
void Convolution(Call& call) {
  const Tensor weight = call.tensor(1);
  Tensor input = call.tensor(0);
  const std::optional<Tensor> bias = call.maybe_tensor(2);
  call.CheckDType(input.dtype());
  call.CheckSameDType(0, 1);
  if (bias) call.CheckSameDType(0, 2);
  if (call.boolean(6)) call.Fail(ErrorClass::kUnsupported, "argument 'transposed': a transposed convolution");
  if (weight.dim() < 3)
    call.Fail("argument 'weight': expected at least 3 dimensions, but its sizes are " + Print(weight.sizes()));
  const auto spatial = static_cast<std::size_t>(weight.dim() - 2);
  const DimVector stride = Spread(call, 3, spatial, 1), padding = Spread(call, 4, spatial, 0),
                  dilation = Spread(call, 5, spatial, 1);
  const std::int64_t groups = call.integer(8);
  if (input.dim() != weight.dim()) {
    call.Fail("expected 'input' to have " + std::to_string(weight.dim()) + " dimensions for 'weight' of sizes " +
              Print(weight.sizes()) + ", but its sizes are " + Print(input.sizes()));
  }
  if (groups < 1 || weight.size(0) % groups != 0 || input.size(1) != weight.size(1) * groups) {
    call.Fail("'input' of sizes " + Print(input.sizes()) + ", 'weight' of sizes " + Print(weight.sizes()) +
              " and 'groups' " + std::to_string(groups) + " do not fit");
  }
  if (bias && (bias->dim() != 1 || bias->size(0) != weight.size(0))) {
    call.Fail("argument 'bias': expected sizes [" + std::to_string(weight.size(0)) + "], but got " +
              Print(bias->sizes()));
  }
  DimVector sizes = {input.size(0), weight.size(0)};
  std::int64_t places = 1, taps = 1;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t room = Room(call, input.sizes()[d + 2], padding[d], dilation[d], weight.sizes()[d + 2], 0);
    if (room < 0)
      call.Fail("the kernel of sizes " + Print(weight.sizes()) + " is larger than the padded 'input' of sizes " +
                Print(input.sizes()));
    sizes.push_back(room / stride[d] + 1);
  }
  const Tensor out = call.PackedResult(0, sizes, input.dtype());
  if (call.meta() || out.numel() == 0) return;
  for (std::size_t d = 0; d < spatial; ++d) {
    places *= sizes[d + 2];
    taps *= weight.sizes()[d + 2];
  }
  const cpu::Type type = TypeOf(input.dtype());
  const std::size_t item = input.itemsize();
  input = Contiguous(input);
  const Tensor filters = Contiguous(weight);
  const std::int64_t channels = weight.size(1), outputs = weight.size(0) / groups;
  std::int64_t image = 1;
  for (std::size_t d = 0; d < spatial; ++d) image *= input.sizes()[d + 2];
  const Tensor columns = Tensor::Empty({channels * taps, places}, input.dtype(), input.device(), input.keys());
  if (bias) {
    const Tensor shaped = bias->View({bias->size(0), 1}, {bias->stride(0), 0}, bias->storage_offset());
    CopyTo(out.View({sizes[0], sizes[1], places}, {sizes[1] * places, places, 1}, 0), shaped);
  }
  const auto at = [&](const Tensor& t, std::int64_t element) {
    return static_cast<char*>(t.data()) + element * static_cast<std::int64_t>(item);
  };
  DimVector tap(spatial), place(spatial);
  for (std::int64_t n = 0; n < sizes[0]; ++n) {
    for (std::int64_t g = 0; g < groups; ++g) {
      for (std::int64_t row = 0; row < channels * taps; ++row) {
        const std::int64_t channel = g * channels + row / taps;
        std::int64_t rest = row % taps;
        for (std::size_t d = spatial; d-- > 0;) {
          tap[d] = rest % weight.sizes()[d + 2];
          rest /= weight.sizes()[d + 2];
        }
        for (std::int64_t p = 0; p < places; ++p) {
          rest = p;
          std::int64_t from = 0, scale = 1;
          bool inside = true;
          for (std::size_t d = spatial; d-- > 0;) {
            const std::int64_t x = rest % sizes[d + 2] * stride[d] - padding[d] + tap[d] * dilation[d];
            rest /= sizes[d + 2];
            inside = inside && x >= 0 && x < input.sizes()[d + 2];
            from += x * scale;
            scale *= input.sizes()[d + 2];
          }
          char* const to = at(columns, row * places + p);
          if (inside) {
            __builtin_memcpy(to, at(input, (n * input.size(1) + channel) * image + from), item);
          } else {
            __builtin_memset(to, 0, item);
          }
        }
      }
      cpu::Gemm(type, {outputs, places, channels * taps},
                {at(filters, g * outputs * channels * taps), channels * taps, 1}, {columns.data(), places, 1},
                at(out, (n * sizes[1] + g * outputs) * places), {1, 1}, bias ? cpu::Factor{1, 1} : cpu::Factor{0, 0});
    }
  }
}
template <std::size_t spatial>
void ConvNd(Call& call) {
  const Tensor input = call.tensor(0);
  const bool single = input.dim() == static_cast<std::int64_t>(spatial) + 1;
  const Tensor batch = single ? call.Invoke("aten::unsqueeze", {Value(input), Value(0)}) : input;
  Tensor out = call.Invoke("aten::convolution",
                           {Value(batch), call.at(1), call.at(2), Value::Ints(Spread(call, 3, spatial, 1)),
                            Value::Ints(Spread(call, 4, spatial, 0)), Value::Ints(Spread(call, 5, spatial, 1)),
                            Value(false), Value::Ints(DimVector(spatial)), call.at(6)});
  call.Return(0, single ? call.Invoke("aten::squeeze.dim", {Value(out), Value(0)}) : out);
}

struct Pool {
  DimVector kernel, stride, padding, dilation, sizes;
  std::int64_t planes, height, width;
};
Pool PoolOf(const Call& call, DimVector dilation, bool ceil) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  if (self.dim() != 3 && self.dim() != 4)
    call.Fail("expected 'self' to have 3 or 4 dimensions, but its sizes are " + Print(self.sizes()));
  Pool pool{Spread(call, 1, 2, 1),   {}, Spread(call, 3, 2, 0), std::move(dilation),
            DimVector(self.sizes()), 1,  self.size(-2),         self.size(-1)};
  pool.stride = call.ints(2).empty() ? pool.kernel : Spread(call, 2, 2, 1);
  for (std::size_t d = 0; d + 2 < pool.sizes.size(); ++d) pool.planes *= pool.sizes[d];
  for (std::size_t d = 0; d < 2; ++d) {
    if (pool.padding[d] > pool.kernel[d] / 2)
      call.Fail("argument 'padding': expected at most half of 'kernel_size', but got " + Print(pool.padding) + " for " +
                Print(pool.kernel));
    std::int64_t& size = pool.sizes[pool.sizes.size() - 2 + d];
    const std::int64_t room =
        Room(call, size, pool.padding[d], pool.dilation[d], pool.kernel[d], ceil ? pool.stride[d] - 1 : 0);
    std::int64_t count = room < 0 ? 0 : room / pool.stride[d] + 1;
    // The last window starts inside of the input or its left padding.
    if (ceil && (count - 1) * pool.stride[d] >= size + pool.padding[d]) --count;
    if (count < 1)
      call.Fail("the result would have " + std::to_string(count) + " elements at a dimension: 'self' of sizes " +
                Print(self.sizes()) + ", 'kernel_size' " + Print(pool.kernel));
    size = count;
  }
  return pool;
}

void MaxPool(Call& call) {
  const Tensor self = call.tensor(0);
  const Pool pool = PoolOf(call, Spread(call, 4, 2, 1), call.boolean(5));
  const Tensor out = call.PackedResult(0, pool.sizes, self.dtype()),
               where = call.PackedResult(1, pool.sizes, DType::kInt64);
  if (call.meta()) return;
  const std::vector<double> in = Reals(self);
  const std::int64_t rows = pool.sizes[pool.sizes.size() - 2], columns = pool.sizes.back();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const std::int64_t column = i % columns, row = i / columns % rows, plane = i / columns / rows;
    double best = -std::numeric_limits<double>::infinity();
    std::int64_t place = -1;
    for (std::int64_t a = 0; a < pool.kernel[0]; ++a) {
      for (std::int64_t b = 0; b < pool.kernel[1]; ++b) {
        const std::int64_t y = row * pool.stride[0] - pool.padding[0] + a * pool.dilation[0];
        const std::int64_t x = column * pool.stride[1] - pool.padding[1] + b * pool.dilation[1];
        if (y < 0 || y >= pool.height || x < 0 || x >= pool.width) continue;
        const double value = in[static_cast<std::size_t>((plane * pool.height + y) * pool.width + x)];
        if (place < 0 || value > best || std::isnan(value)) {
          best = value;
          place = y * pool.width + x;
        }
      }
    }
    cpu::Store({out.data(), TypeOf(out.dtype())}, i, best);
    where.data<std::int64_t>()[i] = place;
  }
}
void MaxPoolComposite(Call& call) {
  std::vector<Value> results = call.InvokeAll("aten::max_pool2d_with_indices",
                                              {call.at(0), call.at(1), call.at(2), call.at(3), call.at(4), call.at(5)});
  call.Return(0, results[0].ToTensor());
}
void AvgPool(Call& call) {
  const Tensor self = call.tensor(0);
  const Pool pool = PoolOf(call, {1, 1}, call.boolean(4));
  const bool count_padding = call.boolean(5);
  if (call.has(6) && call.integer(6) == 0) call.Fail("argument 'divisor_override': expected a number other than 0");
  const Tensor out = call.PackedResult(0, pool.sizes, self.dtype());
  if (call.meta()) return;
  const std::vector<double> in = Reals(self);
  const std::int64_t rows = pool.sizes[pool.sizes.size() - 2], columns = pool.sizes.back();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const std::int64_t column = i % columns, row = i / columns % rows, plane = i / columns / rows;
    std::int64_t y0 = row * pool.stride[0] - pool.padding[0], x0 = column * pool.stride[1] - pool.padding[1];
    std::int64_t y1 = std::min(y0 + pool.kernel[0], pool.height + pool.padding[0]),
                 x1 = std::min(x0 + pool.kernel[1], pool.width + pool.padding[1]);
    const std::int64_t padded = (y1 - y0) * (x1 - x0);
    y0 = std::max<std::int64_t>(y0, 0), x0 = std::max<std::int64_t>(x0, 0);
    y1 = std::min(y1, pool.height), x1 = std::min(x1, pool.width);
    double sum = 0;
    for (std::int64_t y = y0; y < y1; ++y) {
      for (std::int64_t x = x0; x < x1; ++x)
        sum += in[static_cast<std::size_t>((plane * pool.height + y) * pool.width + x)];
    }
    const std::int64_t divisor = call.has(6) ? call.integer(6) : count_padding ? padded : (y1 - y0) * (x1 - x0);
    cpu::Store({out.data(), TypeOf(out.dtype())}, i, sum / static_cast<double>(divisor));
  }
}
void AdaptiveAvgPool(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector target = Spread(call, 1, 2, 0);
  call.CheckDType(self.dtype());
  if (self.dim() != 3 && self.dim() != 4)
    call.Fail("expected 'self' to have 3 or 4 dimensions, but its sizes are " + Print(self.sizes()));
  DimVector sizes(self.sizes());
  const std::int64_t height = self.size(-2), width = self.size(-1), rows = target[0], columns = target[1];
  sizes[sizes.size() - 2] = rows, sizes.back() = columns;
  const Tensor out = call.PackedResult(0, sizes, self.dtype());
  if (call.meta()) return;
  const std::vector<double> in = Reals(self);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const std::int64_t column = i % columns, row = i / columns % rows, plane = i / columns / rows;
    const std::int64_t y0 = row * height / rows, y1 = ((row + 1) * height + rows - 1) / rows;
    const std::int64_t x0 = column * width / columns, x1 = ((column + 1) * width + columns - 1) / columns;
    double sum = 0;
    for (std::int64_t y = y0; y < y1; ++y) {
      for (std::int64_t x = x0; x < x1; ++x) sum += in[static_cast<std::size_t>((plane * height + y) * width + x)];
    }
    cpu::Store({out.data(), TypeOf(out.dtype())}, i, sum / static_cast<double>((y1 - y0) * (x1 - x0)));
  }
}
void AdaptiveComposite(Call& call) {
  if (call.variant() == tables::Variant::kOut) return AdaptiveAvgPool(call);
  call.Return(0, call.Invoke("aten::_adaptive_avg_pool2d", {call.at(0), call.at(1)}));
}

void BatchNorm(Call& call) {
  const Tensor input = call.tensor(0);
  const std::optional<Tensor> weight = call.maybe_tensor(1), bias = call.maybe_tensor(2),
                              running_mean = call.maybe_tensor(3), running_var = call.maybe_tensor(4);
  const bool training = call.boolean(5);
  const double momentum = call.real(6), epsilon = call.real(7);
  call.CheckDType(input.dtype());
  if (input.dim() < 2)
    call.Fail("expected 'input' to have at least 2 dimensions, but its sizes are " + Print(input.sizes()));
  const std::int64_t channels = input.size(1);
  int argument = 0;
  for (const auto* t : {&weight, &bias, &running_mean, &running_var}) {
    ++argument;
    if (*t && ((*t)->dim() != 1 || (*t)->size(0) != channels)) {
      call.Fail("argument " + call.Name(argument) + ": expected sizes [" + std::to_string(channels) + "], but got " +
                Print((*t)->sizes()));
    }
  }
  if (!training && (!running_mean || !running_var))
    call.Fail("'running_mean' and 'running_var' have to be given unless training");
  const Tensor out = call.PackedResult(0, input.sizes(), input.dtype());
  const IntSpan statistics = training ? IntSpan(input.sizes().subspan(1, 1)) : IntSpan();
  const DType saved = input.dtype();
  const Tensor mean_out = call.PackedResult(1, training ? statistics : IntSpan{0}, saved);
  const Tensor deviation_out = call.PackedResult(2, training ? statistics : IntSpan{0}, saved);
  for (const auto* t : {&running_mean, &running_var}) {
    if (training && *t) (*t)->BumpVersion();
  }
  if (call.meta()) return;
  const auto reals = [](const std::optional<Tensor>& t) { return t ? Reals(*t) : std::vector<double>(); };
  const std::vector<double> x = Reals(input), w = reals(weight), b = reals(bias);
  std::vector<double> means = reals(running_mean), vars = reals(running_var);
  const std::int64_t count = input.size(0);
  const std::int64_t inner = channels * count == 0 ? 0 : input.numel() / channels / count;
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    double mean, var;
    const auto each = [&](auto f) {
      for (std::int64_t n = 0; n < count; ++n) {
        for (std::int64_t i = 0; i < inner; ++i) f((n * channels + c) * inner + i);
      }
    };
    if (training) {
      const auto total = static_cast<double>(count * inner);
      double sum = 0, squares = 0;
      each([&](std::int64_t i) { sum += x[static_cast<std::size_t>(i)]; });
      mean = sum / total;
      each([&](std::int64_t i) {
        squares += (x[static_cast<std::size_t>(i)] - mean) * (x[static_cast<std::size_t>(i)] - mean);
      });
      var = squares / total;
      cpu::Store({mean_out.data(), TypeOf(saved)}, c, mean);
      cpu::Store({deviation_out.data(), TypeOf(saved)}, c, 1 / std::sqrt(var + epsilon));
      if (running_mean) means[at] = (1 - momentum) * means[at] + momentum * mean;
      if (running_var) vars[at] = (1 - momentum) * vars[at] + momentum * squares / (total - 1);
    } else {
      mean = means[at];
      var = vars[at];
    }
    const double scale = (w.empty() ? 1 : w[at]) / std::sqrt(var + epsilon), shift = b.empty() ? 0 : b[at];
    each([&](std::int64_t i) {
      cpu::Store({out.data(), TypeOf(out.dtype())}, i, (x[static_cast<std::size_t>(i)] - mean) * scale + shift);
    });
  }
  if (!training || PLUMBLINE_FAULT(running_statistics_stay)) return;
  const auto put = [&](const std::optional<Tensor>& t, const std::vector<double>& values) {
    if (!t) return;
    const Tensor wide = Tensor::Empty(t->sizes(), DType::kFloat64, t->device(), t->keys());
    std::copy(values.begin(), values.end(), wide.data<double>());
    CopyTo(*t, wide);
  };
  put(running_mean, means);
  put(running_var, vars);
}
void BatchNormComposite(Call& call) {
  std::vector<Value> results =
      call.InvokeAll("aten::native_batch_norm",
                     {call.at(0), call.at(1), call.at(2), call.at(3), call.at(4), call.at(5), call.at(6), call.at(7)});
  call.Return(0, results[0].ToTensor());
}

constexpr NamedKernel kKernels[] = {
    {"convolution", &Convolution},
    {"conv1d", &ConvNd<1>, Where::kAnywhere},
    {"conv2d", &ConvNd<2>, Where::kAnywhere},
    {"max_pool2d_with_indices", &MaxPool},
    {"max_pool2d", &MaxPoolComposite, Where::kAnywhere},
    {"avg_pool2d", &AvgPool},
    {"_adaptive_avg_pool2d", &AdaptiveAvgPool},
    {"adaptive_avg_pool2d", &AdaptiveComposite, Where::kAnywhere},
    {"native_batch_norm", &BatchNorm},
    {"batch_norm", &BatchNormComposite, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> ImageKernels() { return kKernels; }

}  // namespace plumbline::kernels
