#include "reference/autograd/accumulate.h"

#include <string>
#include <utility>

#include "reference/autograd/backward_pass.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/variable.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

bool SameStrides(const Tensor& tensor, IntSpan strides) {
  const IntSpan sizes = tensor.sizes(), own = tensor.strides();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && own[d] != strides[d]) return false;
  }
  return true;
}

}  // namespace

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : Node(kLast), leaf_(leaf) { AddInput(leaf); }

AccumulateGrad::~AccumulateGrad() { ForgetAccumulator(leaf_, this); }

void AccumulateGrad::Apply(Gradients& in, Gradients&) {
  if (autograd_state.pass == nullptr) {
    Throw(ErrorClass::kInvalidArgument, "AccumulateGrad runs in a backward pass only");
  }
  Accumulate(autograd_state.pass->arithmetic(), std::move(in[0]));
}

void AccumulateGrad::Accumulate(const Arithmetic& arithmetic, Gradient gradient) {
  AutogradMeta& meta = *MetaOf(leaf_);
  if (meta.grad_fn) {
    Throw(ErrorClass::kInternal, "a leaf has become a result of " + std::string(meta.grad_fn->name()) +
                                     " since it was used, by an operation in place; its gradient has nowhere to go");
  }
  if (!meta.requires_grad || !gradient.defined()) return;
  if (meta.leaf_hooks != nullptr) {
    for (const NodeHooks::OnGradient& hook : *meta.leaf_hooks) RunTensorHook(hook, gradient, "a leaf's");
  }
  if (!gradient.defined()) return;
  const std::lock_guard lock(mutex_);
  if (meta.gradient == nullptr) meta.gradient = std::make_shared<GradientCell>();
  Gradient& sum = meta.gradient->gradient;
  if (sum.defined()) {
    if (GradMode::IsOn()) {
      sum = Gradient(arithmetic.Add(sum.tensor(), gradient.tensor()));
    } else {
      arithmetic.AddTo(sum.tensor(), gradient.tensor());
    }
    return;
  }
  const bool like_leaf = NonOverlappingAndDense(leaf_.sizes(), leaf_.strides());
  const DimVector strides = like_leaf ? DimVector(leaf_.strides()) : ContiguousStrides(leaf_.sizes());
  const Tensor& arrived = gradient.tensor();
  const bool fits = SameStrides(arrived, strides);
  if (GradMode::IsOn()) {
    sum = fits ? std::move(gradient) : Gradient(arithmetic.Copy(arrived, strides));
    return;
  }
  const bool alone = arrived.use_count() == 1 && arrived.storage().use_count() == 1;
  sum = fits && alone ? std::move(gradient) : Gradient(arithmetic.Copy(arrived, strides));
  if (MetaOf(sum.tensor()) != nullptr) sum = Gradient(Detached(sum.tensor()));
}

}  // namespace plumbline::reference
