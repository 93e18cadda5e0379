// Views and what is written through them: all that share elements see each other's writes, and so must their gradients.
//
//   MarkAsView(v, x);                    // v = x.view(...): in an operator's autograd kernel
//   CheckInPlace(v, true, "add_");       // before it is written
//   RebaseHistory(v, node);              // after: node is what wrote it
//
// A view knows its base, the tensor at the root of all views of views. When a view is written, it is the base that gets
// a new history: a node, CopySlices, that passes the gradient of all that was not written on to what the base was
// before, and that of what was written through the node that wrote it. The histories of the views follow: each is made
// anew, as a window on its base, when it is next asked for and the version has moved since. What is not a view just
// goes on from the node that wrote it.
//
// A view from which that cannot be done is not to be written with grad mode on: CheckInPlace is kInvalidArgument, and
// says why. If its base was written instead, the same is said when the view's history is asked for.
//
// Threads: as variable.h. A view's history may be asked for by many threads at once.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_VIEW_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_VIEW_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "reference/autograd/node.h"
#include "reference/tensor/dims.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {

// Why a view cannot be written with a record; the later ones are stricter.
enum class ViewNote : std::uint8_t {
  kPlain,         // it can
  kInNoGrad,      // it was made with grad mode off, so that nothing is known of how
  kOneOfSeveral,  // its operator gave several views at once
  kOfCustom,      // it is an input that a custom function gave back, or was made in one
};

// Where a tensor's elements lie in their storage.
struct Window {
  static Window Of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides(), tensor.storage_offset()}; }
  DimVector sizes, strides;
  std::int64_t offset;
};

struct ViewInfo {
  const Tensor base;
  const ViewNote note;
  std::atomic<std::uint64_t> version;  // at which the history of the view is right
};

// A view of a view is one of the other's base, and as strict as the stricter of the two.
void MarkAsView(const Tensor& view, const Tensor& of, ViewNote note = ViewNote::kPlain);
bool IsView(const Tensor& tensor);
Tensor BaseOf(const Tensor& view);  // itself, if it is none

// Before a tensor is written in place; `records`: something that goes into it requires a gradient, or it does itself.
void CheckInPlace(const Tensor& written, bool records, std::string_view op);

// After: the tensor is what the node gave. The node has its edge for what was written first, to EdgeBefore(written).
void RebaseHistory(const Tensor& written, NodeRef node);
// Where the gradient of what a tensor was goes, for the node that writes it: of a view, that of its base.
Edge EdgeBefore(const Tensor& written);

// Makes the history of a view anew where it is out of date.
void RefreshHistory(const Tensor& view);

// The result of the node, which wrote a view, with its history; `detached` has the view's elements.
Tensor WithHistoryOfWritten(Node& node, const Tensor& detached);
// Whether the tensor is what that node left in a view.
bool IsWrittenBy(const Tensor& view, const Node* node);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_VIEW_H_
