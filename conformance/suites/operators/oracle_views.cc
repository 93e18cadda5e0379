#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"

namespace plumbline::suites {
namespace {

// What a view shows: self's memory by another layout.
Expected Viewed(HostTensor view) {
  ExpectedTensor out = Copied(view);
  out.shares_with = 0;
  out.strides = std::move(view.strides);
  return Only(std::move(out));
}

Sizes IntsOf(const Argument& list) {
  Sizes values;
  for (const Argument& item : list.items) values.push_back(item.integer);
  return values;
}

// Sizes of which one may be -1: as many as are left.
std::optional<Sizes> Inferred(Sizes sizes, std::int64_t numel) {
  std::int64_t known = 1, unknown = -1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      if (unknown >= 0) return std::nullopt;
      unknown = static_cast<std::int64_t>(d);
    } else if (sizes[d] < 0) {
      return std::nullopt;
    } else {
      known *= sizes[d];
    }
  }
  if (unknown >= 0) {
    if (known == 0 || numel % known != 0) return std::nullopt;
    sizes[static_cast<std::size_t>(unknown)] = numel / known;
  } else if (known != numel) {
    return std::nullopt;
  }
  return sizes;
}

// The strides by which the same memory has the new sizes; empty: there are none. Runs of dimensions that lie behind one
// another are cut anew.
std::optional<Sizes> StridesFor(const HostTensor& tensor, const Sizes& sizes) {
  if (tensor.numel() == 0) return tensor.sizes == sizes ? tensor.strides : ContiguousStrides(sizes);
  Sizes strides(sizes.size(), 1);
  std::size_t at = sizes.size(), d = tensor.sizes.size();
  std::int64_t run = 1, base = 1;
  if (d == 0) return Sizes(sizes.size(), 1);
  base = tensor.strides[d - 1];
  for (std::size_t i = d; i-- > 0;) {
    run *= tensor.sizes[i];
    const bool ends = i == 0 || (tensor.sizes[i - 1] != 1 && tensor.strides[i - 1] != run * base);
    if (!ends) continue;
    std::int64_t covered = 1;
    while (at > 0 && (covered < run || sizes[at - 1] == 1)) {
      --at;
      strides[at] = covered * base;
      covered *= sizes[at];
    }
    if (covered != run) return std::nullopt;
    if (i > 0) base = tensor.strides[i - 1];
    run = 1;
  }
  return at == 0 ? std::optional(strides) : std::nullopt;
}

Expected Reshape(const HostTensor& self, const Sizes& wanted, bool or_copy) {
  const std::optional<Sizes> sizes = Inferred(wanted, self.numel());
  if (!sizes) return Refused("the elements do not fill those sizes");  // [TENS-032] [TENS-036]
  const std::optional<Sizes> strides = StridesFor(self, *sizes);
  if (strides) {
    HostTensor view = self;
    view.sizes = *sizes;
    view.strides = *strides;
    return Viewed(std::move(view));
  }
  if (!or_copy) return Refused("the strides do not allow it");  // [TENS-032] [TENS-033]
  ExpectedTensor out = Copied(self);
  out.sizes = *sizes;
  out.strides = ContiguousStrides(*sizes);
  return Only(std::move(out));
}

Expected AsStrided(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  view.sizes = IntsOf(call.arguments[1]);
  view.strides = IntsOf(call.arguments[2]);
  if (call.arguments[3].kind == PL_INT) view.offset = call.arguments[3].integer;
  if (view.sizes.size() != view.strides.size()) return Refused("sizes and strides differ in number");
  std::int64_t last = view.offset;
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    if (view.sizes[d] < 0 || view.strides[d] < 0) return Refused("a size or stride is negative");  // [TENS-010]
    last += (view.sizes[d] - 1) * view.strides[d];
  }
  if (view.offset < 0) return Refused("the offset is negative");
  if (view.numel() > 0 && last >= view.elements())
    return Refused("an element would lie outside of the storage");  // [TENS-035]
  return Viewed(std::move(view));
}

Expected Expand(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  const Sizes wanted = IntsOf(call.arguments[1]);
  if (wanted.size() < view.sizes.size()) return Refused("there are fewer sizes than dimensions");
  const std::size_t more = wanted.size() - view.sizes.size();
  Sizes sizes, strides;
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    const bool is_new = d < more;
    const std::int64_t size = is_new ? 1 : view.sizes[d - more];
    if (wanted[d] < -1 || (wanted[d] == -1 && is_new)) return Refused("a size is negative");
    const std::int64_t due = wanted[d] == -1 ? size : wanted[d];
    if (due != size && size != 1) return Refused("a size that is not 1 does not expand");
    sizes.push_back(due);
    strides.push_back(is_new || due != size ? 0 : view.strides[d - more]);
  }
  view.sizes = std::move(sizes);
  view.strides = std::move(strides);
  return Viewed(std::move(view));
}

Expected Permute(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  const HostTensor self = view;
  const std::vector<Argument>& dims = call.arguments[1].items;
  if (dims.size() != self.sizes.size()) return Refused("there is not one number for each dimension");
  std::vector<bool> seen(dims.size(), false);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto from = DimensionOf(dims[d], dims.size());
    if (!from) return Refused("a dimension is out of range");
    if (seen[*from]) return Refused("a dimension is given twice");
    seen[*from] = true;
    view.sizes[d] = self.sizes[*from];
    view.strides[d] = self.strides[*from];
  }
  return Viewed(std::move(view));
}

Expected Transpose(HostTensor view, const Argument& a, const Argument& b) {
  const auto first = DimensionOf(a, view.sizes.size()), second = DimensionOf(b, view.sizes.size());
  if (!first || !second) return Refused("a dimension is out of range");
  if (!view.sizes.empty()) {
    std::swap(view.sizes[*first], view.sizes[*second]);
    std::swap(view.strides[*first], view.strides[*second]);
  }
  return Viewed(std::move(view));
}

void Drop(HostTensor& view, std::size_t d) {
  view.sizes.erase(view.sizes.begin() + static_cast<std::ptrdiff_t>(d));
  view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(d));
}

Expected Select(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  if (view.sizes.empty()) return Refused("a scalar has no dimension to select of");
  const auto d = DimensionOf(call.arguments[1], view.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  std::int64_t index = call.arguments[2].integer;
  if (index < -view.sizes[*d] || index >= view.sizes[*d]) return Refused("the index is out of range");
  if (index < 0) index += view.sizes[*d];
  view.offset += index * view.strides[*d];
  Drop(view, *d);
  return Viewed(std::move(view));
}

Expected Slice(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  if (view.sizes.empty()) return Refused("a scalar has no dimension to slice");
  const auto d = DimensionOf(call.arguments[1], view.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  const std::int64_t size = view.sizes[*d], step = call.arguments[4].integer;
  if (step <= 0) return Refused("the step is below 1");
  const auto bound = [&](const Argument& given, std::int64_t otherwise) {
    const std::int64_t at = given.kind == PL_INT ? given.integer : otherwise;
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t start = bound(call.arguments[2], 0), end = std::max(bound(call.arguments[3], size), start);
  view.offset += start * view.strides[*d];
  view.sizes[*d] = end == start ? 0 : (end - start - 1) / step + 1;
  if (view.sizes[*d] > 1) view.strides[*d] *= step;  // of one element it does not matter
  return Viewed(std::move(view));
}

Expected Squeeze(const OperatorCall& call, bool all) {
  HostTensor view = call.arguments[0].tensor;
  const auto one = all ? std::nullopt : DimensionOf(call.arguments[1], view.sizes.size());
  if (!all && !one) return Refused("a dimension is out of range");
  for (std::size_t d = view.sizes.size(); d-- > 0;) {
    if ((all || d == *one) && view.sizes[d] == 1) Drop(view, d);
  }
  return Viewed(std::move(view));
}

Expected Unsqueeze(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  const auto d = DimensionOf(call.arguments[1], view.sizes.size() + 1);
  if (!d) return Refused("a dimension is out of range");
  view.sizes.insert(view.sizes.begin() + static_cast<std::ptrdiff_t>(*d), 1);
  view.strides.insert(view.strides.begin() + static_cast<std::ptrdiff_t>(*d), 1);  // of size 1: never compared
  return Viewed(std::move(view));
}

Expected Flatten(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const auto first = DimensionOf(call.arguments[1], self.sizes.size());
  const auto last = DimensionOf(call.arguments[2], self.sizes.size());
  if (!first || !last) return Refused("a dimension is out of range");
  if (*first > *last) return Refused("the first dimension is behind the last");
  if (self.sizes.empty()) return Reshape(self, {1}, true);
  if (*first == *last) return Viewed(self);
  Sizes sizes(self.sizes.begin(), self.sizes.begin() + static_cast<std::ptrdiff_t>(*first));
  sizes.push_back(1);
  for (std::size_t d = *first; d <= *last; ++d) sizes.back() *= self.sizes[d];
  sizes.insert(sizes.end(), self.sizes.begin() + static_cast<std::ptrdiff_t>(*last) + 1, self.sizes.end());
  return Reshape(self, sizes, true);
}

Expected Diagonal(const OperatorCall& call) {
  HostTensor view = call.arguments[0].tensor;
  if (view.sizes.empty()) return Refused("a scalar has no diagonal");
  const auto a = DimensionOf(call.arguments[2], view.sizes.size()),
             b = DimensionOf(call.arguments[3], view.sizes.size());
  if (!a || !b) return Refused("a dimension is out of range");
  if (*a == *b) return Refused("the two dimensions are the same");
  const std::int64_t offset = call.arguments[1].integer;
  const std::int64_t rows = view.sizes[*a], columns = view.sizes[*b];
  const std::int64_t length =
      std::max<std::int64_t>(offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns), 0);
  const std::int64_t stride = view.strides[*a] + view.strides[*b];
  if (length > 0) view.offset += offset >= 0 ? offset * view.strides[*b] : -offset * view.strides[*a];
  Drop(view, std::max(*a, *b));
  Drop(view, std::min(*a, *b));
  view.sizes.push_back(length);
  view.strides.push_back(stride);
  return Viewed(std::move(view));
}

}  // namespace

void AddViews(Oracles& oracles) {
  oracles["view"] = [](const OperatorCall& call) {
    return Reshape(call.arguments[0].tensor, IntsOf(call.arguments[1]), false);
  };
  oracles["reshape"] = [](const OperatorCall& call) {
    return Reshape(call.arguments[0].tensor, IntsOf(call.arguments[1]), true);
  };
  oracles["as_strided"] = &AsStrided;
  oracles["expand"] = &Expand;
  oracles["permute"] = &Permute;
  oracles["transpose.int"] = [](const OperatorCall& call) {
    return Transpose(call.arguments[0].tensor, call.arguments[1], call.arguments[2]);
  };
  oracles["t"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    if (self.sizes.size() > 2) return Refused("it has more than two dimensions");
    return self.sizes.size() < 2 ? Viewed(self) : Transpose(self, Argument::Int(0), Argument::Int(1));
  };
  oracles["select.int"] = &Select;
  oracles["slice.Tensor"] = &Slice;
  oracles["squeeze"] = [](const OperatorCall& call) { return Squeeze(call, true); };
  oracles["squeeze.dim"] = [](const OperatorCall& call) { return Squeeze(call, false); };
  oracles["unsqueeze"] = &Unsqueeze;
  oracles["flatten.using_ints"] = &Flatten;
  oracles["diagonal"] = &Diagonal;
  oracles["alias"] = [](const OperatorCall& call) { return Viewed(call.arguments[0].tensor); };
  oracles["detach"] = [](const OperatorCall& call) { return Viewed(call.arguments[0].tensor); };
}

}  // namespace plumbline::suites
