// Copies, conversions, fills, and factories.
#include <cmath>

#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

MemoryFormat FormatOf(const Call& call, int i, MemoryFormat without) {
  if (!call.has(i)) return without;
  const std::int64_t number = call.integer(i);
  if (number < 0 || number > static_cast<int>(MemoryFormat::kChannelsLast3d)) {
    call.Fail("argument " + call.Name(i) + ": there is no memory format of number " + std::to_string(number));
  }
  return static_cast<MemoryFormat>(number);
}

// Strides of a new tensor like `self` in a memory format.
DimVector LikeStrides(const Tensor& self, MemoryFormat format) {
  if (PLUMBLINE_FAULT(like_tensors_are_rows) || PLUMBLINE_FAULT(copies_are_rows)) {
    return reference::ContiguousStrides(self.sizes());
  }
  return format == MemoryFormat::kPreserve ? reference::StridesLike(self.sizes(), self.strides())
                                           : reference::StridesFor(self.sizes(), format);
}

void CopyInto(Call& call) {
  const Tensor self = call.tensor(0), source = call.tensor(1);
  try {
    reference::ExpandStrides(source.sizes(), source.strides(), self.sizes());
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), "argument 'src': " + std::string(error.what()));
  }
  if (self.is_same(source)) return call.Return(0, self);
  const bool from_meta = source.device().type == DeviceType::kMeta;
  if (from_meta && !call.meta() && PLUMBLINE_FAULT(meta_is_copied_from)) return call.Return(0, self);
  if (from_meta && !call.meta()) call.Fail(ErrorClass::kUnsupported, "'src' is on meta and has no elements to copy");
  // Any dtype may be copied to any other: the check of casts is not for it.
  const Tensor written = call.Result(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  if (self.device() != source.device()) {
    call.Fail(ErrorClass::kUnsupported,
              "a copy from " + source.device().Spelling() + " to " + self.device().Spelling());
  }
  CopyTo(written, source);
}

void Clone(Call& call) {
  const Tensor self = call.tensor(0);
  if (PLUMBLINE_FAULT(clone_shares)) {
    return call.Return(0, self.View(self.sizes(), self.strides(), self.storage_offset()));
  }
  const DimVector strides = LikeStrides(self, FormatOf(call, 1, MemoryFormat::kPreserve));
  const Tensor out = call.Result(0, self.sizes(), self.dtype(), strides);
  if (!call.meta()) CopyTo(out, self);
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

std::optional<Device> DeviceAt(const Call& call, int i) {
  if (!call.has(i)) return std::nullopt;
  return Device::Parse(call.text(i));
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
  CopyTo(out, self);
}

void Fill(Call& call, const Scalar& value) {
  const Tensor self = call.tensor(0);
  const Tensor out = call.Result(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  // Of an expanded dimension one index stands for all.
  DimVector sizes(out.sizes());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (out.strides()[d] == 0) sizes[d] = std::min<std::int64_t>(sizes[d], 1);
  }
  FillWith(out.View(sizes, out.strides(), out.storage_offset()), value);
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
  if (IsFloating(self.dtype())) {
    double x = 0;
    void* const data[] = {&x, self.data()};
    cpu::Level().cast[cpu::Index(TypeOf(self.dtype()))][cpu::Index(cpu::Type::kF64)](data, 1, {});
    return call.ReturnValue(Value(x));
  }
  std::int64_t x = 0;
  void* const data[] = {&x, self.data()};
  cpu::Level().cast[cpu::Index(TypeOf(self.dtype()))][cpu::Index(cpu::Type::kI64)](data, 1, {});
  call.ReturnValue(self.dtype() == DType::kBool ? Value(x != 0) : Value(x));
}

// ---- factories ----

// dtype, layout, device, pin_memory stand together from `first` on; an out= variant has none of them.
struct NewOptions {
  std::optional<DType> dtype;
  std::optional<Device> device;
};
NewOptions OptionsAt(Call& call, int first) {
  if (call.variant() == tables::Variant::kOut) {
    const Tensor& out = call.tensor(first);
    return {out.dtype(), out.device()};
  }
  if (call.has(first + 1) && call.integer(first + 1) != 0) {
    call.Fail(ErrorClass::kUnsupported,
              "argument 'layout': expected strided, 0, but got " + std::to_string(call.integer(first + 1)));
  }
  if (call.has(first + 3) && call.boolean(first + 3))
    call.Fail(ErrorClass::kUnsupported, "argument 'pin_memory': there is no pinned memory");
  if (PLUMBLINE_FAULT(factories_forget_their_device)) return {call.dtype(first), DeviceType::kCpu};
  return {call.dtype(first), DeviceAt(call, first + 2)};
}

void EmptyOf(Call& call) {
  const bool out = call.variant() == tables::Variant::kOut;
  const NewOptions options = OptionsAt(call, out ? 2 : 1);
  const DimVector sizes = call.ints(0);
  call.SetDevice(options.device.value_or(DeviceType::kCpu));
  const MemoryFormat format = FormatOf(call, out ? 1 : 5, MemoryFormat::kContiguous);
  if (format == MemoryFormat::kPreserve) call.Fail("argument 'memory_format': there is nothing to preserve");
  reference::CheckedBytes(sizes, options.dtype.value_or(kDefaultDType));
  call.Result(0, sizes, options.dtype.value_or(kDefaultDType), reference::StridesFor(sizes, format));
}
void EmptyStridedOf(Call& call) {
  const NewOptions options = OptionsAt(call, 2);
  const Device device = options.device.value_or(DeviceType::kCpu);
  call.Return(
      0, Tensor::EmptyStrided(call.ints(0), call.ints(1), options.dtype.value_or(kDefaultDType), device, call.keys()));
}

Tensor NewLike(Call& call, int first) {
  const Tensor self = call.tensor(0);
  const NewOptions options = OptionsAt(call, first);
  call.SetDevice(options.device.value_or(self.device()));
  return call.Result(0, self.sizes(), options.dtype.value_or(self.dtype()),
                     LikeStrides(self, FormatOf(call, first + 4, MemoryFormat::kPreserve)));
}
void EmptyLike(Call& call) { NewLike(call, 1); }
void FullLike(Call& call) {
  call.CheckHolds(1, call.dtype(2).value_or(call.tensor(0).dtype()));
  const Tensor out = NewLike(call, 2);
  if (!call.meta()) FillWith(out, call.scalar(1));
}
template <int value>
void ValueLike(Call& call) {
  const Tensor out = NewLike(call, 1);
  if (!call.meta()) FillWith(out, Scalar(value));
}

Tensor New(Call& call, IntSpan sizes, int first, DType without) {
  const NewOptions options = OptionsAt(call, first);
  call.SetDevice(options.device.value_or(DeviceType::kCpu));
  return call.Result(0, sizes, options.dtype.value_or(without));
}
template <int value>
void ValueOf(Call& call) {
  const Tensor out = New(call, call.ints(0), 1, kDefaultDType);
  if (!call.meta()) FillWith(out, Scalar(value));
}
DType TypeOfScalar(const Scalar& s) { return s.is_float() ? kDefaultDType : s.is_int() ? DType::kInt64 : DType::kBool; }
void Full(Call& call) {
  const DType without = TypeOfScalar(call.scalar(1));
  call.CheckHolds(1, call.dtype(2).value_or(without));
  const Tensor out = New(call, call.ints(0), 2, without);
  if (!call.meta()) FillWith(out, call.scalar(1));
}
void ScalarTensor(Call& call) {
  call.CheckHolds(0, call.dtype(1).value_or(kDefaultDType));
  const Tensor out = New(call, {}, 1, kDefaultDType);
  if (!call.meta()) FillWith(out, call.scalar(0));
}

// Elements that a function gives by their index.
template <class F>
void Generate(const Tensor& out, F value) {
  const Tensor packed = out.is_contiguous() ? out : Tensor::Empty(out.sizes(), out.dtype(), out.device(), out.keys());
  const cpu::PackedOutput to = {packed.data(), TypeOf(out.dtype())};
  for (std::int64_t i = 0; i < packed.numel(); ++i) cpu::Store(to, i, value(i));
  if (!packed.is_same(out)) CopyTo(out, packed);
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
    Generate(out, [&](std::int64_t i) { return a + i * s; });
  } else {
    Generate(out, [&](std::int64_t i) { return from + static_cast<double>(i) * by; });
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
  Generate(out, [&](std::int64_t i) {
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
  FillWith(out, Scalar(0));
  if (std::min(n, m) > 0)
    FillWith(out.View({std::min(n, m)}, {out.stride(0) + out.stride(1)}, out.storage_offset()), Scalar(1));
}

constexpr NamedKernel kCopies[] = {
    {"copy_", &CopyInto},   {"clone", &Clone},     {"contiguous", &ContiguousOf},
    {"to.dtype", &ToDType}, {"_to_copy", &ToCopy}, {"fill_.Scalar", &FillScalar},
    {"zero_", &Zero},       {"resize_", &Resize},  {"item", &Item},
};
constexpr NamedKernel kFactories[] = {
    {"empty.memory_format", &EmptyOf}, {"empty_strided", &EmptyStridedOf},
    {"empty_like", &EmptyLike},        {"full", &Full},
    {"full_like", &FullLike},          {"zeros", &ValueOf<0>},
    {"zeros_like", &ValueLike<0>},     {"ones", &ValueOf<1>},
    {"ones_like", &ValueLike<1>},      {"arange", &Arange},
    {"arange.start", &ArangeStart},    {"arange.start_step", &ArangeStep},
    {"linspace", &Linspace},           {"eye.m", &Eye},
    {"scalar_tensor", &ScalarTensor},
};

}  // namespace

std::span<const NamedKernel> CopyKernels() { return kCopies; }
std::span<const NamedKernel> FactoryKernels() { return kFactories; }

}  // namespace plumbline::kernels
