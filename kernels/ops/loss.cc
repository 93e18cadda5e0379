// Losses. Terms are computed in double.
#include <cmath>
#include <memory>

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

enum : std::int64_t { kNone = 0, kMean = 1, kSum = 2 };

std::vector<double> Reals(const Tensor& t, IntSpan sizes) {
  const Tensor wide = Tensor::Empty(sizes, DType::kFloat64, t.device(), t.keys());
  CopyTo(wide, t);
  return {wide.data<double>(), wide.data<double>() + wide.numel()};
}
std::int64_t ReductionAt(const Call& call, int i) {
  const std::int64_t reduction = call.integer(i);
  if (reduction < kNone || reduction > kSum) {
    call.Fail("argument " + call.Name(i) + ": expected 0 (none), 1 (mean) or 2 (sum), but got " +
              std::to_string(reduction));
  }
  return reduction;
}

// One term for each element of all tensors, broadcast, then reduced.
template <class F>
void Pointwise(Call& call, std::vector<std::optional<Tensor>> tensors, std::int64_t reduction, bool broadcasts,
               F term) {
  const DType dtype = tensors[0]->dtype();
  call.CheckDType(dtype);
  std::vector<In> inputs;
  for (const std::optional<Tensor>& t : tensors) {
    if (!t) continue;
    if (t->dtype() != dtype)
      call.Fail("expected all tensors to be " + std::string(Spelling(dtype)) + ", but got " +
                std::string(Spelling(t->dtype())));
    inputs.emplace_back(*t);
  }
  if (!broadcasts && !(tensors[0]->sizes() == tensors[1]->sizes())) {
    call.Fail("argument 'target': expected the sizes of 'self', " + Print(tensors[0]->sizes()) + ", but got " +
              Print(tensors[1]->sizes()));
  }
  const DimVector sizes = BroadcastOf(call, inputs);
  const Tensor out = call.PackedResult(0, reduction == kNone ? IntSpan(sizes) : IntSpan(), dtype);
  if (call.meta()) return;
  std::vector<std::vector<double>> values;
  for (const std::optional<Tensor>& t : tensors) values.push_back(t ? Reals(*t, sizes) : std::vector<double>());
  const auto n = static_cast<std::size_t>(reference::CheckedNumel(sizes));
  const cpu::PackedOutput to = {out.data(), TypeOf(dtype)};
  cpu::CompensatedSum sum;
  for (std::size_t i = 0; i < n; ++i) {
    double x[4] = {0, 0, 1, 1};
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!values[k].empty()) x[k] = values[k][i];
    }
    const double each = term(x[0], x[1], x[2], x[3]);
    if (reduction == kNone) cpu::Store(to, static_cast<std::int64_t>(i), each);
    sum.Add(each);
  }
  if (reduction != kNone) cpu::Store(to, 0, reduction == kMean ? sum.Get() / static_cast<double>(n) : sum.Get());
}

void Mse(Call& call) {
  Pointwise(call, {call.tensor(0), call.tensor(1)}, ReductionAt(call, 2), true,
            [](double x, double y, double, double) { return (x - y) * (x - y); });
}
void SmoothL1(Call& call) {
  const double beta = call.real(3);
  if (!(beta >= 0)) call.Fail("argument 'beta': expected a number from 0 on, but got " + std::to_string(beta));
  Pointwise(call, {call.tensor(0), call.tensor(1)}, ReductionAt(call, 2), true,
            [beta](double x, double y, double, double) {
              const double d = std::fabs(x - y);
              return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
            });
}
void L1(Call& call) {
  call.Return(0, call.Invoke("aten::smooth_l1_loss", {call.at(0), call.at(1), call.at(2), Value(0.0)}));
}
void BinaryCrossEntropy(Call& call) {
  const Tensor self = call.tensor(0);
  std::vector<std::optional<Tensor>> tensors = {self, call.tensor(1), call.maybe_tensor(2)};
  if (!call.meta()) {
    for (const double p : Reals(self, self.sizes())) {
      if (!(p >= 0 && p <= 1) && !std::isnan(p))
        call.Fail("'self': expected all elements from 0 to 1, but one is " + std::to_string(p));
    }
  }
  // A logarithm counts for -100 at least.
  Pointwise(call, std::move(tensors), ReductionAt(call, 3), false, [](double p, double y, double w, double) {
    return -w * (y * std::max(std::log(p), -100.0) + (1 - y) * std::max(std::log1p(-p), -100.0));
  });
}
void BinaryCrossEntropyWithLogits(Call& call) {
  Pointwise(call, {call.tensor(0), call.tensor(1), call.maybe_tensor(2), call.maybe_tensor(3)}, ReductionAt(call, 4),
            true, [](double x, double y, double w, double positive) {
              const double log_weight = (positive - 1) * y + 1;
              return w * ((1 - y) * x + log_weight * (std::log1p(std::exp(-std::fabs(x))) + std::max(-x, 0.0)));
            });
}

void NllForward(Call& call) {
  const Tensor self = call.tensor(0), target = call.tensor(1);
  const std::optional<Tensor> weight = call.maybe_tensor(2);
  const std::int64_t reduction = ReductionAt(call, 3), ignored = call.integer(4);
  call.CheckDType(self.dtype());
  if (self.dim() < 1 || self.dim() > 2)
    call.Fail("expected 'self' to have 1 or 2 dimensions, but its sizes are " + Print(self.sizes()));
  if (target.dtype() != DType::kInt64 && target.dtype() != DType::kUint8) {
    call.Fail("argument 'target': expected int64, but got " + std::string(Spelling(target.dtype())));
  }
  const bool batched = self.dim() == 2;
  const std::int64_t count = batched ? self.size(0) : 1, classes = self.size(-1);
  if (target.numel() != count || target.dim() > 1 || (batched && target.dim() != 1)) {
    call.Fail("argument 'target': expected " + std::to_string(count) + " elements for 'self' of sizes " +
              Print(self.sizes()) + ", but its sizes are " + Print(target.sizes()));
  }
  if (weight && (weight->dim() != 1 || weight->numel() != classes)) {
    call.Fail("argument 'weight': expected sizes [" + std::to_string(classes) + "], but got " + Print(weight->sizes()));
  }
  const Tensor out = call.PackedResult(0, reduction == kNone && batched ? IntSpan{count} : IntSpan(), self.dtype());
  const Tensor total = call.PackedResult(1, {}, self.dtype());
  if (call.meta()) return;
  const std::vector<double> x = Reals(self, self.sizes()), wanted = Reals(target, target.sizes());
  const std::vector<double> w = weight ? Reals(*weight, weight->sizes()) : std::vector<double>();
  cpu::CompensatedSum sum, weights;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto c = static_cast<std::int64_t>(wanted[static_cast<std::size_t>(i)]);
    double term = 0;
    if (c != ignored) {
      if (c < 0 || c >= classes)
        call.Fail("argument 'target': class " + std::to_string(c) + " of " + std::to_string(classes));
      const double factor = w.empty() ? 1 : w[static_cast<std::size_t>(c)];
      term = -factor * x[static_cast<std::size_t>(i * classes + c)];
      weights.Add(factor);
    }
    sum.Add(term);
    if (reduction == kNone) cpu::Store({out.data(), TypeOf(out.dtype())}, i, term);
  }
  const cpu::PackedOutput to = {out.data(), TypeOf(out.dtype())};
  if (reduction != kNone) cpu::Store(to, 0, reduction == kMean ? sum.Get() / weights.Get() : sum.Get());
  cpu::Store({total.data(), TypeOf(out.dtype())}, 0, reduction == kNone ? 0.0 : weights.Get());
}
void Nll(Call& call) {
  std::vector<Value> results =
      call.InvokeAll("aten::nll_loss_forward", {call.at(0), call.at(1), call.at(2), call.at(3), call.at(4)});
  call.Return(0, results[0].ToTensor());
}
void CrossEntropy(Call& call) {
  if (IsFloating(call.tensor(1).dtype()))
    call.Fail(ErrorClass::kUnsupported, "argument 'target': probabilities of classes");
  if (call.real(5) != 0) call.Fail(ErrorClass::kUnsupported, "argument 'label_smoothing': other than 0");
  const Tensor self = call.tensor(0);
  // Logarithms of 16 bits stay in float32 until the loss is there.
  const bool widens = self.dtype() == DType::kFloat16 || self.dtype() == DType::kBFloat16;
  const auto to = [&](const Value& t, DType dtype) {
    return Value(
        call.Invoke("aten::to.dtype", {t, Value(static_cast<int>(dtype)), Value(false), Value(false), Value::None()}));
  };
  const Value weight = widens && call.maybe_tensor(2) ? to(call.at(2), DType::kFloat32) : call.at(2);
  const Tensor logs = call.Invoke(
      "aten::log_softmax.int",
      {Value(self), Value(self.dim() == 1 ? 0 : 1), widens ? Value(static_cast<int>(DType::kFloat32)) : Value::None()});
  Value loss = Value(call.Invoke("aten::nll_loss", {Value(logs), call.at(1), weight, call.at(3), call.at(4)}));
  call.Return(0, (widens ? to(loss, self.dtype()) : loss).ToTensor());
}

constexpr NamedKernel kKernels[] = {
    {"mse_loss", &Mse},
    {"smooth_l1_loss", &SmoothL1},
    {"l1_loss", &L1, Where::kAnywhere},
    {"binary_cross_entropy", &BinaryCrossEntropy},
    {"binary_cross_entropy_with_logits", &BinaryCrossEntropyWithLogits},
    {"nll_loss_forward", &NllForward},
    {"nll_loss", &Nll, Where::kAnywhere},
    {"cross_entropy_loss", &CrossEntropy, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> LossKernels() { return kKernels; }

}  // namespace plumbline::kernels
