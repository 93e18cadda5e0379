#include "kernels/opencl/enqueue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "kernels/opencl/memory.h"
#include "kernels/opencl/runtime.h"

namespace plumbline::kernels::opencl {
namespace {

static_assert(sizeof(long) == 8, "the layout is the same on both sides");

std::optional<int> TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return TYPE_BOOL;
    case DType::kInt32:
      return TYPE_INT;
    case DType::kInt64:
      return TYPE_LONG;
    case DType::kFloat32:
      return TYPE_FLOAT;
    default:
      return std::nullopt;
  }
}

const char* ComputeOption(DType dtype) {
  return dtype == DType::kBool    ? "-DCOMPUTE_BOOL"
         : dtype == DType::kInt32 ? "-DCOMPUTE_INT"
         : dtype == DType::kInt64 ? "-DCOMPUTE_LONG"
                                  : "-DCOMPUTE_FLOAT";
}

// Rounded once.
float AsFloat(const Scalar& value) {
  return value.is_int() ? static_cast<float>(value.ToInt()) : static_cast<float>(AsReal(value));
}

// The layout and the buffers of one run, as they are put together.
class Operands {
 public:
  explicit Operands(const Call& call) : call_(call) {}

  Layout layout{};

  // The k-th operand, read with the sizes of the layout.
  void Set(int k, const Tensor& tensor, int type) {
    SetPlace(k, tensor, type);
    BroadcastStrides(tensor, sizes_, 1, strides_[static_cast<std::size_t>(k)].data());
  }
  void Set(int k, const Tensor& tensor) { Set(k, tensor, *TypeOf(tensor.dtype())); }
  void SetPlace(int k, const Tensor& tensor, int type) {
    const Place place = tensor.numel() == 0 ? Place{} : Memory::Get().Find(tensor.storage().data());
    layout.types[k] = type;
    // A storage that came by way of DLPack may begin inside of a block.
    if (place.offset % tensor.itemsize() != 0) {
      call_.Fail(ErrorClass::kUnsupported, "a tensor that begins " + std::to_string(place.offset) +
                                               " bytes into its block is not computed with on " +
                                               call_.device().Spelling() + ": its elements have " +
                                               std::to_string(tensor.itemsize()) + " bytes");
    }
    layout.offsets[k] = tensor.storage_offset() + static_cast<std::int64_t>(place.offset / tensor.itemsize());
    SetBuffer(k, place.buffer);
  }
  void SetNumber(int k, const Scalar& value) {
    layout.types[k] = TYPE_IMMEDIATE;
    layout.integers[k] = AsInteger(value);
    layout.reals[k] = AsFloat(value);
    SetBuffer(k, buffers_.empty() ? nullptr : buffers_[0]);  // one has to stand there
  }
  void SetSizes(const Tensor& out) {
    layout.count = out.numel();
    sizes_ = DimVector(out.sizes());
    for (auto& strides : strides_) strides = DimVector(sizes_.size());
  }

  // With as few dimensions as the operands' strides allow.
  void Run(const ProgramKernel& kernel) {
    int kept = 0;
    const std::size_t operands = buffers_.size();
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      if (sizes_[d] == 1) continue;
      bool joins = kept > 0;
      for (std::size_t k = 0; k < operands && joins; ++k) {
        joins = layout.strides[k][kept - 1] == strides_[k][d] * sizes_[d];
      }
      if (!joins && kept == LAYOUT_DIMS) {
        call_.Fail(ErrorClass::kUnsupported, "tensors that lie in more than " + std::to_string(LAYOUT_DIMS) +
                                                 " dimensions are not computed with on " + call_.device().Spelling() +
                                                 "; make them contiguous");
      }
      if (!joins) layout.sizes[kept++] = 1;
      layout.sizes[kept - 1] *= sizes_[d];
      for (std::size_t k = 0; k < operands; ++k) layout.strides[k][kept - 1] = strides_[k][d];
    }
    layout.dims = kept;
    RunAsItIs(kernel);
  }
  void RunAsItIs(const ProgramKernel& kernel) {
    if (layout.count != 0) Runtime::Get().Run(kernel, layout, buffers_);
  }

 private:
  void SetBuffer(int k, cl_mem buffer) {
    buffers_.resize(std::max(buffers_.size(), static_cast<std::size_t>(k + 1)));
    buffers_[static_cast<std::size_t>(k)] = buffer;
  }

  const Call& call_;
  DimVector sizes_;
  std::array<DimVector, LAYOUT_OPERANDS> strides_;
  std::vector<cl_mem> buffers_;
};

// [OPER-006] What stands for a Scalar; nothing for a tensor of the device.
std::optional<Scalar> NumberOf(const In& input) {
  if (input.tensor() == nullptr) return input.scalar();
  const Tensor& tensor = *input.tensor();
  if (tensor.device().type != DeviceType::kCpu) return std::nullopt;
  return reference::VisitDType(tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    T value;
    std::memcpy(&value, tensor.data(), sizeof value);
    if constexpr (std::is_same_v<T, bool>) return Scalar(value);
    if constexpr (std::is_integral_v<T>) return Scalar(static_cast<std::int64_t>(value));
    if constexpr (!std::is_integral_v<T>) return Scalar(static_cast<double>(static_cast<float>(value)));
  });
}

void SetOperand(Operands& operands, int k, const In& input) {
  if (const std::optional<Scalar> number = NumberOf(input)) return operands.SetNumber(k, *number);
  operands.Set(k, *input.tensor());
}

void CheckHas(const Call& call, const In& input) {
  if (input.tensor() != nullptr && input.tensor()->device().type != DeviceType::kCpu) {
    opencl::CheckHas(call, input.tensor()->dtype());
  }
}

std::string ItemOption(std::size_t bytes) {
  return std::string("-DITEM=") + (bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong");
}

}  // namespace

void CheckHas(const Call& call, DType dtype) {
  if (TypeOf(dtype)) return;
  reference::Throw(ErrorClass::kNoDtype, "'" + call.info().family + "' is not implemented for " +
                                             std::string(Spelling(dtype)) + " on " + call.device().Spelling());
}

void EnqueueUnary(const Call& call, const Tensor& out, const Tensor& self, DType compute, int op) {
  for (const DType dtype : {out.dtype(), self.dtype(), compute}) CheckHas(call, dtype);
  Operands operands(call);
  operands.SetSizes(out);
  operands.Set(0, out);
  operands.Set(1, self);
  operands.layout.op = op;
  operands.Run({"elementwise", ComputeOption(compute), "unary"});
}

void EnqueueBinary(const Call& call, const Tensor& out, const In& a, const In& b, DType compute, int op,
                   const Scalar& alpha) {
  for (const DType dtype : {out.dtype(), compute}) CheckHas(call, dtype);
  for (const In& input : {a, b}) CheckHas(call, input);
  Operands operands(call);
  operands.SetSizes(out);
  operands.Set(0, out);
  operands.layout.integers[0] = AsInteger(alpha);
  operands.layout.reals[0] = AsFloat(alpha);
  SetOperand(operands, 1, a);
  SetOperand(operands, 2, b);
  operands.layout.op = op;
  operands.Run({"elementwise", ComputeOption(compute), "binary"});
}

void EnqueueWhere(const Call& call, const Tensor& out, const Tensor& condition, const Tensor& yes, const Tensor& no,
                  DType compute) {
  for (const DType dtype : {out.dtype(), compute}) CheckHas(call, dtype);
  for (const In& input : {In(condition), In(yes), In(no)}) CheckHas(call, input);
  Operands operands(call);
  operands.SetSizes(out);
  operands.Set(0, out);
  SetOperand(operands, 1, condition);
  SetOperand(operands, 2, yes);
  SetOperand(operands, 3, no);
  operands.Run({"elementwise", ComputeOption(compute), "choose"});
}

void EnqueueFill(const Call& call, const Tensor& out, const Scalar& value) {
  CheckHas(call, out.dtype());
  Operands operands(call);
  operands.SetSizes(out);
  operands.Set(0, out);
  // [OPER-059] Converted here, where a floating value has all its digits.
  operands.SetNumber(1, out.dtype() == DType::kBool ? Scalar(AsReal(value) != 0) : value);
  operands.layout.op = OP_COPY;
  operands.Run({"elementwise", ComputeOption(out.dtype()), "unary"});
}

void EnqueueCopy(const Call& call, const Tensor& out, const Tensor& from) {
  if (out.dtype() != from.dtype()) return EnqueueUnary(call, out, from, from.dtype(), OP_COPY);
  Operands operands(call);
  operands.SetSizes(out);
  operands.Set(0, out, TYPE_LONG);
  operands.Set(1, from, TYPE_LONG);
  operands.Run({"move", ItemOption(out.itemsize()), "move"});
}

void EnqueueSum(const Call& call, const Tensor& out, const Tensor& self, const Reduced& reduced) {
  for (const DType dtype : {out.dtype(), self.dtype()}) CheckHas(call, dtype);
  if (self.dim() > LAYOUT_DIMS) {
    call.Fail(ErrorClass::kUnsupported, "a tensor of " + std::to_string(self.dim()) + " dimensions; at most " +
                                            std::to_string(LAYOUT_DIMS) + " are computed with on " +
                                            call.device().Spelling());
  }
  Operands operands(call);
  Layout& layout = operands.layout;
  layout.count = out.numel();
  layout.reduced = reduced.count;
  operands.SetPlace(0, out, *TypeOf(out.dtype()));
  operands.SetPlace(1, self, *TypeOf(self.dtype()));
  std::int64_t step = 1;  // of the result, which is packed: from the last dimension on
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (reduced.mask[d]) {
      layout.strides[2][layout.reduced_dims] = self.strides()[d];
      layout.strides[3][layout.reduced_dims++] = self.sizes()[d];
    } else {
      layout.strides[1][layout.dims] = self.strides()[d];
      layout.sizes[layout.dims++] = self.sizes()[d];
    }
  }
  for (int d = layout.dims - 1; d >= 0; --d) {
    layout.strides[0][d] = step;
    step *= layout.sizes[d];
  }
  operands.RunAsItIs({"sum", ComputeOption(out.dtype()), "sum"});
}

void EnqueueMm(const Call& call, const Tensor& out, const Tensor& a, const Tensor& b) {
  for (const DType dtype : {out.dtype(), a.dtype(), b.dtype()}) CheckHas(call, dtype);
  Operands operands(call);
  Layout& layout = operands.layout;
  layout.count = out.numel();
  layout.reduced = a.size(1);
  const int type = *TypeOf(out.dtype());
  operands.SetPlace(0, out, type);
  operands.SetPlace(1, a, type);
  operands.SetPlace(2, b, type);
  layout.sizes[0] = out.size(0);
  layout.sizes[1] = out.size(1);
  for (int d = 0; d < 2; ++d) {
    layout.strides[1][d] = a.stride(d);
    layout.strides[2][d] = b.stride(d);
  }
  operands.RunAsItIs({"mm", ComputeOption(out.dtype()), "mm"});
}

}  // namespace plumbline::kernels::opencl
