#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"

namespace plumbline::suites {
namespace {

ExpectedTensor CastAll(const HostTensor& tensor, std::uint32_t dtype) {
  ExpectedTensor out{.dtype = dtype, .sizes = tensor.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const Element element = Converted(tensor.dtype, dtype, tensor.Get(i));
    out.values.push_back(element.value);
    out.bounds.push_back(element.bound);
  }
  return out;
}

// [TENS-003] Whether its elements lie so; of a dimension of size 1 the stride does not matter.
bool LiesIn(const HostTensor& tensor, std::int64_t format) {
  if (format == kPreserveFormat || (format == kContiguousFormat && tensor.numel() == 0)) return true;
  const std::optional<Sizes> strides = StridesIn(tensor.sizes, format);
  for (std::size_t d = 0; strides && d < strides->size(); ++d) {
    if (tensor.sizes[d] != 1 && tensor.strides[d] != (*strides)[d]) return false;
  }
  return strides.has_value();
}

// A copy's strides: self's where it is dense and they are kept; contiguous where that is asked for.
void Layout(ExpectedTensor& out, const HostTensor& self, const Argument& format) {
  const std::int64_t wanted = format.kind == PL_INT ? format.integer : kPreserveFormat;
  if (wanted != kPreserveFormat) out.strides = StridesIn(self.sizes, wanted);
  if (wanted == kPreserveFormat && IsDense(self) && self.numel() > 0) out.strides = self.strides;
}

// [TENS-034]
Expected ItselfOr(bool itself, const HostTensor& self, ExpectedTensor copy) {
  if (!itself) return Only(std::move(copy));
  ExpectedTensor out = Copied(self);
  out.same_as = 0;
  out.written = false;
  return Only(std::move(out));
}

Expected To(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const auto dtype = static_cast<std::uint32_t>(call.arguments[1].integer);
  const Argument& format = call.arguments[4];
  const bool changes =
      dtype != self.dtype || call.arguments[3].integer != 0 || (format.kind == PL_INT && !LiesIn(self, format.integer));
  ExpectedTensor out = CastAll(self, dtype);
  Layout(out, self, format);
  Expected expected = ItselfOr(!changes, self, std::move(out));
  return expected;
}

// The memory that is written must not be several elements at once.
bool Writable(const HostTensor& self) {
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (self.numel() > 1 && self.sizes[d] > 1 && self.strides[d] == 0) return false;
  }
  return true;
}

Expected CopyInto(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &src = call.arguments[1].tensor;
  const std::optional<Sizes> sizes = CommonSizes({&self.sizes, &src.sizes});
  if (!sizes || *sizes != self.sizes) return Refused("src does not expand to self");
  if (!Writable(self)) return Refused("the written tensor overlaps itself");
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}, .same_as = 0};
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    const Element element = Converted(src.dtype, self.dtype, At(src, self.sizes, i));
    out.values.push_back(element.value);
    out.bounds.push_back(element.bound);
  }
  return Only(std::move(out));
}

Expected Fill(const OperatorCall& call, const Argument& value) {
  const HostTensor& self = call.arguments[0].tensor;
  if (!Holds(self.dtype, value)) return Refused(kDoesNotFit);
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}, .same_as = 0};
  const std::uint32_t from = value.kind == PL_FLOAT ? PL_DTYPE_FLOAT64 : PL_DTYPE_INT64;
  const Element element = Converted(from, self.dtype, NumberOf(value));
  out.values.assign(static_cast<std::size_t>(self.numel()), element.value);
  out.bounds.assign(out.values.size(), element.bound);
  return Only(std::move(out));
}

// What fits keeps its place in memory; the rest is any values.
Expected Resize(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  Sizes sizes;
  for (const Argument& item : call.arguments[1].items) sizes.push_back(item.integer);
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; })) {
    return Refused("a size is negative");
  }
  ExpectedTensor out{.dtype = self.dtype, .sizes = sizes, .values = {}, .bounds = {}, .same_as = 0, .written = false};
  const bool keeps = sizes == self.sizes;
  HostTensor view = self;
  view.sizes = sizes;
  view.strides = keeps ? self.strides : ContiguousStrides(sizes);
  for (std::int64_t i = 0; i < view.numel(); ++i) {
    const std::int64_t place = view.PlaceOf(i);
    const bool kept = place < self.elements();
    out.values.push_back(kept ? self.GetAt(place) : 0);
    out.bounds.push_back(kept ? 0 : kAnything);
  }
  return Only(std::move(out));
}

Expected Item(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  if (self.numel() != 1) return Refused("it has not one element");
  Expected expected;
  const long double value = self.Get(0);
  expected.value = IsFloating(self.dtype)        ? Argument::Float(static_cast<double>(value))
                   : self.dtype == PL_DTYPE_BOOL ? Argument::Bool(value != 0)
                                                 : Argument::Int(static_cast<std::int64_t>(value));
  return expected;
}

}  // namespace

void AddCopying(Oracles& oracles) {
  oracles["copy_"] = &CopyInto;
  oracles["fill_.Scalar"] = [](const OperatorCall& call) { return Fill(call, call.arguments[1]); };
  oracles["zero_"] = [](const OperatorCall& call) { return Fill(call, Argument::Int(0)); };
  oracles["resize_"] = &Resize;
  oracles["item"] = &Item;
  oracles["to.dtype"] = &To;
  oracles["clone"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    ExpectedTensor out = Copied(self);
    Layout(out, self, call.arguments[1]);
    return Only(std::move(out));
  };
  oracles["contiguous"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    ExpectedTensor out = Copied(self);
    const std::int64_t format = call.arguments[1].integer;
    if (format == kPreserveFormat) return Refused("preserve_format is none to be contiguous in");
    out.strides = StridesIn(self.sizes, format);
    if (!out.strides) return Refused("a memory format for another number of dimensions");
    return ItselfOr(LiesIn(self, format), self, std::move(out));
  };
  oracles["_to_copy"] = [](const OperatorCall& call) {
    const HostTensor& self = call.arguments[0].tensor;
    ExpectedTensor out = CastAll(self, GivenOr(call.arguments[1], self.dtype));
    Layout(out, self, call.arguments[6]);
    return Only(std::move(out));
  };
}

}  // namespace plumbline::suites
