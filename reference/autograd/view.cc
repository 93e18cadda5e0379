#include "reference/autograd/view.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reference/autograd/backward_pass.h"
#include "reference/autograd/grad_mode.h"
#include "reference/autograd/saved_tensor.h"
#include "reference/autograd/variable.h"
#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

const Arithmetic& OfPass() { return autograd_state.pass->arithmetic(); }

// A view as a window on its base.
class AsStrided final : public Node {
 public:
  AsStrided(Window base, Window view) : base_(std::move(base)), view_(std::move(view)) {}
  std::string_view name() const override { return "AsStridedBackward"; }
  void Apply(Gradients& in, Gradients& out) override {
    if (in[0].defined()) out[0] = Gradient(OfPass().FromWindow(in[0].tensor(), view_, base_));
  }

 private:
  const Window base_, view_;
};

// A base after a view of it was written.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, NodeRef writer)
      : base_(Window::Of(base)), view_(Window::Of(view)), writer_(std::move(writer)) {
    for (const Edge& edge : writer_->edges()) AddEdge(edge);
    writer_->AddInput(view);
    writer_->set_slices(this);
  }
  ~CopySlices() override { writer_->set_slices(nullptr); }

  std::string_view name() const override { return "CopySlices"; }
  const Window& base() const { return base_; }
  const Window& view() const { return view_; }

  void Apply(Gradients& in, Gradients& out) override {
    if (freed_.load(std::memory_order_acquire)) ThrowGraphFreed(*this);
    if (!in[0].defined()) return;
    const Arithmetic& arithmetic = OfPass();
    const Tensor whole = arithmetic.Copy(in[0].tensor(), base_.strides);
    const Tensor part = arithmetic.InWindow(whole, view_.sizes, view_.strides, view_.offset - base_.offset);
    Gradients of_writer(1), given(writer_->edges().size());
    of_writer[0] = Gradient(arithmetic.Copy(part, ContiguousStrides(view_.sizes)));
    writer_->Apply(of_writer, given);
    for (std::size_t i = 1; i < given.size(); ++i) out[i] = std::move(given[i]);
    if (!edges()[0]) return;
    const Tensor before =
        given[0].defined() ? given[0].tensor() : arithmetic.Zeros(view_.sizes, part.dtype(), part.device());
    arithmetic.CopyInto(part, before);
    out[0] = Gradient(whole);
  }
  // What the writer would still need is freed, whether it saved anything or not.
  void ReleaseSaved() override {
    freed_.store(true, std::memory_order_release);
    writer_->ReleaseSaved();
  }

 private:
  const Window base_, view_;
  const NodeRef writer_;
  std::atomic<bool> freed_{false};
};

NodeRef WindowOn(const Window& base, const Tensor& view, Edge edge) {
  NodeRef node = MakeNode<AsStrided>(base, Window::Of(view));
  node->AddEdge(std::move(edge));
  node->AddInput(view);
  return node;
}

[[noreturn]] void RefuseWrite(const ViewInfo& view, std::string_view what) {
  std::string why;
  switch (view.note) {
    case ViewNote::kInNoGrad:
      why =
          "was made with grad mode off, so that it has no history of its own; make it with grad mode on, or write it "
          "with grad mode off";
      break;
    case ViewNote::kOneOfSeveral:
      why = "is one of several views that one operator gave; use an operator that gives one, or clone it first";
      break;
    default:
      why = "was given back or made by a custom function; clone it first";
  }
  Throw(ErrorClass::kInvalidArgument, std::string(what) + ": the view " + why);
}

}  // namespace

void MarkAsView(const Tensor& view, const Tensor& of, ViewNote note) {
  const AutogradMeta* const above = MetaOf(of);
  const ViewInfo* const outer = above != nullptr ? above->view.get() : nullptr;
  MakeMeta(view).view.reset(new ViewInfo{outer != nullptr ? outer->base : of,
                                         outer != nullptr ? std::max(outer->note, note) : note, view.version()});
}

bool IsView(const Tensor& tensor) {
  const AutogradMeta* const meta = MetaOf(tensor);
  return meta != nullptr && meta->view != nullptr;
}

Tensor BaseOf(const Tensor& view) { return IsView(view) ? MetaOf(view)->view->base : view; }

void CheckInPlace(const Tensor& written, bool records, std::string_view op) {
  if (!GradMode::IsOn()) return;
  const AutogradMeta* const meta = MetaOf(written);
  if (meta == nullptr) return;
  const auto refuse = [&](const char* what) {
    Throw(ErrorClass::kInvalidArgument, std::string(op) + ": " + what +
                                            " that requires a gradient is written in place; do it with grad mode off, "
                                            "or to a result of it");
  };
  if (RequiresGrad(written) && IsLeaf(written) && (meta->requires_grad || meta->view == nullptr)) refuse("a leaf");
  if (meta->view == nullptr) return;
  const ViewInfo& view = *meta->view;
  if (RequiresGrad(view.base) && IsLeaf(view.base)) refuse("a view of a leaf");
  if (records && view.note != ViewNote::kPlain) RefuseWrite(view, op);
}

Edge EdgeBefore(const Tensor& written) { return EdgeOf(BaseOf(written)); }

void RebaseHistory(const Tensor& written, NodeRef node) {
  if (!IsView(written)) {
    SetHistory(written, std::move(node));
    return;
  }
  const Tensor base = BaseOf(written);
  SetHistory(base, MakeNode<CopySlices>(base, written, std::move(node)));
}

void RefreshHistory(const Tensor& tensor) {
  AutogradMeta* const meta = MetaOf(tensor);
  if (meta == nullptr || meta->view == nullptr) return;
  ViewInfo& view = *meta->view;
  const std::uint64_t version = tensor.version();
  if (view.version.load(std::memory_order_acquire) == version) return;
  const bool required = RequiresGrad(view.base);
  if (!required) {
    const auto lock = LockMeta(meta);
    if (!meta->grad_fn) return;  // no node is made for nothing
  }
  if (view.note != ViewNote::kPlain && required) {
    RefuseWrite(view, "the base of a view was written in place, and the history of the view is asked for");
  }
  // The base's edge has a lock of its own.
  NodeRef made = WindowOn(Window::Of(view.base), tensor, EdgeOf(view.base));
  const auto lock = LockMeta(meta);
  if (view.version.load(std::memory_order_relaxed) == version) return;
  std::swap(meta->grad_fn, made);
  meta->output = 0;
  view.version.store(version, std::memory_order_release);
}

bool IsWrittenBy(const Tensor& view, const Node* node) {
  if (!IsView(view) || node->slices() == nullptr) return false;
  return GradFn(BaseOf(view)).get() == node->slices();
}

Tensor WithHistoryOfWritten(Node& node, const Tensor& detached) {
  const auto& slices = static_cast<const CopySlices&>(*node.slices());
  Tensor attached = Detached(detached);
  AutogradMeta& meta = MakeMeta(attached);
  meta.grad_fn = WindowOn(slices.base(), detached, {NodeRef::TryShare(node.slices()), 0});
  return attached;
}

}  // namespace plumbline::reference
