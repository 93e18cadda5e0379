// Random numbers and dropout.
#include "kernels/random.h"

#include <cmath>

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

// Fills self with value(seed, counter), rounded to its dtype.
template <class F>
void Generate(Call& call, F value) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  const std::uint64_t first = TakeNumbers(static_cast<std::uint64_t>(out.numel())), seed = Seed();
  const cpu::PackedOutput to = {out.data(), TypeOf(out.dtype())};
  for (std::int64_t i = 0; i < out.numel(); ++i) cpu::Store(to, i, value(seed, first + static_cast<std::uint64_t>(i)));
}

// Bits of the mantissa: a uniform number with more would round up to 1.
int Digits(DType dtype) {
  return dtype == DType::kFloat64 ? 53 : dtype == DType::kFloat32 ? 24 : dtype == DType::kFloat16 ? 11 : 8;
}

void UniformInPlace(Call& call) {
  const double from = call.real(1), to = call.real(2);
  if (!(from <= to))
    call.Fail("argument 'from': expected at most 'to', but got " + std::to_string(from) + " and " + std::to_string(to));
  const DType dtype = call.tensor(0).dtype();
  const double scale = std::ldexp(1.0, Digits(dtype));
  Generate(call, [=](std::uint64_t seed, std::uint64_t counter) {
    const double x = from + (to - from) * (std::floor(Uniform(seed, counter) * scale) / scale);
    // What rounds to the end begins again, where half as many round to.
    return RoundTo(dtype, x) < to ? x : from;
  });
}
void NormalInPlace(Call& call) {
  const double mean = call.real(1), deviation = call.real(2);
  if (!(deviation >= 0)) call.Fail("argument 'std': expected a number from 0 on, but got " + std::to_string(deviation));
  const double scale = PLUMBLINE_FAULT(normal_numbers_are_narrow) ? deviation / 2 : deviation;
  Generate(call, [=](std::uint64_t seed, std::uint64_t counter) { return mean + scale * Normal(seed, counter); });
}
void Bernoulli(Call& call) {
  const double p = call.real(1);
  if (!(p >= 0 && p <= 1)) call.Fail("argument 'p': expected a number from 0 to 1, but got " + std::to_string(p));
  Generate(call, [=](std::uint64_t seed, std::uint64_t counter) { return Uniform(seed, counter) < p ? 1.0 : 0.0; });
}

// A new tensor, or the given one, that another operator fills; options stand from `first` on.
Tensor New(Call& call, int size, int first, DType without) {
  const DimVector sizes = call.ints(size);
  if (call.variant() == tables::Variant::kOut) return call.Result(0, sizes, call.tensor(first).dtype());
  if (call.has(first + 2)) call.SetDevice(Device::Parse(call.text(first + 2)));
  return call.Result(0, sizes, call.dtype(first).value_or(without));
}
void Rand(Call& call) {
  const Tensor out = New(call, 0, 1, kDefaultDType);
  call.CheckDType(out.dtype());
  call.Return(0, call.Invoke("aten::uniform_", {Value(out), Value(0.0), Value(1.0), Value::None()}));
}
void Randn(Call& call) {
  const Tensor out = New(call, 0, 1, kDefaultDType);
  call.CheckDType(out.dtype());
  call.Return(0, call.Invoke("aten::normal_", {Value(out), Value(0.0), Value(1.0), Value::None()}));
}
void Randint(Call& call) {
  const std::int64_t low = call.integer(0), high = call.integer(1);
  if (low >= high)
    call.Fail("argument 'low': expected less than 'high', but got " + std::to_string(low) + " and " +
              std::to_string(high));
  const Tensor out = New(call, 2, 3, DType::kInt64);
  call.CheckDType(out.dtype());
  if (call.meta()) return;
  const std::uint64_t first = TakeNumbers(static_cast<std::uint64_t>(out.numel())), seed = Seed();
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const Tensor packed = Tensor::Empty(out.sizes(), out.dtype(), out.device(), out.keys());
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const Random128 r = Philox(seed, first + static_cast<std::uint64_t>(i));
    const std::uint64_t bits = static_cast<std::uint64_t>(r.word[0]) << 32 | r.word[1];
    const auto offset = static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits) * range) >> 64);
    cpu::Store({packed.data(), TypeOf(out.dtype())}, i,
               static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset));
  }
  CopyTo(out, packed);
}

void NativeDropout(Call& call) {
  const Tensor input = call.tensor(0);
  const double p = call.real(1);
  const bool train = !call.has(2) || call.boolean(2);
  call.CheckDType(input.dtype());
  if (!(p >= 0 && p <= 1)) call.Fail("argument 'p': expected a number from 0 to 1, but got " + std::to_string(p));
  const Tensor out = call.PackedResult(0, input.sizes(), input.dtype()),
               mask = call.PackedResult(1, input.sizes(), DType::kBool);
  if (call.meta()) return;
  FillWith(mask, Scalar(1));
  CopyTo(out, input);
  if (!train || p == 0) return;
  const std::uint64_t first = TakeNumbers(static_cast<std::uint64_t>(out.numel())), seed = Seed();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    mask.data<bool>()[i] = Uniform(seed, first + static_cast<std::uint64_t>(i)) >= p;
  }
  call.Invoke("aten::mul_.Tensor", {Value(out), Value(mask)});
  if (p < 1) call.Invoke("aten::mul_.Scalar", {Value(out), Value(1 / (1 - p))});
}
void Dropout(Call& call) {
  const double p = call.real(1);
  call.CheckDType(call.tensor(0).dtype());
  if (!(p >= 0 && p <= 1)) call.Fail("argument 'p': expected a number from 0 to 1, but got " + std::to_string(p));
  if (!call.boolean(2) || p == 0 || call.tensor(0).numel() == 0) return call.Return(0, call.tensor(0));
  std::vector<Value> results = call.InvokeAll("aten::native_dropout", {call.at(0), call.at(1), call.at(2)});
  call.Return(0, results[0].ToTensor());
}

constexpr NamedKernel kKernels[] = {
    {"uniform_", &UniformInPlace},       {"normal_", &NormalInPlace},
    {"bernoulli_.float", &Bernoulli},    {"rand", &Rand, Where::kAnywhere},
    {"randn", &Randn, Where::kAnywhere}, {"randint.low", &Randint},
    {"native_dropout", &NativeDropout},  {"dropout", &Dropout, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> RandomKernels() { return kKernels; }

}  // namespace plumbline::kernels
