// Softmax and layer norm.
#include "kernels/compute.h"
#include "kernels/cpu/normalize.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

template <bool log>
void SoftmaxOf(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  if (call.boolean(2)) call.Fail("argument 'half_to_float': expected false on " + call.device().Spelling());
  const auto dim = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta() || out.numel() == 0) return;
  const Strided in(self);
  cpu::Softmax(log, in, dim, {out.data(), TypeOf(out.dtype())});
}

template <bool log>
void SoftmaxComposite(Call& call) {
  Value self = call.at(0);
  if (call.has(2)) {
    self = Value(call.Invoke("aten::to.dtype", {call.at(0), call.at(2), Value(false), Value(false), Value::None()}));
  }
  call.Return(0, call.Invoke(log ? "aten::_log_softmax" : "aten::_softmax", {self, call.at(1), Value(false)}));
}

void NativeLayerNorm(Call& call) {
  const Tensor input = call.tensor(0);
  const DimVector normalized = call.ints(1);
  const std::optional<Tensor> weight = call.maybe_tensor(2), bias = call.maybe_tensor(3);
  call.CheckDType(input.dtype());
  const IntSpan sizes = input.sizes();
  if (normalized.empty() || normalized.size() > sizes.size() ||
      !(IntSpan(sizes.last(normalized.size())) == IntSpan(normalized))) {
    call.Fail("argument 'normalized_shape': expected the last sizes of 'input', " + Print(sizes) + ", but got " +
              Print(normalized));
  }
  for (const auto* affine : {&weight, &bias}) {
    if (*affine && !((*affine)->sizes() == IntSpan(normalized))) {
      call.Fail(std::string("argument ") + (affine == &weight ? "'weight'" : "'bias'") + ": expected sizes " +
                Print(normalized) + ", but got " + Print((*affine)->sizes()));
    }
    if (*affine && (*affine)->dtype() != input.dtype()) {
      call.Fail(std::string("argument ") + (affine == &weight ? "'weight'" : "'bias'") + ": expected " +
                std::string(Spelling(input.dtype())) + ", but got " + std::string(Spelling((*affine)->dtype())));
    }
  }
  DimVector statistics(sizes);
  for (std::size_t d = sizes.size() - normalized.size(); d < sizes.size(); ++d) statistics[d] = 1;
  const Tensor out = call.PackedResult(0, sizes, input.dtype());
  const Tensor mean = call.PackedResult(1, statistics, input.dtype());
  const Tensor deviation = call.PackedResult(2, statistics, input.dtype());
  if (call.meta() || mean.numel() == 0) return;
  const cpu::Type compute = cpu::ComputeType(TypeOf(input.dtype()));
  const DType compute_dtype = compute == cpu::Type::kF64 ? DType::kFloat64 : DType::kFloat32;
  const auto widened = [&](const std::optional<Tensor>& t) -> std::optional<Tensor> {
    if (!t) return t;
    const Tensor copy = Tensor::Empty(t->sizes(), compute_dtype, t->device(), t->keys());
    CopyTo(copy, *t);
    return copy;
  };
  const std::optional<Tensor> w = widened(weight), b = widened(bias);
  const Tensor means = Tensor::Empty(statistics, compute_dtype, input.device(), input.keys());
  const Tensor deviations = Tensor::Empty(statistics, compute_dtype, input.device(), input.keys());
  const Strided in(input);
  cpu::LayerNorm(in, normalized.size(), w ? w->data() : nullptr, b ? b->data() : nullptr, call.real(4),
                 {out.data(), TypeOf(out.dtype())}, means.data(), deviations.data());
  CopyTo(mean, means);
  CopyTo(deviation, deviations);
}

void LayerNormComposite(Call& call) {
  std::vector<Value> results =
      call.InvokeAll("aten::native_layer_norm", {call.at(0), call.at(1), call.at(2), call.at(3), call.at(4)});
  call.Return(0, std::move(results.front()).ToTensor());
}

constexpr NamedKernel kKernels[] = {
    {"_softmax", &SoftmaxOf<false>},
    {"_log_softmax", &SoftmaxOf<true>},
    {"softmax.int", &SoftmaxComposite<false>, Where::kAnywhere},
    {"log_softmax.int", &SoftmaxComposite<true>, Where::kAnywhere},
    {"native_layer_norm", &NativeLayerNorm},
    {"layer_norm", &LayerNormComposite, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> NormalisationKernels() { return kKernels; }

}  // namespace plumbline::kernels
