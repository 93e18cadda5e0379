#include "reference/autograd/variable.h"

#include <array>
#include <mutex>
#include <string>

#include "reference/autograd/accumulate.h"
#include "reference/autograd/view.h"
#include "reference/keys/error.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"

namespace plumbline::reference {
namespace {

// Guards the accumulators of the tensors that fall to it. Nothing else is locked while one is held.
ForkMutex& AccumulatorMutex(const AutogradMeta* meta) {
  struct Mutexes {
    std::array<ForkMutex, 8> all{ForkMutex(ForkRank::kTensors), ForkMutex(ForkRank::kTensors),
                                 ForkMutex(ForkRank::kTensors), ForkMutex(ForkRank::kTensors),
                                 ForkMutex(ForkRank::kTensors), ForkMutex(ForkRank::kTensors),
                                 ForkMutex(ForkRank::kTensors), ForkMutex(ForkRank::kTensors)};
  };
  static constinit std::atomic<Mutexes*> made_once{nullptr};
  Mutexes& mutexes = MakeOnce(made_once, [] { return new Mutexes; });
  return mutexes.all[(reinterpret_cast<std::uintptr_t>(meta) >> 6) % mutexes.all.size()];
}

std::string SizesText(const Tensor& tensor) { return Print(tensor.sizes()); }

}  // namespace

AutogradMeta::AutogradMeta() = default;
AutogradMeta::~AutogradMeta() = default;

std::unique_lock<ForkMutex> LockMeta(const AutogradMeta* meta) { return std::unique_lock(AccumulatorMutex(meta)); }

AutogradMeta* MetaOf(const Tensor& tensor) { return static_cast<AutogradMeta*>(tensor.object().slot().get()); }

AutogradMeta& MakeMeta(const Tensor& tensor) {
  if (!tensor.defined()) Throw(ErrorClass::kInvalidArgument, "an undefined tensor has no gradient and no history");
  std::unique_ptr<TensorSlot>& slot = tensor.object().slot();
  if (slot == nullptr) slot = std::make_unique<AutogradMeta>();
  return static_cast<AutogradMeta&>(*slot);
}

bool RequiresGrad(const Tensor& tensor) {
  const AutogradMeta* const meta = MetaOf(tensor);
  if (meta == nullptr) return false;
  return meta->requires_grad || meta->grad_fn || (meta->view != nullptr && RequiresGrad(meta->view->base));
}

void SetRequiresGrad(const Tensor& tensor, bool requires_grad) {
  if (!IsLeaf(tensor)) {
    if (requires_grad) return;
    Throw(ErrorClass::kInvalidArgument, "requires_grad cannot be switched off for a result (it comes from " +
                                            std::string(MetaOf(tensor)->grad_fn->name()) +
                                            "); detach it, and use the detached tensor");
  }
  if (requires_grad && !IsFloating(tensor.dtype())) {
    Throw(ErrorClass::kInvalidArgument, "only tensors of floating numbers can require a gradient; this one is " +
                                            std::string(Spelling(tensor.dtype())));
  }
  if (requires_grad || MetaOf(tensor) != nullptr) MakeMeta(tensor).requires_grad = requires_grad;
}

bool IsLeaf(const Tensor& tensor) {
  RefreshHistory(tensor);
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta == nullptr || !meta->grad_fn;
}

NodeRef GradFn(const Tensor& tensor) {
  RefreshHistory(tensor);
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta == nullptr ? NodeRef() : meta->grad_fn;
}

std::uint32_t OutputNumber(const Tensor& tensor) {
  RefreshHistory(tensor);
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta == nullptr ? 0 : meta->output;
}

Edge EdgeOf(const Tensor& tensor) {
  AutogradMeta* const meta = MetaOf(tensor);
  if (meta == nullptr) return Edge();
  if (meta->view != nullptr) RefreshHistory(tensor);
  if (meta->grad_fn) return {meta->grad_fn, meta->output};
  if (!meta->requires_grad) return Edge();
  const std::lock_guard lock(AccumulatorMutex(meta));
  if (meta->accumulator != nullptr) {
    if (NodeRef shared = NodeRef::TryShare(meta->accumulator)) return {std::move(shared), 0};
  }
  NodeRef made = MakeNode<AccumulateGrad>(tensor);
  meta->accumulator = made.get();
  return {std::move(made), 0};
}

void ForgetAccumulator(const Tensor& leaf, const Node* accumulator) {
  AutogradMeta* const meta = MetaOf(leaf);
  const std::lock_guard lock(AccumulatorMutex(meta));
  if (meta->accumulator == accumulator) meta->accumulator = nullptr;  // else there is a newer one
}

void SetHistory(const Tensor& result, NodeRef node) {
  AutogradMeta& meta = MakeMeta(result);
  const std::uint32_t output = node->AddInput(result);
  if (meta.retains_grad && meta.grad_fn && meta.grad_fn->hooks() != nullptr) {
    std::vector<NodeHooks::Retained>& retained = meta.grad_fn->hooks()->retained;
    std::erase_if(retained, [&](const NodeHooks::Retained& one) { return one.gradient == meta.gradient; });
    node->MakeHooks().retained.push_back({output, meta.gradient});
  }
  meta.output = output;
  meta.grad_fn = std::move(node);
}

Gradient Grad(const Tensor& tensor) {
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta == nullptr || meta->gradient == nullptr ? Gradient() : meta->gradient->gradient;
}

void SetGrad(const Tensor& tensor, Gradient gradient) {
  if (gradient.defined()) {
    const Tensor& given = gradient.tensor();
    const auto refuse = [](const std::string& why) {
      Throw(ErrorClass::kInvalidArgument, "a gradient cannot be set: " + why);
    };
    if (given.is_same(tensor)) refuse("it is the tensor itself");
    if (given.dtype() != tensor.dtype()) {
      refuse("it is " + std::string(Spelling(given.dtype())) + ", the tensor " + std::string(Spelling(tensor.dtype())));
    }
    if (given.device() != tensor.device()) refuse("it is on another device than the tensor");
    if (!std::equal(given.sizes().begin(), given.sizes().end(), tensor.sizes().begin(), tensor.sizes().end())) {
      refuse("its sizes are " + SizesText(given) + ", those of the tensor " + SizesText(tensor));
    }
  }
  AutogradMeta& meta = MakeMeta(tensor);
  if (meta.gradient == nullptr) meta.gradient = std::make_shared<GradientCell>();
  meta.gradient->gradient = std::move(gradient);
}

void RetainGrad(const Tensor& tensor) {
  if (!RequiresGrad(tensor)) {
    Throw(ErrorClass::kInvalidArgument, "a tensor that requires no gradient cannot retain one");
  }
  AutogradMeta& meta = *MetaOf(tensor);
  if (!meta.grad_fn || meta.retains_grad) return;
  meta.retains_grad = true;
  if (meta.gradient == nullptr) meta.gradient = std::make_shared<GradientCell>();
  meta.grad_fn->MakeHooks().retained.push_back({meta.output, meta.gradient});
}

bool RetainsGrad(const Tensor& tensor) {
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta != nullptr && meta->retains_grad;
}

std::size_t AddTensorHook(const Tensor& tensor, NodeHooks::OnGradient hook) {
  if (!RequiresGrad(tensor)) {
    Throw(ErrorClass::kInvalidArgument, "a hook has to be on a tensor that requires a gradient");
  }
  AutogradMeta& meta = *MetaOf(tensor);
  if (meta.grad_fn) {
    auto& hooks = meta.grad_fn->MakeHooks().tensor_hooks;
    hooks.push_back({meta.output, std::move(hook)});
    return hooks.size() - 1;
  }
  if (meta.leaf_hooks == nullptr) meta.leaf_hooks = std::make_unique<std::vector<NodeHooks::OnGradient>>();
  meta.leaf_hooks->push_back(std::move(hook));
  return meta.leaf_hooks->size() - 1;
}

void RemoveTensorHook(const Tensor& tensor, std::size_t number) {
  AutogradMeta* const meta = MetaOf(tensor);
  NodeHooks::OnGradient* found = nullptr;
  if (meta != nullptr && meta->grad_fn && meta->grad_fn->hooks() != nullptr) {
    auto& hooks = meta->grad_fn->hooks()->tensor_hooks;
    if (number < hooks.size() && hooks[number].input == meta->output) found = &hooks[number].function;
  } else if (meta != nullptr && !meta->grad_fn && meta->leaf_hooks != nullptr && number < meta->leaf_hooks->size()) {
    found = &(*meta->leaf_hooks)[number];
  }
  if (found == nullptr) {
    Throw(ErrorClass::kInvalidArgument, "the tensor has no hook number " + std::to_string(number));
  }
  *found = nullptr;  // the numbers of the others stay
}

Tensor Detached(const Tensor& tensor) { return tensor.View(tensor.sizes(), tensor.strides(), tensor.storage_offset()); }

}  // namespace plumbline::reference
