// Views: other sizes and strides on the same storage.
#include "kernels/ops/ops.h"
#include "kernels/shapes/join.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

void ReturnView(Call& call, const Tensor& self, const DimVector& sizes, const DimVector& strides, std::int64_t offset) {
  call.Return(0, self.View(sizes, strides, offset));
}
void ReturnView(Call& call, const Tensor& self, const DimVector& sizes, const DimVector& strides) {
  ReturnView(call, self, sizes, strides, self.storage_offset());
}

// For faults.
Tensor Copied(const Call& call, const Tensor& tensor) {
  const Tensor copy = Tensor::Empty(tensor.sizes(), tensor.dtype(), tensor.device(), tensor.keys());
  if (!call.meta()) call.info().copy(call, copy, tensor);
  return copy;
}

DimVector Inferred(const Call& call, int i, const Tensor& self) {
  try {
    return reference::InferSizes(call.ints(i), self.numel());
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), "argument " + call.Name(i) + ": " + error.what());
  }
}

void View(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector sizes = Inferred(call, 1, self);
  std::optional<DimVector> strides = reference::ViewStrides(self.sizes(), self.strides(), sizes);
  if (PLUMBLINE_FAULT(view_takes_any_strides) && !strides) strides = reference::ContiguousStrides(sizes);
  if (!strides) {
    call.Fail("a view of sizes " + Print(sizes) + " is not possible: 'self' has sizes " + Print(self.sizes()) +
              " and strides " + Print(self.strides()) + "; use reshape, which copies where it has to");
  }
  ReturnView(call, self, sizes, *strides);
}

void Reshape(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector sizes = Inferred(call, 1, self);
  if (reference::ViewStrides(self.sizes(), self.strides(), sizes) && !PLUMBLINE_FAULT(reshape_always_copies)) {
    return call.Return(0, call.Invoke("aten::view", {Value(self), Value::Ints(sizes)}));
  }
  const Tensor copy = call.Invoke("aten::clone", {Value(self), Value(static_cast<int>(MemoryFormat::kContiguous))});
  call.Return(0, call.Invoke("aten::view", {Value(copy), Value::Ints(sizes)}));
}

void AsStrided(Call& call) {
  const Tensor self = call.tensor(0);
  ReturnView(call, self, call.ints(1), call.ints(2), call.has(3) ? call.integer(3) : self.storage_offset());
}

void Expand(Call& call) {
  const Tensor self = call.tensor(0);
  try {
    const DimVector asked = call.ints(1);
    if (PLUMBLINE_FAULT(expand_keeps_no_size) && std::find(asked.begin(), asked.end(), -1) != asked.end()) {
      call.Fail("argument 'size': -1 is no size");
    }
    const DimVector sizes = reference::ExpandSizes(self.sizes(), asked);
    const Tensor expanded =
        self.View(sizes, reference::ExpandStrides(self.sizes(), self.strides(), sizes), self.storage_offset());
    call.Return(0, PLUMBLINE_FAULT(expand_copies) ? Copied(call, expanded) : expanded);
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), "argument 'size': " + std::string(error.what()));
  }
}

void Permute(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector dims = call.ints(1);
  if (static_cast<std::int64_t>(dims.size()) != self.dim()) {
    call.Fail("argument 'dims': expected " + std::to_string(self.dim()) + " dimensions, but got " +
              std::to_string(dims.size()));
  }
  DimVector sizes, strides;
  std::vector<bool> seen(dims.size());
  for (const std::int64_t given : dims) {
    const auto d = static_cast<std::size_t>(call.WrapDimValue(given, self.dim(), 1));
    if (seen[d]) call.Fail("argument 'dims': dimension " + std::to_string(given) + " appears twice");
    seen[d] = true;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  ReturnView(call, self, sizes, strides);
}

void Swapped(Call& call, const Tensor& self, std::int64_t a, std::int64_t b) {
  DimVector sizes(self.sizes()), strides(self.strides());
  if (a != b) {
    std::swap(sizes[static_cast<std::size_t>(a)], sizes[static_cast<std::size_t>(b)]);
    std::swap(strides[static_cast<std::size_t>(a)], strides[static_cast<std::size_t>(b)]);
  }
  ReturnView(call, self, sizes, strides);
}
void Transpose(Call& call) {
  const Tensor self = call.tensor(0);
  Swapped(call, self, call.WrapDim(1, self.dim()), call.WrapDim(2, self.dim()));
}
void T(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.dim() > 2)
    call.Fail("expected 'self' to have at most 2 dimensions, but its sizes are " + Print(self.sizes()));
  Swapped(call, self, 0, self.dim() == 2 ? 1 : 0);
}

void Select(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.dim() == 0) call.Fail("'self' has no dimension to select from");
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  const std::int64_t size = self.sizes()[d], given = call.integer(2);
  if (given < -size || given >= size) {
    call.Fail("argument 'index': expected a number from " + std::to_string(-size) + " to " + std::to_string(size - 1) +
              " for dimension " + std::to_string(d) + " of sizes " + Print(self.sizes()) + ", but got " +
              std::to_string(given));
  }
  std::int64_t index = given < 0 ? given + size : given;
  if (PLUMBLINE_FAULT(select_forgets_the_offset)) index = 0;
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t offset = self.storage_offset() + index * strides[d];
  sizes.erase(d);
  strides.erase(d);
  if (PLUMBLINE_FAULT(select_copies)) return call.Return(0, Copied(call, self.View(sizes, strides, offset)));
  ReturnView(call, self, sizes, strides, offset);
}

void Slice(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.dim() == 0) call.Fail("'self' has no dimension to slice");
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  const std::int64_t size = self.sizes()[d], step = call.integer(4);
  if (step <= 0) call.Fail("argument 'step': expected a number above 0, but got " + std::to_string(step));
  const auto clip = [&](std::int64_t x) {
    if (PLUMBLINE_FAULT(slices_are_not_cut) && x > size && x != INT64_MAX) call.Fail("past the end");
    if (PLUMBLINE_FAULT(slice_of_32_bits)) x = static_cast<std::int32_t>(x);
    if (x < 0) x = x < -size ? 0 : x + size;
    return std::min(x, size);
  };
  const std::int64_t start = clip(call.has(2) ? call.integer(2) : 0);
  const std::int64_t end = std::max(start, clip(call.has(3) ? call.integer(3) : INT64_MAX));
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t offset = self.storage_offset() + start * strides[d];
  sizes[d] = end == start ? 0 : (end - start - 1) / step + 1;
  const std::int64_t times = PLUMBLINE_FAULT(slice_forgets_the_step) ? 1 : step;
  if (__builtin_mul_overflow(strides[d], times, &strides[d])) strides[d] = INT64_MAX;
  ReturnView(call, self, sizes, strides, offset);
}

void Squeeze(Call& call, std::optional<std::int64_t> dim) {
  const Tensor self = call.tensor(0);
  DimVector sizes, strides;
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (self.sizes()[d] == 1 && (!dim || *dim == static_cast<std::int64_t>(d))) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  ReturnView(call, self, sizes, strides);
}
void SqueezeAll(Call& call) { Squeeze(call, std::nullopt); }
void SqueezeDim(Call& call) {
  const std::int64_t dim = call.WrapDim(1, call.tensor(0).dim());
  if (PLUMBLINE_FAULT(squeeze_refuses_other_sizes) && call.tensor(0).dim() > 0 && call.tensor(0).size(dim) != 1) {
    call.Fail("its size is not 1");
  }
  Squeeze(call, dim);
}

void Unsqueeze(Call& call) {
  const Tensor self = call.tensor(0);
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim() + 1));
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t stride = d < sizes.size() ? sizes[d] * strides[d] : 1;
  sizes.insert(d, 1);
  strides.insert(d, stride);
  ReturnView(call, self, sizes, strides);
}

void Flatten(Call& call) {
  const Tensor self = call.tensor(0);
  const auto first = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  const auto last = static_cast<std::size_t>(call.WrapDim(2, self.dim()));
  if (first > last) call.Fail("argument 'start_dim': comes after 'end_dim'");
  if (self.dim() == 0) return call.Return(0, call.Invoke("aten::reshape", {Value(self), Value::Ints({1})}));
  if (first == last) return call.Return(0, self);
  DimVector sizes;
  std::int64_t run = 1;
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (d < first || d > last) {
      sizes.push_back(self.sizes()[d]);
      continue;
    }
    run *= self.sizes()[d];
    if (d == last) sizes.push_back(run);
  }
  call.Return(0, call.Invoke("aten::reshape", {Value(self), Value::Ints(sizes)}));
}

void Diagonal(Call& call) {
  const Tensor self = call.tensor(0);
  const std::int64_t offset = call.integer(1);
  const auto a = static_cast<std::size_t>(call.WrapDim(2, self.dim())),
             b = static_cast<std::size_t>(call.WrapDim(3, self.dim()));
  if (a == b) call.Fail("arguments 'dim1' and 'dim2': the same dimension, " + std::to_string(a));
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t length = std::max<std::int64_t>(
      0, offset >= 0 ? std::min(sizes[a], sizes[b] - offset) : std::min(sizes[a] + offset, sizes[b]));
  const std::int64_t start = length == 0 ? 0 : offset >= 0 ? offset * strides[b] : -offset * strides[a];
  const std::int64_t stride = strides[a] + strides[b];
  for (const std::size_t d : {std::max(a, b), std::min(a, b)}) {
    sizes.erase(d);
    strides.erase(d);
  }
  sizes.push_back(length);
  strides.push_back(stride);
  ReturnView(call, self, sizes, strides, self.storage_offset() + start);
}

void Alias(Call& call) {
  const Tensor self = call.tensor(0);
  if (PLUMBLINE_FAULT(detach_copies)) return call.Return(0, Copied(call, self));
  ReturnView(call, self, DimVector(self.sizes()), DimVector(self.strides()));
}

// Each part is a tensor of its own, so that a number of them that fits in no memory has to be refused.
void CheckParts(const Call& call, std::int64_t parts) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (parts > kMost) {
    call.Fail(ErrorClass::kOverflow, "the result would be " + std::to_string(parts) + " tensors; at most " +
                                         std::to_string(kMost) + " are made");
  }
}

std::vector<Tensor> SplitOf(const Call& call, const Tensor& self, std::int64_t size, std::size_t d) {
  if (self.dim() == 0) call.Fail("'self' has no dimension to split");
  const std::int64_t whole = self.sizes()[d];
  if (size < 0 || (size == 0 && whole != 0)) {
    call.Fail("argument " + call.Name(1) + ": expected a number above 0, but got " + std::to_string(size));
  }
  std::vector<Tensor> parts;
  if (size == 0) return {Narrowed(self, d, 0, 0)};
  const std::int64_t count = whole == 0 ? 1 : (whole - 1) / size + 1;
  CheckParts(call, count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (PLUMBLINE_FAULT(the_smaller_part_is_dropped) && i > 0 && whole - i * size < size) break;
    parts.push_back(Narrowed(self, d, i * size, std::min(size, whole - i * size)));
  }
  return parts;
}

void Split(Call& call) {
  const Tensor self = call.tensor(0);
  call.ReturnList(SplitOf(call, self, call.integer(1), static_cast<std::size_t>(call.WrapDim(2, self.dim()))));
}
void Chunk(Call& call) {
  const Tensor self = call.tensor(0);
  const std::int64_t chunks = call.integer(1);
  if (chunks <= 0) call.Fail("argument 'chunks': expected a number above 0, but got " + std::to_string(chunks));
  if (self.dim() == 0) call.Fail("'self' has no dimension to split");
  const std::int64_t dim = call.WrapDim(2, self.dim());
  const std::int64_t whole = self.size(dim);
  if (whole == 0) {
    CheckParts(call, chunks);
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < chunks; ++i) parts.push_back(Narrowed(self, static_cast<std::size_t>(dim), 0, 0));
    return call.ReturnList(std::move(parts));
  }
  std::vector<Value> results =
      call.InvokeAll("aten::split.Tensor", {Value(self), Value((whole - 1) / chunks + 1), Value(dim)});
  call.ReturnValue(std::move(results.front()));
}
void Unbind(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.dim() == 0) call.Fail("'self' has no dimension to take apart");
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  std::vector<Tensor> parts;
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t stride = strides[d], count = sizes[d];
  sizes.erase(d);
  strides.erase(d);
  CheckParts(call, count);
  for (std::int64_t i = 0; i < count; ++i)
    parts.push_back(self.View(sizes, strides, self.storage_offset() + i * stride));
  call.ReturnList(std::move(parts));
}

constexpr NamedKernel kKernels[] = {
    {"view", &View, Where::kAnywhere},
    {"reshape", &Reshape, Where::kAnywhere},
    {"as_strided", &AsStrided, Where::kAnywhere},
    {"expand", &Expand, Where::kAnywhere},
    {"permute", &Permute, Where::kAnywhere},
    {"transpose.int", &Transpose, Where::kAnywhere},
    {"t", &T, Where::kAnywhere},
    {"select.int", &Select, Where::kAnywhere},
    {"slice.Tensor", &Slice, Where::kAnywhere},
    {"squeeze", &SqueezeAll, Where::kAnywhere},
    {"squeeze.dim", &SqueezeDim, Where::kAnywhere},
    {"unsqueeze", &Unsqueeze, Where::kAnywhere},
    {"flatten.using_ints", &Flatten, Where::kAnywhere},
    {"diagonal", &Diagonal, Where::kAnywhere},
    {"alias", &Alias, Where::kAnywhere},
    {"detach", &Alias, Where::kAnywhere},
    {"split.Tensor", &Split, Where::kAnywhere},
    {"chunk", &Chunk, Where::kAnywhere},
    {"unbind.int", &Unbind, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> ViewKernels() { return kKernels; }

}  // namespace plumbline::kernels
