#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"
#include "conformance/suites/operators/promotion.h"
#include "conformance/suites/operators/row_major.h"

namespace plumbline::suites {
namespace {

// The dtype of several tensors, each with equal weight.
std::uint32_t PromotedOf(const std::vector<Argument>& tensors) {
  std::uint32_t dtype = tensors[0].tensor.dtype;
  for (const Argument& one : tensors) dtype = Promote(dtype, one.tensor.dtype);
  return dtype;
}

Expected Joined(const std::vector<const HostTensor*>& parts, std::size_t d, std::uint32_t dtype) {
  Sizes sizes = parts[0]->sizes;
  sizes[d] = 0;
  for (const HostTensor* part : parts) sizes[d] += part->sizes[d];
  ExpectedTensor out{.dtype = dtype, .sizes = sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    Sizes index = IndexOf(i, sizes);
    std::size_t part = 0;
    while (index[d] >= parts[part]->sizes[d]) index[d] -= parts[part++]->sizes[d];
    out.values.push_back(CastTo(dtype, parts[part]->Get(RowMajorOf(index, parts[part]->sizes))));
  }
  return Only(std::move(out));
}

Expected Cat(const OperatorCall& call) {
  const std::vector<Argument>& tensors = call.arguments[0].items;
  // No tensor brings a key either, so that the call may find no kernel that could refuse it.
  if (tensors.empty()) return {{PL_ERROR_INVALID_ARGUMENT, PL_ERROR_NO_KEY}, "there is no tensor", {}, {}, {}};
  std::vector<const HostTensor*> parts;
  for (const Argument& one : tensors) {
    if (one.tensor.sizes.empty()) return Refused("a scalar cannot be joined");
    if (one.tensor.sizes != Sizes{0}) parts.push_back(&one.tensor);  // such a one is left out, whatever the others have
  }
  const std::uint32_t dtype = PromotedOf(tensors);
  const std::size_t dim = parts.empty() ? 1 : parts[0]->sizes.size();
  const auto d = DimensionOf(call.arguments[1], dim);
  if (!d) return Refused("a dimension is out of range");
  if (parts.empty()) return Only({.dtype = dtype, .sizes = {0}, .values = {}, .bounds = {}});
  for (const HostTensor* part : parts) {
    if (part->sizes.size() != dim) return Refused("the tensors differ in dimensions");
    for (std::size_t k = 0; k < dim; ++k) {
      if (k != *d && part->sizes[k] != parts[0]->sizes[k]) return Refused("the sizes differ in another dimension");
    }
  }
  return Joined(parts, *d, dtype);
}

Expected Stack(const OperatorCall& call) {
  std::vector<Argument> tensors = call.arguments[0].items;
  if (tensors.empty()) return Refused("there is no tensor");
  const auto d = DimensionOf(call.arguments[1], tensors[0].tensor.sizes.size() + 1);
  if (!d) return Refused("a dimension is out of range");
  const Sizes sizes = tensors[0].tensor.sizes;
  std::vector<const HostTensor*> parts;
  for (Argument& one : tensors) {
    if (one.tensor.sizes != sizes) return Refused("the sizes differ");
    one.tensor.sizes.insert(one.tensor.sizes.begin() + static_cast<std::ptrdiff_t>(*d), 1);
    one.tensor.strides.insert(one.tensor.strides.begin() + static_cast<std::ptrdiff_t>(*d), 0);
    parts.push_back(&one.tensor);
  }
  return Joined(parts, *d, PromotedOf(tensors));
}

// Parts of so many in a dimension, as views.
Expected Split(const HostTensor& self, std::size_t d, std::int64_t each) {
  Expected expected;
  const std::int64_t size = self.sizes[d];
  const std::int64_t parts = each == 0 ? 1 : std::max<std::int64_t>((size + each - 1) / each, 1);
  for (std::int64_t part = 0; part < parts; ++part) {
    HostTensor view = self;
    view.offset += part * each * self.strides[d];
    view.sizes[d] = std::min(each, size - part * each);
    ExpectedTensor out = Copied(view);
    out.shares_with = 0;
    out.strides = view.strides;
    expected.tensors.push_back(std::move(out));
  }
  return expected;
}

Expected SplitBy(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  if (self.sizes.empty()) return Refused("a scalar has no dimension to split");
  const auto d = DimensionOf(call.arguments[2], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  const std::int64_t each = call.arguments[1].integer;
  if (each < 0 || (each == 0 && self.sizes[*d] != 0)) return Refused("parts have to have a size");
  return Split(self, *d, each);
}

Expected Chunk(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  if (self.sizes.empty()) return Refused("a scalar has no dimension to split");
  const std::int64_t chunks = call.arguments[1].integer;
  if (chunks <= 0) return Refused("there is to be one part at least");
  const auto d = DimensionOf(call.arguments[2], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  const std::int64_t size = self.sizes[*d];
  Expected expected = Split(self, *d, (size + chunks - 1) / chunks);
  // Of an empty dimension there are as many empty parts as are asked for.
  if (size == 0) {
    const ExpectedTensor part = expected.tensors[0];
    expected.tensors.assign(static_cast<std::size_t>(chunks), part);
  }
  return expected;
}

Expected Unbind(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  if (self.sizes.empty()) return Refused("a scalar has no dimension to unbind");
  const auto d = DimensionOf(call.arguments[1], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  Expected expected;
  for (std::int64_t i = 0; i < self.sizes[*d]; ++i) {
    HostTensor view = self;
    view.offset += i * self.strides[*d];
    view.sizes.erase(view.sizes.begin() + static_cast<std::ptrdiff_t>(*d));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(*d));
    ExpectedTensor out = Copied(view);
    out.shares_with = 0;
    out.strides = view.strides;
    expected.tensors.push_back(std::move(out));
  }
  return expected;
}

Expected Repeat(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const std::vector<Argument>& repeats = call.arguments[1].items;
  if (repeats.size() < self.sizes.size()) return Refused("there are fewer numbers than dimensions");
  Sizes padded(repeats.size() - self.sizes.size(), 1);
  padded.insert(padded.end(), self.sizes.begin(), self.sizes.end());
  Sizes sizes = padded;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d].integer < 0) return Refused("a number is negative");
    sizes[d] *= repeats[d].integer;
  }
  ExpectedTensor out{.dtype = self.dtype, .sizes = sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    Sizes index = IndexOf(i, sizes);
    for (std::size_t d = 0; d < index.size(); ++d) index[d] %= padded[d];
    out.values.push_back(self.Get(RowMajorOf(index, padded)));
  }
  return Only(std::move(out));
}

Expected Flip(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  std::vector<bool> turned(std::max<std::size_t>(self.sizes.size(), 1), false);
  for (const Argument& item : call.arguments[1].items) {
    const auto d = DimensionOf(item, self.sizes.size());
    if (!d) return Refused("a dimension is out of range");
    if (turned[*d]) return Refused("a dimension is given twice");
    turned[*d] = true;
  }
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    Sizes index = IndexOf(i, self.sizes);
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (turned[d]) index[d] = self.sizes[d] - 1 - index[d];
    }
    out.values.push_back(self.Get(RowMajorOf(index, self.sizes)));
  }
  return Only(std::move(out));
}

Expected Pad(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const std::vector<Argument>& pad = call.arguments[1].items;
  const std::size_t dim = self.sizes.size();
  if (pad.size() % 2 != 0 || pad.size() / 2 > dim) return Refused("there are not two numbers for each dimension");
  Sizes sizes = self.sizes, before(dim, 0);
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    const std::size_t d = dim - 1 - k;
    before[d] = pad[2 * k].integer;
    const __int128 size = __int128{sizes[d]} + pad[2 * k].integer + pad[2 * k + 1].integer;
    if (size > std::numeric_limits<std::int64_t>::max()) {
      return Expected::Refused(PL_ERROR_OVERFLOW, "a padded size does not fit");
    }
    sizes[d] = size < 0 ? -1 : static_cast<std::int64_t>(size);
    if (sizes[d] < 0) return Refused("more is cut than there is");
    // Of what is nothing on the way, releases differ.
    if (sizes[d] == 0) return {{PL_ERROR_INVALID_ARGUMENT, PL_ERROR_NONE}, "nothing would be left", {}, {}, {}};
  }
  if (!Holds(self.dtype, call.arguments[2])) return Refused(kDoesNotFit);
  ExpectedTensor out{.dtype = self.dtype, .sizes = sizes, .values = {}, .bounds = {}};
  const long double value = CastTo(self.dtype, NumberOf(call.arguments[2]));
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    Sizes index = IndexOf(i, sizes);
    bool inside = true;
    for (std::size_t d = 0; d < dim; ++d) {
      index[d] -= before[d];
      inside = inside && index[d] >= 0 && index[d] < self.sizes[d];
    }
    out.values.push_back(inside ? self.Get(RowMajorOf(index, self.sizes)) : value);
  }
  return Only(std::move(out));
}

}  // namespace

void AddJoining(Oracles& oracles) {
  oracles["cat"] = &Cat;
  oracles["stack"] = &Stack;
  oracles["split.Tensor"] = &SplitBy;
  oracles["chunk"] = &Chunk;
  oracles["unbind.int"] = &Unbind;
  oracles["repeat"] = &Repeat;
  oracles["flip"] = &Flip;
  oracles["constant_pad_nd"] = &Pad;
}

}  // namespace plumbline::suites
