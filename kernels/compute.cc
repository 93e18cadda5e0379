#include "kernels/compute.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/reduce.h"

namespace plumbline::kernels {

using reference::Throw;

cpu::Type TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return cpu::Type::kU8;
    case DType::kInt8:
      return cpu::Type::kI8;
    case DType::kInt16:
      return cpu::Type::kI16;
    case DType::kInt32:
      return cpu::Type::kI32;
    case DType::kInt64:
      return cpu::Type::kI64;
    case DType::kFloat16:
      return cpu::Type::kF16;
    case DType::kFloat32:
      return cpu::Type::kF32;
    case DType::kFloat64:
      return cpu::Type::kF64;
    case DType::kBool:
      return cpu::Type::kBool;
    case DType::kBFloat16:
      break;
  }
  return cpu::Type::kBF16;
}

double RoundTo(DType dtype, double value) {
  char item[8];
  const cpu::Type type = TypeOf(dtype);
  cpu::Store({item, type}, 0, value);
  double rounded;
  void* const data[] = {&rounded, item};
  cpu::Level().cast[cpu::Index(type)][cpu::Index(cpu::Type::kF64)](data, 1, {});
  return rounded;
}
cpu::Parameters ParametersOf(const Scalar& a) {
  cpu::Parameters parameters;
  parameters.real[0] = AsReal(a);
  parameters.integer[0] = AsInteger(a);
  return parameters;
}

Strided::Strided(const Tensor& tensor)
    : sizes(tensor.sizes()), strides(tensor.strides()), type(TypeOf(tensor.dtype())), data(tensor.data()) {
  for (std::int64_t& stride : strides) stride *= static_cast<std::int64_t>(SizeOf(tensor.dtype()));
}

namespace {

std::int64_t ItemOf(const Tensor& tensor) { return static_cast<std::int64_t>(tensor.itemsize()); }

void CheckDims(IntSpan sizes) {
  if (sizes.size() > static_cast<std::size_t>(cpu::kMaxDims)) {
    Throw(ErrorClass::kUnsupported, "a tensor of " + std::to_string(sizes.size()) + " dimensions; at most " +
                                        std::to_string(cpu::kMaxDims) + " are computed with");
  }
}

}  // namespace

void RunLoop(const Tensor& out, cpu::Type made, std::span<const In> inputs, cpu::Type compute, cpu::Loop loop,
             const cpu::Parameters& parameters, bool cheap, std::optional<cpu::Type> first) {
  const std::size_t count = inputs.size() + 1;
  const IntSpan sizes = out.sizes();
  // Side by side, in the loop's types: no need of strides.
  bool plain = out.is_contiguous() && TypeOf(out.dtype()) == made;
  for (std::size_t k = 0; k < inputs.size() && plain; ++k) {
    const Tensor* const tensor = inputs[k].tensor();
    plain = tensor != nullptr && tensor->is_contiguous() &&
            TypeOf(tensor->dtype()) == (k == 0 ? first.value_or(compute) : compute) && tensor->numel() == out.numel();
  }
  if (plain) {
    void* data[cpu::kMaxOperands] = {out.data()};
    std::size_t items[cpu::kMaxOperands] = {out.itemsize()};
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      data[k + 1] = inputs[k].tensor()->data();
      items[k + 1] = inputs[k].tensor()->itemsize();
    }
    return cpu::RunContiguous(data, items, static_cast<int>(count), out.numel(), loop, parameters, cheap);
  }
  CheckDims(sizes);
  std::int64_t strides[cpu::kMaxOperands][cpu::kMaxDims];
  cpu::Operand operands[cpu::kMaxOperands];
  cpu::Partial scalars[cpu::kMaxOperands];
  BroadcastStrides(out, sizes, ItemOf(out), strides[0]);
  operands[0] = {out.data(), strides[0], TypeOf(out.dtype()), made};
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const cpu::Type wanted = k == 0 ? first.value_or(compute) : compute;
    if (const Tensor* const tensor = inputs[k].tensor()) {
      BroadcastStrides(*tensor, sizes, ItemOf(*tensor), strides[k + 1]);
      operands[k + 1] = {tensor->data(), strides[k + 1], TypeOf(tensor->dtype()), wanted};
    } else {
      const Scalar& scalar = inputs[k].scalar();
      std::fill_n(strides[k + 1], sizes.size(), 0);
      const bool real = scalar.is_float();
      if (real) {
        scalars[k].real = scalar.ToFloat();
      } else {
        scalars[k].integer = AsInteger(scalar);
      }
      operands[k + 1] = {&scalars[k], strides[k + 1], real ? cpu::Type::kF64 : cpu::Type::kI64, wanted};
    }
  }
  cpu::RunElementwise({sizes, {operands, count}, loop, parameters, cheap});
}

void CopyTo(const Tensor& out, const Tensor& from) {
  const cpu::Type to_type = TypeOf(out.dtype()), from_type = TypeOf(from.dtype());
  const In inputs[] = {from};
  RunLoop(out, to_type, inputs, from_type, cpu::Level().cast[cpu::Index(from_type)][cpu::Index(to_type)],
          cpu::Parameters(), true);
}

void FillWith(const Tensor& out, const Scalar& value) {
  CheckDims(out.sizes());
  std::int64_t strides[cpu::kMaxDims];
  BroadcastStrides(out, out.sizes(), ItemOf(out), strides);
  char item[8];
  if (value.is_float()) {
    cpu::Store({item, TypeOf(out.dtype())}, 0, value.ToFloat());
  } else {
    cpu::Store({item, TypeOf(out.dtype())}, 0, AsInteger(value));
  }
  cpu::Fill(out.sizes(), out.data(), strides, out.itemsize(), item);
}

void CopyElements(const Call& call, const Tensor& out, const Tensor& from) {
  if (out.device().type == DeviceType::kCpu && from.device().type == DeviceType::kCpu) return CopyTo(out, from);
  call.Invoke("aten::copy_", {Value(out.WithOwnVersion()), Value(from), Value(false)});
}

void FillElements(const Call& call, const Tensor& out, const Scalar& value) {
  if (out.device().type == DeviceType::kCpu) return FillWith(out, value);
  call.Invoke("aten::fill_.Scalar", {Value(out.WithOwnVersion()), reference::Box<Scalar>::From(value)});
}

Tensor Converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  const Tensor copy = Tensor::Empty(tensor.sizes(), dtype, tensor.device(), tensor.keys());
  if (tensor.device().type != DeviceType::kMeta) CopyTo(copy, tensor);
  return copy;
}

In Rounded(const In& operand, DType dtype, std::optional<Tensor>& held) {
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return operand;
  if (const Tensor* const tensor = operand.tensor()) {
    if (tensor->dtype() == dtype) return operand;
    held = Converted(*tensor, dtype);
    return *held;
  }
  return Scalar(RoundTo(dtype, AsReal(operand.scalar())));
}

Tensor Contiguous(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  const Tensor copy = Tensor::Empty(tensor.sizes(), tensor.dtype(), tensor.device(), tensor.keys());
  if (tensor.device().type != DeviceType::kMeta) CopyTo(copy, tensor);
  return copy;
}

}  // namespace plumbline::kernels
