// Copies, conversions, fills, and factories.
#include "kernels/shapes/copy.h"

#include <cmath>

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"
#include "kernels/shapes/factory.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

void CopyInto(Call& call) {
  const std::optional<CopyPlan> plan = PlanCopy(call);
  if (!plan || call.meta()) return;
  if (plan->written.device() != plan->source.device()) {
    call.Fail(ErrorClass::kUnsupported,
              "a copy from " + plan->source.device().Spelling() + " to " + plan->written.device().Spelling());
  }
  if (call.device().type != DeviceType::kCpu) {
    call.Fail(ErrorClass::kNoKernel, call.device().Spelling() + " needs a kernel of its own, registered at " +
                                         std::string(reference::KeyName(call.device().type)));
  }
  CopyTo(plan->written, plan->source);
}

void Clone(Call& call) {
  const Tensor self = call.tensor(0);
  if (PLUMBLINE_FAULT(clone_shares)) {
    return call.Return(0, self.View(self.sizes(), self.strides(), self.storage_offset()));
  }
  const DimVector strides = LikeStrides(self, FormatOf(call, 1, MemoryFormat::kPreserve));
  const Tensor out = call.Result(0, self.sizes(), self.dtype(), strides);
  if (!call.meta()) CopyElements(call, out, self);
}

void ContiguousOf(Call& call) {
  const Tensor self = call.tensor(0);
  const MemoryFormat format = FormatOf(call, 1, MemoryFormat::kContiguous);
  if (format == MemoryFormat::kPreserve)
    call.Fail("argument 'memory_format': preserve_format is none to be contiguous in");
  const bool is_already = reference::ContiguousIn(self.sizes(), self.strides(), format);
  if (is_already && !PLUMBLINE_FAULT(contiguous_always_copies)) return call.Return(0, self);
  call.Return(0, call.Invoke("aten::clone", {Value(self), Value(static_cast<int>(format))}));
}

void ToDType(Call& call) {
  const Tensor self = call.tensor(0);
  const DType dtype = *call.dtype(1);
  const MemoryFormat format = FormatOf(call, 4, MemoryFormat::kPreserve);
  const bool lies_so =
      format == MemoryFormat::kPreserve || reference::ContiguousIn(self.sizes(), self.strides(), format);
  const bool is_so = dtype == self.dtype() && lies_so && !PLUMBLINE_FAULT(to_always_copies);
  if (is_so && !call.boolean(3)) return call.Return(0, self);
  call.Return(0, call.Invoke("aten::_to_copy", {Value(self), call.at(1), Value::None(), Value::None(), Value::None(),
                                                call.at(2), call.at(4)}));
}

void ToCopy(Call& call) {
  const Tensor self = call.tensor(0);
  const bool functional = call.variant() == tables::Variant::kFunctional;
  const DType dtype = functional ? call.dtype(1).value_or(self.dtype()) : call.tensor(3).dtype();
  const Device device = (functional ? DeviceAt(call, 3) : std::nullopt).value_or(self.device());
  const DimVector strides = LikeStrides(self, FormatOf(call, functional ? 6 : 2, MemoryFormat::kPreserve));
  if (self.device().type == DeviceType::kMeta && device.type != DeviceType::kMeta) {
    call.Fail(ErrorClass::kUnsupported, "'self' is on meta and has no elements to copy");
  }
  call.SetDevice(device);
  const Tensor out = call.Result(0, self.sizes(), dtype, strides);
  if (call.meta()) return;
  if (device != self.device()) {
    call.Return(0, call.Invoke("aten::copy_", {Value(out), Value(self), Value(false)}));
    return;
  }
  CopyElements(call, out, self);
}

void Fill(Call& call, const Scalar& value) {
  const Tensor written = PlanFill(call);
  if (!call.meta()) FillWith(written, value);
}
void FillScalar(Call& call) {
  call.CheckHolds(1, call.tensor(0).dtype());
  Fill(call, call.scalar(1));
}
void Zero(Call& call) { Fill(call, Scalar(0)); }

void Resize(Call& call) {
  const Tensor self = call.tensor(0);
  self.Resize(call.ints(1));
  call.Return(0, self);
}

void Item(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.numel() != 1 && !(PLUMBLINE_FAULT(item_takes_the_first) && self.numel() > 0)) {
    call.Fail("'self' has " + std::to_string(self.numel()) + " elements; only one can become a Scalar");
  }
  if (call.meta()) call.Fail(ErrorClass::kUnsupported, "'self' is on meta and has no element");
  char element[8];
  self.storage().CopyToHost(element, self.storage_offset() * static_cast<std::int64_t>(self.itemsize()),
                            self.itemsize());
  if (IsFloating(self.dtype())) {
    double x = 0;
    void* const data[] = {&x, element};
    cpu::Level().cast[cpu::Index(TypeOf(self.dtype()))][cpu::Index(cpu::Type::kF64)](data, 1, {});
    return call.ReturnValue(Value(x));
  }
  std::int64_t x = 0;
  void* const data[] = {&x, element};
  cpu::Level().cast[cpu::Index(TypeOf(self.dtype()))][cpu::Index(cpu::Type::kI64)](data, 1, {});
  call.ReturnValue(self.dtype() == DType::kBool ? Value(x != 0) : Value(x));
}

// ---- factories ----

Tensor NewLike(Call& call, int first) {
  const Tensor self = call.tensor(0);
  const NewOptions options = OptionsAt(call, first);
  call.SetDevice(options.device.value_or(self.device()));
  return call.Result(0, self.sizes(), options.dtype.value_or(self.dtype()),
                     LikeStrides(self, FormatOf(call, first + 4, MemoryFormat::kPreserve)));
}
void EmptyLike(Call& call) { NewLike(call, 1); }
void FullLike(Call& call) {
  call.CheckHolds(1, OptionsAt(call, 2).dtype.value_or(call.tensor(0).dtype()));
  const Tensor out = NewLike(call, 2);
  if (!call.meta()) FillElements(call, out, call.scalar(1));
}
template <int value>
void ValueLike(Call& call) {
  const Tensor out = NewLike(call, 1);
  if (!call.meta()) FillElements(call, out, Scalar(value));
}

Tensor New(Call& call, IntSpan sizes, int first, DType without) {
  const NewOptions options = OptionsAt(call, first);
  call.SetDevice(options.device.value_or(DeviceType::kCpu));
  return call.Result(0, sizes, options.dtype.value_or(without));
}
template <int value>
void ValueOf(Call& call) {
  const Tensor out = New(call, call.ints(0), 1, kDefaultDType);
  if (!call.meta()) FillElements(call, out, Scalar(value));
}
DType TypeOfScalar(const Scalar& s) { return s.is_float() ? kDefaultDType : s.is_int() ? DType::kInt64 : DType::kBool; }
void Full(Call& call) {
  const DType without = TypeOfScalar(call.scalar(1));
  call.CheckHolds(1, OptionsAt(call, 2).dtype.value_or(without));
  const Tensor out = New(call, call.ints(0), 2, without);
  if (!call.meta()) FillElements(call, out, call.scalar(1));
}
void ScalarTensor(Call& call) {
  call.CheckHolds(0, OptionsAt(call, 1).dtype.value_or(kDefaultDType));
  const Tensor out = New(call, {}, 1, kDefaultDType);
  if (!call.meta()) FillElements(call, out, call.scalar(0));
}

// Elements that a function gives by their index; for another device they are made on the CPU.
template <class F>
void Generate(const Call& call, const Tensor& out, F value) {
  const bool in_place = out.is_contiguous() && out.device().type == DeviceType::kCpu;
  const Tensor packed = in_place ? out : Tensor::Empty(out.sizes(), out.dtype(), DeviceType::kCpu, call.keys());
  const cpu::PackedOutput to = {packed.data(), TypeOf(out.dtype())};
  for (std::int64_t i = 0; i < packed.numel(); ++i) cpu::Store(to, i, value(i));
  if (!packed.is_same(out)) CopyElements(call, out, packed);
}

void Range(Call& call, const Scalar& start, const Scalar& end, const Scalar& step, int first) {
  const bool integers = !start.is_float() && !end.is_float() && !step.is_float();
  const double from = AsReal(start), to = AsReal(end), by = AsReal(step);
  if (by == 0) call.Fail("argument 'step': expected a number other than 0");
  if (!std::isfinite(from) || !std::isfinite(to)) call.Fail("'start' and 'end' have to be finite");
  if ((by > 0 && to < from) || (by < 0 && to > from)) {
    call.Fail("'end' lies on the other side of 'start' than 'step' goes");
  }
  double count = std::ceil((to - from) / by);
  if (integers) {
    const std::int64_t a = AsInteger(start), b = AsInteger(end), s = AsInteger(step);
    const __int128 distance = static_cast<__int128>(b) - a;
    count = static_cast<double>((distance + s - (s > 0 ? 1 : -1)) / s);
  }
  if (PLUMBLINE_FAULT(ranges_end_late)) count += 1;
  if (count >= 9.2e18) call.Fail(ErrorClass::kOverflow, "a range of " + std::to_string(count) + " elements");
  const Tensor out = New(call, {static_cast<std::int64_t>(count)}, first,
                         integers && !PLUMBLINE_FAULT(ranges_are_floating) ? DType::kInt64 : kDefaultDType);
  if (call.meta()) return;
  if (!IsFloating(out.dtype())) {
    const std::int64_t a = AsInteger(start), s = AsInteger(step);
    Generate(call, out, [&](std::int64_t i) { return a + i * s; });
  } else {
    Generate(call, out, [&](std::int64_t i) { return from + static_cast<double>(i) * by; });
  }
}
void Arange(Call& call) { Range(call, Scalar(0), call.scalar(0), Scalar(1), 1); }
void ArangeStart(Call& call) { Range(call, call.scalar(0), call.scalar(1), Scalar(1), 2); }
void ArangeStep(Call& call) { Range(call, call.scalar(0), call.scalar(1), call.scalar(2), 3); }

void Linspace(Call& call) {
  const std::int64_t steps = call.integer(2);
  if (steps < 0) call.Fail("argument 'steps': expected a number from 0 on, but got " + std::to_string(steps));
  const Tensor out = New(call, {steps}, 3, kDefaultDType);
  if (call.meta()) return;
  const double from = call.real(0), to = call.real(1);
  const double step = steps > 1 ? (to - from) / static_cast<double>(steps - 1) : 0;
  // From both ends, so that the last is exact too.
  Generate(call, out, [&](std::int64_t i) {
    return i < steps / 2 || steps == 1 ? from + static_cast<double>(i) * step
                                       : to - static_cast<double>(steps - 1 - i) * step;
  });
}

void Eye(Call& call) {
  const std::int64_t n = call.integer(0), m = call.integer(1);
  if (n < 0 || m < 0)
    call.Fail("sizes have to be at least 0, but are " + std::to_string(n) + " and " + std::to_string(m));
  const Tensor out = New(call, {n, m}, 2, kDefaultDType);
  if (call.meta()) return;
  FillElements(call, out, Scalar(0));
  if (std::min(n, m) > 0) {
    FillElements(call, out.View({std::min(n, m)}, {out.stride(0) + out.stride(1)}, out.storage_offset()), Scalar(1));
  }
}

constexpr NamedKernel kCopies[] = {
    {"copy_", &CopyInto, Where::kAnywhere},
    {"clone", &Clone, Where::kAnywhere},
    {"contiguous", &ContiguousOf, Where::kAnywhere},
    {"to.dtype", &ToDType, Where::kAnywhere},
    {"_to_copy", &ToCopy, Where::kAnywhere},
    {"fill_.Scalar", &FillScalar},
    {"zero_", &Zero},
    {"resize_", &Resize},
    {"item", &Item, Where::kAnywhere},
};
constexpr NamedKernel kFactories[] = {
    {"empty.memory_format", &EmptyOf, Where::kAnywhere}, {"empty_strided", &EmptyStridedOf, Where::kAnywhere},
    {"empty_like", &EmptyLike, Where::kAnywhere},        {"full", &Full, Where::kAnywhere},
    {"full_like", &FullLike, Where::kAnywhere},          {"zeros", &ValueOf<0>, Where::kAnywhere},
    {"zeros_like", &ValueLike<0>, Where::kAnywhere},     {"ones", &ValueOf<1>, Where::kAnywhere},
    {"ones_like", &ValueLike<1>, Where::kAnywhere},      {"arange", &Arange, Where::kAnywhere},
    {"arange.start", &ArangeStart, Where::kAnywhere},    {"arange.start_step", &ArangeStep, Where::kAnywhere},
    {"linspace", &Linspace, Where::kAnywhere},           {"eye.m", &Eye, Where::kAnywhere},
    {"scalar_tensor", &ScalarTensor, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> CopyKernels() { return kCopies; }
std::span<const NamedKernel> FactoryKernels() { return kFactories; }

}  // namespace plumbline::kernels
