#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/oracle_families.h"
#include "conformance/suites/operators/oracle_groups.h"
#include "conformance/suites/operators/row_major.h"

namespace plumbline::suites {
namespace {

bool OutOfRange(const HostTensor& index, std::int64_t size) {
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    if (index.Get(i) < 0 || index.Get(i) >= static_cast<long double>(size)) return true;
  }
  return false;
}

std::int64_t IntAt(const HostTensor& index, std::int64_t i) { return static_cast<std::int64_t>(index.Get(i)); }

// A scalar as a vector of one: how operators with a dimension see it.
Sizes AtLeastOne(const Sizes& sizes) { return sizes.empty() ? Sizes{1} : sizes; }

// Sums at places of a copy of self: within rule 3's bound, and exact for integers.
class Accumulated {
 public:
  explicit Accumulated(const HostTensor& self)
      : out_(Copied(self)), magnitudes_(out_.values.size(), 0), counts_(out_.values.size(), 0) {
    out_.bounds.assign(out_.values.size(), 0);
    out_.any_of.resize(out_.values.size());
  }

  void Put(std::int64_t place, long double value) { out_.any_of[static_cast<std::size_t>(place)].push_back(value); }
  void Add(std::int64_t place, long double value) {
    const auto at = static_cast<std::size_t>(place);
    long double& sum = out_.values[at];
    if (counts_[at]++ == 0) magnitudes_[at] = std::fabs(sum);
    magnitudes_[at] += std::fabs(value);
    sum = IsFloating(out_.dtype)        ? sum + value
          : out_.dtype == PL_DTYPE_BOOL ? CastTo(out_.dtype, sum + value)
                                        : Wrapped(out_.dtype, ToWide(sum) + ToWide(value));
  }
  // `steps`: roundings for each value that was added.
  Expected Done(std::size_t steps = 1) && {
    for (std::size_t at = 0; IsFloating(out_.dtype) && at < counts_.size(); ++at) {
      if (counts_[at] == 0 || !std::isfinite(magnitudes_[at])) continue;
      out_.bounds[at] = magnitudes_[at] > Greatest(out_.dtype)
                            ? kAnything
                            : SumBound(out_.dtype, steps * counts_[at] + 1, magnitudes_[at]);
    }
    return Only(std::move(out_));
  }

 private:
  ExpectedTensor out_;
  std::vector<long double> magnitudes_;
  std::vector<std::size_t> counts_;
};

Expected IndexSelect(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &index = call.arguments[2].tensor;
  const auto d = DimensionOf(call.arguments[1], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  if (index.sizes.size() > 1) return Refused("the index has more than one dimension");
  if (index.dtype != PL_DTYPE_INT64 && index.dtype != PL_DTYPE_INT32) return Refused("the index is not int64 or int32");
  const Sizes mine = AtLeastOne(self.sizes);
  if (self.sizes.empty() && index.numel() != 1) return Refused("of a scalar one element is selected");
  if (OutOfRange(index, mine[*d])) return RefusedByElements("an index is out of range");
  Sizes sizes = mine;
  sizes[*d] = index.numel();
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes.empty() ? Sizes{} : sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    Sizes at = IndexOf(i, sizes);
    at[*d] = IntAt(index, at[*d]);
    out.values.push_back(self.Get(RowMajorOf(at, mine)));
  }
  return Only(std::move(out));
}

// What gather and scatter ask of self, index and src.
std::optional<Expected> WrongIndex(const HostTensor& self, const Argument& dim, const HostTensor& index) {
  const auto d = DimensionOf(dim, self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  if (index.dtype != PL_DTYPE_INT64) return Refused("the index is not int64");
  if (index.numel() == 0) return std::nullopt;
  if (AtLeastOne(index.sizes).size() != AtLeastOne(self.sizes).size())
    return Refused("index and self differ in dimensions");
  if (OutOfRange(index, AtLeastOne(self.sizes)[*d])) return RefusedByElements("an index is out of range");
  return std::nullopt;
}

bool FitsExcept(const Sizes& small, const Sizes& large, std::optional<std::size_t> except) {
  for (std::size_t d = 0; d < small.size(); ++d) {
    if (d != except && small[d] > large[d]) return false;
  }
  return true;
}

Expected Gather(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &index = call.arguments[2].tensor;
  if (auto wrong = WrongIndex(self, call.arguments[1], index)) return *wrong;
  const auto d = *DimensionOf(call.arguments[1], self.sizes.size());
  const Sizes mine = AtLeastOne(self.sizes), theirs = AtLeastOne(index.sizes);
  if (index.numel() > 0 && !FitsExcept(theirs, mine, d)) return Refused("the index is larger than self");
  ExpectedTensor out{.dtype = self.dtype, .sizes = index.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    Sizes at = IndexOf(i, theirs);
    at[d] = IntAt(index, i);
    out.values.push_back(self.Get(RowMajorOf(at, mine)));
  }
  return Only(std::move(out));
}

// One of several values at the same place stays; added ones are summed.
Expected Scatter(const OperatorCall& call, bool add) {
  const HostTensor &self = call.arguments[0].tensor, &index = call.arguments[2].tensor;
  const Argument& source = call.arguments[3];
  if (auto wrong = WrongIndex(self, call.arguments[1], index)) return *wrong;
  const auto d = *DimensionOf(call.arguments[1], self.sizes.size());
  const Sizes mine = AtLeastOne(self.sizes), theirs = AtLeastOne(index.sizes);
  const bool is_tensor = source.kind == PL_TENSOR;
  const Sizes sources = is_tensor ? AtLeastOne(source.tensor.sizes) : Sizes{};
  if (is_tensor && source.tensor.dtype != self.dtype) return Refused("src differs in dtype");
  if (index.numel() > 0) {
    if (!FitsExcept(theirs, mine, d)) return Refused("the index is larger than self");
    if (is_tensor && sources.size() != theirs.size()) return Refused("index and src differ in dimensions");
    if (is_tensor && !FitsExcept(theirs, sources, std::nullopt)) return Refused("the index is larger than src");
  }
  if (!is_tensor && !Holds(self.dtype, source)) return Refused(kDoesNotFit);
  Accumulated out(self);
  for (std::int64_t i = 0; i < index.numel(); ++i) {
    Sizes at = IndexOf(i, theirs);
    const long double value =
        is_tensor ? source.tensor.Get(RowMajorOf(at, sources)) : CastTo(self.dtype, NumberOf(source));
    at[d] = IntAt(index, i);
    const std::int64_t place = RowMajorOf(at, mine);
    if (!add) {
      out.Put(place, value);
      continue;
    }
    out.Add(place, value);
  }
  return std::move(out).Done();
}

Expected IndexAdd(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &index = call.arguments[2].tensor,
                   &source = call.arguments[3].tensor;
  const Argument& alpha = call.arguments[4];
  const auto d = DimensionOf(call.arguments[1], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  if (index.sizes.size() > 1) return Refused("the index has more than one dimension");
  if (index.dtype != PL_DTYPE_INT64 && index.dtype != PL_DTYPE_INT32) return Refused("the index is not int64 or int32");
  if (source.dtype != self.dtype) return Refused("source differs in dtype");
  if (alpha.kind == PL_FLOAT && !IsFloating(self.dtype)) return Refused("alpha is floating, self is not");
  const Sizes mine = AtLeastOne(self.sizes), theirs = AtLeastOne(source.sizes);
  if (mine.size() != theirs.size()) return Refused("self and source differ in dimensions");
  if (index.numel() != theirs[*d]) return Refused("there is not one index for each row");
  for (std::size_t k = 0; k < mine.size(); ++k) {
    if (k != *d && mine[k] != theirs[k]) return Refused("self and source differ in another dimension");
  }
  if (OutOfRange(index, mine[*d])) return RefusedByElements("an index is out of range");
  Accumulated out(self);
  const long double factor = CastTo(self.dtype, NumberOf(alpha));
  for (std::int64_t i = 0; i < source.numel(); ++i) {
    Sizes at = IndexOf(i, theirs);
    at[*d] = IntAt(index, at[*d]);
    const std::int64_t place = RowMajorOf(at, mine);
    const long double value = source.Get(i) * factor;
    out.Add(place, value);
  }
  return std::move(out).Done(2);
}

Expected MaskedFill(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &mask = call.arguments[1].tensor;
  const Argument& value = call.arguments[2];
  if (mask.dtype != PL_DTYPE_BOOL) return Refused("the mask is not bool");
  const auto sizes = CommonSizes({&self.sizes, &mask.sizes});
  if (!sizes) return Refused("the operands' shapes do not broadcast");
  if (!Holds(self.dtype, value)) return Refused(kDoesNotFit);
  ExpectedTensor out{.dtype = self.dtype, .sizes = *sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(*sizes); ++i) {
    const bool filled = At(mask, *sizes, i) != 0;
    const Element element = ConvertedScalar(self.dtype, NumberOf(value));
    out.values.push_back(filled ? element.value : At(self, *sizes, i));
    out.bounds.push_back(filled ? element.bound : 0);
  }
  return Only(std::move(out));
}

Expected MaskedSelect(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &mask = call.arguments[1].tensor;
  if (mask.dtype != PL_DTYPE_BOOL) return Refused("the mask is not bool");
  const auto sizes = CommonSizes({&self.sizes, &mask.sizes});
  if (!sizes) return Refused("the operands' shapes do not broadcast");
  ExpectedTensor out{.dtype = self.dtype, .sizes = {}, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < NumelOf(*sizes); ++i) {
    if (At(mask, *sizes, i) != 0) out.values.push_back(At(self, *sizes, i));
  }
  out.sizes = {static_cast<std::int64_t>(out.values.size())};
  return Only(std::move(out));
}

Expected Embedding(const OperatorCall& call) {
  const HostTensor &weight = call.arguments[0].tensor, &indices = call.arguments[1].tensor;
  if (weight.sizes.size() != 2) return Refused("the weight is no matrix");
  if (indices.dtype != PL_DTYPE_INT64 && indices.dtype != PL_DTYPE_INT32)
    return Refused("the index is not int64 or int32");
  if (OutOfRange(indices, weight.sizes[0])) return RefusedByElements("an index is out of range");
  ExpectedTensor out{.dtype = weight.dtype, .sizes = indices.sizes, .values = {}, .bounds = {}};
  out.sizes.push_back(weight.sizes[1]);
  for (std::int64_t i = 0; i < indices.numel(); ++i) {
    for (std::int64_t k = 0; k < weight.sizes[1]; ++k)
      out.values.push_back(weight.Get(IntAt(indices, i) * weight.sizes[1] + k));
  }
  return Only(std::move(out));
}

Expected Nonzero(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  ExpectedTensor out{
      .dtype = PL_DTYPE_INT64, .sizes = {0, static_cast<std::int64_t>(self.sizes.size())}, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    if (self.Get(i) == 0) continue;
    ++out.sizes[0];
    for (const std::int64_t at : IndexOf(i, self.sizes)) out.values.push_back(static_cast<long double>(at));
  }
  return Only(std::move(out));
}

Expected Triangle(const OperatorCall& call, bool upper) {
  const HostTensor& self = call.arguments[0].tensor;
  if (self.sizes.size() < 2) return Refused("it has fewer than two dimensions");
  const std::int64_t diagonal = call.arguments[1].integer;
  ExpectedTensor out{.dtype = self.dtype, .sizes = self.sizes, .values = {}, .bounds = {}};
  for (std::int64_t i = 0; i < self.numel(); ++i) {
    const Sizes at = IndexOf(i, self.sizes);
    const std::int64_t from_diagonal = at.back() - at.end()[-2];
    const bool kept = upper ? from_diagonal >= diagonal : from_diagonal <= diagonal;
    out.values.push_back(kept ? self.Get(i) : 0);
  }
  return Only(std::move(out));
}

// NaN is above all.
bool Below(long double a, long double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }
bool SameRank(long double a, long double b) { return !Below(a, b) && !Below(b, a); }

// The first `k` of each row in order, with their places.
Expected Sorted(const HostTensor& self, std::size_t d, std::int64_t k, bool descending, bool stable, bool in_order) {
  const Sizes mine = AtLeastOne(self.sizes);
  Sizes sizes = mine;
  sizes[d] = k;
  ExpectedTensor values{.dtype = self.dtype, .sizes = self.sizes.empty() ? Sizes{} : sizes, .values = {}, .bounds = {}};
  const auto count = static_cast<std::size_t>(NumelOf(sizes));
  values.values.resize(count);
  values.bounds.resize(count, 0);
  ExpectedTensor indices = values;
  indices.dtype = PL_DTYPE_INT64;
  values.any_of.resize(count);
  indices.any_of.resize(count);
  for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
    Sizes at = IndexOf(i, sizes);
    if (at[d] != 0) continue;
    std::vector<long double> row;
    for (std::int64_t x = 0; x < mine[d]; ++x) {
      at[d] = x;
      row.push_back(self.Get(RowMajorOf(at, mine)));
    }
    std::vector<std::size_t> order(row.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descending ? Below(row[b], row[a]) : Below(row[a], row[b]);
    });
    std::vector<long double> chosen;
    for (std::int64_t x = 0; x < k; ++x) chosen.push_back(row[order[static_cast<std::size_t>(x)]]);
    std::vector<long double> any = chosen;  // of zeros, which rank the same, either
    if (std::find(chosen.begin(), chosen.end(), 0) != chosen.end()) any.insert(any.end(), {0.0L, -0.0L});
    for (std::int64_t x = 0; x < k; ++x) {
      at[d] = x;
      const auto place = static_cast<std::size_t>(RowMajorOf(at, sizes));
      const long double value = chosen[static_cast<std::size_t>(x)];
      values.values[place] = value;
      values.bounds[place] = value == 0 ? kEitherZero : 0;
      indices.values[place] = static_cast<long double>(order[static_cast<std::size_t>(x)]);
      if (!in_order) values.any_of[place] = any;
      if (stable && in_order) continue;
      for (std::size_t other = 0; other < row.size(); ++other) {
        const bool may = in_order ? SameRank(row[other], value)
                                  : std::any_of(chosen.begin(), chosen.end(),
                                                [&](long double one) { return SameRank(one, row[other]); });
        if (may) indices.any_of[place].push_back(static_cast<long double>(other));
      }
    }
  }
  Expected expected = Only(std::move(values));
  expected.tensors.push_back(std::move(indices));
  return expected;
}

Expected Sort(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const auto d = DimensionOf(call.arguments[2], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  return Sorted(self, *d, AtLeastOne(self.sizes)[*d], call.arguments[3].integer != 0, call.arguments[1].integer != 0,
                true);
}

Expected Topk(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const auto d = DimensionOf(call.arguments[2], self.sizes.size());
  if (!d) return Refused("a dimension is out of range");
  const std::int64_t k = call.arguments[1].integer;
  if (k < 0 || k > AtLeastOne(self.sizes)[*d]) return Refused("there are not so many");
  if (self.dtype == PL_DTYPE_BOOL) return NoDtype("it is not defined for bool");
  // A scalar is all that it has, whatever number of it is asked for.
  return Sorted(self, *d, self.sizes.empty() ? 1 : k, call.arguments[3].integer != 0, false,
                call.arguments[4].integer != 0);
}

// Which dimensions of self a list of indices is for: a mask takes as many as it has, and gives the places where it is
// true; an absent one keeps its dimension.
struct Indexing {
  std::vector<std::optional<HostTensor>> indices;  // one for each dimension of self
  std::string refused{};
  bool out_of_range = false;
};
Indexing IndexingOf(const HostTensor& self, const std::vector<Argument>& given) {
  Indexing indexing;
  for (const Argument& one : given) {
    if (one.kind != PL_TENSOR) {
      indexing.indices.emplace_back();
      continue;
    }
    if (one.tensor.dtype != PL_DTYPE_BOOL && one.tensor.dtype != PL_DTYPE_UINT8) {
      if (one.tensor.dtype != PL_DTYPE_INT64) return {{}, "an index is not int64, bool or uint8"};
      indexing.indices.emplace_back(one.tensor);
      continue;
    }
    std::vector<Sizes> places;
    for (std::size_t k = 0; k < one.tensor.sizes.size(); ++k) {
      const std::size_t d = indexing.indices.size() + k;
      if (d >= self.sizes.size() || self.sizes[d] != one.tensor.sizes[k])
        return {{}, "a mask has other sizes than self"};
    }
    for (std::int64_t i = 0; i < one.tensor.numel(); ++i) {
      if (one.tensor.Get(i) != 0) places.push_back(IndexOf(i, one.tensor.sizes));
    }
    for (std::size_t k = 0; k < one.tensor.sizes.size(); ++k) {
      HostTensor index = HostTensor::Contiguous(PL_DTYPE_INT64, {static_cast<std::int64_t>(places.size())});
      for (std::size_t i = 0; i < places.size(); ++i)
        index.Set(static_cast<std::int64_t>(i), static_cast<long double>(places[i][k]));
      indexing.indices.emplace_back(std::move(index));
    }
  }
  if (indexing.indices.size() > self.sizes.size()) return {{}, "there are more indices than dimensions"};
  indexing.indices.resize(self.sizes.size());
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (!indexing.indices[d]) continue;
    for (std::int64_t i = 0; i < indexing.indices[d]->numel(); ++i) {
      const std::int64_t at = IntAt(*indexing.indices[d], i);
      indexing.out_of_range = indexing.out_of_range || at < -self.sizes[d] || at >= self.sizes[d];
    }
  }
  return indexing;
}

// The sizes of the result, and of each of its elements the place in self. The indices' common dimensions are where the
// first of them is if they lie side by side, else first.
struct Selection {
  Sizes sizes;
  std::vector<std::int64_t> places;
  std::string refused{};
  bool out_of_range = false;

  Expected Refusal() const {
    return out_of_range ? RefusedByElements("an index is out of range") : Refused(refused.c_str());
  }
};
Selection SelectionOf(const HostTensor& self, const std::vector<Argument>& given) {
  const Indexing indexing = IndexingOf(self, given);
  if (!indexing.refused.empty()) return {{}, {}, indexing.refused};
  std::vector<const Sizes*> all;
  std::size_t first = self.sizes.size(), last = 0, count = 0;
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (!indexing.indices[d]) continue;
    all.push_back(&indexing.indices[d]->sizes);
    first = std::min(first, d);
    last = d;
    ++count;
  }
  const auto common = CommonSizes(all);
  if (!common) return {{}, {}, "the indices do not broadcast"};
  if (indexing.out_of_range && NumelOf(*common) > 0) return {{}, {}, {}, true};
  const bool together = count > 0 && last - first + 1 == count;
  const std::size_t at = together ? first : 0;
  Selection selection;
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < self.sizes.size(); ++d) {
    if (indexing.indices[d]) continue;
    kept.push_back(d);
  }
  // In order: the kept dimensions before, the common ones, the rest.
  selection.sizes.clear();
  for (std::size_t k = 0; k <= kept.size(); ++k) {
    if (k == std::min(at, kept.size())) selection.sizes.insert(selection.sizes.end(), common->begin(), common->end());
    if (k < kept.size()) selection.sizes.push_back(self.sizes[kept[k]]);
  }
  const std::size_t before = std::min(at, kept.size());
  for (std::int64_t i = 0; i < NumelOf(selection.sizes); ++i) {
    const Sizes index = IndexOf(i, selection.sizes);
    const auto start = index.begin() + static_cast<std::ptrdiff_t>(before);
    const Sizes shared(start, start + static_cast<std::ptrdiff_t>(common->size()));
    Sizes place(self.sizes.size());
    for (std::size_t k = 0; k < kept.size(); ++k) place[kept[k]] = index[k < before ? k : k + common->size()];
    for (std::size_t d = 0; d < self.sizes.size(); ++d) {
      if (!indexing.indices[d]) continue;
      const auto value = static_cast<std::int64_t>(At(*indexing.indices[d], *common, RowMajorOf(shared, *common)));
      place[d] = value < 0 ? value + self.sizes[d] : value;
    }
    selection.places.push_back(RowMajorOf(place, self.sizes));
  }
  return selection;
}

Expected Index(const OperatorCall& call) {
  const HostTensor& self = call.arguments[0].tensor;
  const Selection selection = SelectionOf(self, call.arguments[1].items);
  if (selection.out_of_range || !selection.refused.empty()) return selection.Refusal();
  ExpectedTensor out{.dtype = self.dtype, .sizes = selection.sizes, .values = {}, .bounds = {}};
  for (const std::int64_t place : selection.places) out.values.push_back(self.Get(place));
  return Only(std::move(out));
}

Expected IndexPut(const OperatorCall& call) {
  const HostTensor &self = call.arguments[0].tensor, &values = call.arguments[2].tensor;
  const bool accumulate = call.arguments[3].integer != 0;
  if (values.dtype != self.dtype) return Refused("the values differ in dtype");
  const Selection selection = SelectionOf(self, call.arguments[1].items);
  if (selection.out_of_range || !selection.refused.empty()) return selection.Refusal();
  const auto sizes = CommonSizes({&selection.sizes, &values.sizes});
  if (!sizes || *sizes != selection.sizes) return Refused("the values do not expand to what is indexed");
  Accumulated out(self);
  for (std::size_t i = 0; i < selection.places.size(); ++i) {
    const std::int64_t place = selection.places[i];
    const long double value = At(values, selection.sizes, static_cast<std::int64_t>(i));
    if (!accumulate) {
      out.Put(place, value);
      continue;
    }
    out.Add(place, value);
  }
  return std::move(out).Done();
}

}  // namespace

void AddIndexing(Oracles& oracles) {
  oracles["index.Tensor"] = &Index;
  oracles["index_put"] = &IndexPut;
  oracles["index_select"] = &IndexSelect;
  oracles["gather"] = &Gather;
  for (const char* name : {"scatter.src", "scatter.value"}) {
    oracles[name] = [](const OperatorCall& call) { return Scatter(call, false); };
  }
  oracles["scatter_add"] = [](const OperatorCall& call) { return Scatter(call, true); };
  oracles["index_add"] = &IndexAdd;
  oracles["masked_fill.Scalar"] = &MaskedFill;
  oracles["masked_select"] = &MaskedSelect;
  oracles["embedding"] = &Embedding;
  oracles["nonzero"] = &Nonzero;
  oracles["tril"] = [](const OperatorCall& call) { return Triangle(call, false); };
  oracles["triu"] = [](const OperatorCall& call) { return Triangle(call, true); };
  oracles["sort.stable"] = &Sort;
  oracles["topk"] = &Topk;
}

}  // namespace plumbline::suites
