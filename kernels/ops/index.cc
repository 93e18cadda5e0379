// Indexing.
#include <algorithm>
#include <cstring>

#include "kernels/compute.h"
#include "kernels/cpu/reduce.h"
#include "kernels/ops/ops.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {
namespace {

std::vector<std::int64_t> IndicesOf(const Tensor& index) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(index.numel()));
  const Tensor packed = Contiguous(index);
  void* const data[] = {all.data(), packed.data()};
  cpu::Level().cast[cpu::Index(TypeOf(index.dtype()))][cpu::Index(cpu::Type::kI64)](data, index.numel(), {});
  return all;
}
void CheckIndexDType(const Call& call, int i, bool small) {
  const DType dtype = call.tensor(i).dtype();
  if (PLUMBLINE_FAULT(any_integer_is_an_index) && !IsFloating(dtype)) return;
  if (dtype == DType::kInt64 || (small && dtype == DType::kInt32)) return;
  call.Fail("argument " + call.Name(i) + ": expected " + (small ? "int32 or int64" : "int64") + ", but got " +
            std::string(Spelling(dtype)));
}
std::int64_t Checked(const Call& call, int i, std::int64_t index, std::int64_t size, std::size_t dim, bool negative) {
  if (PLUMBLINE_FAULT(index_past_the_end_is_the_last) && index >= size && size > 0) return size - 1;
  negative = negative || PLUMBLINE_FAULT(every_index_counts_from_the_end);
  if (index >= size || index < (negative ? -size : 0)) {
    call.Fail("argument " + call.Name(i) + ": index " + std::to_string(index) + " is outside of dimension " +
              std::to_string(dim) + ", which has " + std::to_string(size) + " elements");
  }
  return index < 0 ? index + size : index;
}

// Places of tensors whose elements are counted together: the n-th of `sizes` in each of them.
class Walk {
 public:
  explicit Walk(IntSpan sizes) : sizes_(sizes), at_(sizes.size()) {}
  std::int64_t at(std::size_t d) const { return at_[d]; }
  std::int64_t Offset(const Tensor& t) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at_.size(); ++d) offset += at_[d] * t.strides()[d];
    return offset;
  }
  void Next() {
    for (std::size_t d = at_.size(); d-- > 0;) {
      if (++at_[d] < sizes_[d]) return;
      at_[d] = 0;
    }
  }

 private:
  DimVector sizes_, at_;
};

char* At(const Tensor& t, std::int64_t offset) {
  return static_cast<char*>(t.data()) + offset * static_cast<std::int64_t>(t.itemsize());
}

// Where values are added up that go to the places of `out`: there, or in float32 for what has 16 bits, so that a sum is
// rounded once.
Tensor SumsOf(const Tensor& out) {
  const cpu::Type type = TypeOf(out.dtype());
  if (cpu::ComputeType(type) == type) return out;
  return Tensor::Empty(out.sizes(), DType::kFloat32, out.device(), out.keys());
}
// *to += alpha * *from, in a dtype that is computed in.
void AddElement(DType dtype, void* to, const void* from, const Scalar& alpha) {
  void* const data[] = {to, to, const_cast<void*>(from)};
  cpu::Level().binary[cpu::Index(cpu::BinaryOp::kAdd)][cpu::Index(TypeOf(dtype))](data, 1, ParametersOf(alpha));
}
void Finish(const Tensor& out, const Tensor& sums) {
  if (!sums.is_same(out)) CopyTo(out, sums);
}

void IndexSelect(Call& call) {
  const Tensor self = call.tensor(0), index = call.tensor(2);
  CheckIndexDType(call, 2, true);
  if (index.dim() > 1)
    call.Fail("argument 'index': expected at most 1 dimension, but its sizes are " + Print(index.sizes()));
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  DimVector sizes(self.sizes());
  if (!sizes.empty()) sizes[d] = index.numel();
  const Tensor out = call.PackedResult(0, sizes, self.dtype());
  if (call.meta()) return;
  const std::vector<std::int64_t> indices = IndicesOf(index);
  if (self.dim() == 0) {
    for (const std::int64_t i : indices) Checked(call, 2, i, 1, 0, false);
    return CopyTo(out, self);
  }
  for (const std::int64_t i : indices) Checked(call, 2, i, self.sizes()[d], d, false);
  std::int64_t outer = 1, inner = static_cast<std::int64_t>(self.itemsize());
  for (std::size_t k = 0; k < d; ++k) outer *= sizes[k];
  for (std::size_t k = d + 1; k < sizes.size(); ++k) inner *= sizes[k];
  if (out.numel() == 0) return;
  const Tensor from = Contiguous(self);
  const std::int64_t size = self.sizes()[d], count = static_cast<std::int64_t>(indices.size());
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(out.data()) + (o * count + i) * inner,
                  static_cast<const char*>(from.data()) + (o * size + indices[static_cast<std::size_t>(i)]) * inner,
                  static_cast<std::size_t>(inner));
    }
  }
}

void CheckWithin(const Call& call, const Tensor& index, const Tensor& whole, std::optional<std::size_t> except,
                 const char* name) {
  const std::int64_t dims = std::max<std::int64_t>(1, index.dim());
  bool fits = dims == std::max<std::int64_t>(1, whole.dim());
  for (std::size_t k = 0; k < index.sizes().size() && fits; ++k) {
    fits = (except && k == *except) || whole.dim() == 0 || index.sizes()[k] <= whole.sizes()[k];
  }
  if (!fits) {
    call.Fail("argument 'index': expected as many dimensions as " + std::string(name) + ", and no larger" +
              (except ? " but for dimension " + std::to_string(*except) : "") + ": it has sizes " +
              Print(index.sizes()) + ", " + name + " " + Print(whole.sizes()));
  }
}

void Gather(Call& call) {
  const Tensor self = call.tensor(0), index = call.tensor(2);
  CheckIndexDType(call, 2, false);
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  if (index.numel() != 0) CheckWithin(call, index, self, d, "'self'");
  const Tensor out = call.PackedResult(0, index.sizes(), self.dtype());
  if (call.meta()) return;
  const std::vector<std::int64_t> indices = IndicesOf(index);
  const std::int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  const std::size_t item = self.itemsize();
  Walk walk(index.sizes());
  for (std::size_t i = 0; i < indices.size(); ++i, walk.Next()) {
    const std::int64_t at = Checked(call, 2, indices[i], size, d, false);
    std::int64_t offset = 0;
    for (std::size_t k = 0; k < self.sizes().size(); ++k) {
      if (index.dim() > 0) offset += (k == d ? at : walk.at(k)) * self.strides()[k];
    }
    if (index.dim() == 0 && self.dim() == 1) offset = at * self.strides()[0];
    std::memcpy(static_cast<char*>(out.data()) + i * item, At(self, offset), item);
  }
}

template <bool add, bool from_value>
void Scatter(Call& call) {
  const Tensor self = call.tensor(0), index = call.tensor(2);
  CheckIndexDType(call, 2, false);
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  Tensor source = self;
  if (index.numel() != 0) CheckWithin(call, index, self, d, "'self'");
  if (!from_value) {
    source = call.tensor(3);
    if (index.numel() != 0) CheckWithin(call, index, source, std::nullopt, "'src'");
    call.CheckSameDType(0, 3);
  }
  if (from_value) call.CheckHolds(3, self.dtype());
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  const Tensor sums = add ? SumsOf(out) : out;
  source = Converted(source, sums.dtype());
  CopyTo(sums, self);
  const std::vector<std::int64_t> indices = IndicesOf(index);
  char value[8];
  if (from_value) {
    const Scalar scalar = call.scalar(3);
    const cpu::PackedOutput to = {value, TypeOf(self.dtype())};
    scalar.is_float() ? cpu::Store(to, 0, scalar.ToFloat()) : cpu::Store(to, 0, AsInteger(scalar));
  }
  const std::int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  for (const std::int64_t i : indices) Checked(call, 2, i, size, d, false);
  Walk walk(index.sizes());
  for (std::size_t i = 0; i < indices.size(); ++i, walk.Next()) {
    std::int64_t to = 0;
    for (std::size_t k = 0; k < self.sizes().size(); ++k) {
      to += (k == d ? indices[i] : index.dim() == 0 ? 0 : walk.at(k)) * out.strides()[k];
    }
    const void* from = value;
    if (!from_value) from = At(source, source.dim() == 0 || index.dim() == 0 ? 0 : walk.Offset(source));
    if (add && !PLUMBLINE_FAULT(the_last_of_equal_indices_wins)) {
      AddElement(sums.dtype(), At(sums, to), from, Scalar(1));
    } else {
      std::memcpy(At(out, to), from, self.itemsize());
    }
  }
  Finish(out, sums);
}

void IndexAdd(Call& call) {
  const Tensor self = call.tensor(0), index = call.tensor(2);
  Tensor source = call.tensor(3);
  CheckIndexDType(call, 2, true);
  const auto d = static_cast<std::size_t>(call.WrapDim(1, self.dim()));
  if (index.dim() > 1)
    call.Fail("argument 'index': expected at most 1 dimension, but its sizes are " + Print(index.sizes()));
  call.CheckSameDType(0, 3);
  bool fits = source.dim() == self.dim();
  for (std::size_t k = 0; k < self.sizes().size() && fits; ++k) {
    fits = source.sizes()[k] == (k == d ? index.numel() : self.sizes()[k]);
  }
  if (!fits || (self.dim() == 0 && index.numel() != 1)) {
    call.Fail("argument 'source': expected the sizes of 'self', " + Print(self.sizes()) + ", with " +
              std::to_string(index.numel()) + " at dimension " + std::to_string(d) + ", but got " +
              Print(source.sizes()));
  }
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  const Tensor sums = SumsOf(out);
  source = Converted(source, sums.dtype());
  CopyTo(sums, self);
  const std::vector<std::int64_t> indices = IndicesOf(index);
  const std::int64_t size = self.dim() == 0 ? 1 : self.sizes()[d];
  for (const std::int64_t i : indices) Checked(call, 2, i, size, d, false);
  Walk walk(source.sizes());
  for (std::int64_t i = 0; i < source.numel(); ++i, walk.Next()) {
    std::int64_t to = 0;
    for (std::size_t k = 0; k < self.sizes().size(); ++k) {
      to += (k == d ? indices[static_cast<std::size_t>(walk.at(k))] : walk.at(k)) * out.strides()[k];
    }
    AddElement(sums.dtype(), At(sums, to), At(source, walk.Offset(source)), call.scalar(4));
  }
  Finish(out, sums);
}

// Places of the elements that are not zero, row-major.
std::vector<std::int64_t> Chosen(const Tensor& mask) {
  const Tensor flags = Tensor::Empty(mask.sizes(), DType::kBool, mask.device(), mask.keys());
  CopyTo(flags, mask);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < flags.numel(); ++i) {
    if (flags.data<bool>()[i]) places.push_back(i);
  }
  return places;
}

void Nonzero(Call& call) {
  const Tensor self = call.tensor(0);
  if (call.meta())
    call.Fail(ErrorClass::kUnsupported, "how many there are depends on elements, which a meta tensor has not");
  const std::vector<std::int64_t> places = Chosen(self);
  const Tensor out = call.PackedResult(0, {static_cast<std::int64_t>(places.size()), self.dim()}, DType::kInt64);
  auto* to = static_cast<std::int64_t*>(out.data());
  for (std::int64_t place : places) {
    for (std::size_t d = self.sizes().size(); d-- > 0;) {
      to[d] = place % self.sizes()[d];
      place /= self.sizes()[d];
    }
    to += self.dim();
  }
}

void MaskedSelect(Call& call) {
  const Tensor self = call.tensor(0), mask = call.tensor(1);
  if (mask.dtype() != DType::kBool && mask.dtype() != DType::kUint8) {
    call.Fail("expected argument 'mask' to be bool, but got " + std::string(Spelling(mask.dtype())));
  }
  if (call.meta())
    call.Fail(ErrorClass::kUnsupported, "how many there are depends on elements, which a meta tensor has not");
  const In shapes[] = {self, mask};
  const DimVector sizes = BroadcastOf(call, shapes);
  const auto expanded = [&](const Tensor& t) {
    return t.View(sizes, reference::ExpandStrides(t.sizes(), t.strides(), sizes), t.storage_offset());
  };
  const std::vector<std::int64_t> places = Chosen(expanded(mask));
  const Tensor from = Contiguous(expanded(self));
  const Tensor out = call.PackedResult(0, {static_cast<std::int64_t>(places.size())}, self.dtype());
  const std::size_t item = self.itemsize();
  for (std::size_t i = 0; i < places.size(); ++i)
    std::memcpy(static_cast<char*>(out.data()) + i * item, At(from, places[i]), item);
}

void Embedding(Call& call) {
  const Tensor weight = call.tensor(0), indices = call.tensor(1);
  CheckIndexDType(call, 1, true);
  if (weight.dim() != 2)
    call.Fail("expected argument 'weight' to have 2 dimensions, but its sizes are " + Print(weight.sizes()));
  std::vector<Value> flat = {Value(-1)}, sizes;
  for (const std::int64_t size : indices.sizes()) sizes.push_back(Value(size));
  sizes.push_back(Value(weight.size(1)));
  const Tensor line = call.Invoke("aten::reshape", {Value(indices), Value(std::move(flat))});
  const Tensor rows = call.Invoke("aten::index_select", {Value(weight), Value(0), Value(line)});
  call.Return(0, call.Invoke("aten::view", {Value(rows), Value(std::move(sizes))}));
}

template <bool upper>
void Triangle(Call& call) {
  const Tensor self = call.tensor(0);
  if (self.dim() < 2)
    call.Fail("expected 'self' to have at least 2 dimensions, but its sizes are " + Print(self.sizes()));
  const std::int64_t diagonal = call.integer(1), rows = self.size(-2), columns = self.size(-1);
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta() || out.numel() == 0) return;
  CopyTo(out, self);
  const std::size_t item = self.itemsize();
  char* row = static_cast<char*>(out.data());
  for (std::int64_t i = 0; i < out.numel() / columns; ++i, row += columns * static_cast<std::int64_t>(item)) {
    const std::int64_t r = i % rows;
    // Kept: column - row >= diagonal, or <= diagonal.
    const std::int64_t edge = std::clamp<std::int64_t>(upper ? r + diagonal : r + diagonal + 1, 0, columns);
    const std::int64_t first = upper ? 0 : edge, last = upper ? edge : columns;
    std::memset(row + first * static_cast<std::int64_t>(item), 0, static_cast<std::size_t>(last - first) * item);
  }
}

// The order of a row of doubles or integers: NaN is above all; equal ones stay in order.
template <class T>
void OrderRow(const T* row, std::int64_t n, bool descending, std::vector<std::int64_t>& order) {
  order.resize(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = row[a], y = row[b];
    if (descending) return (x != x && y == y) || x > y;
    return (y != y && x == x) || x < y;
  });
}

void Ordered(Call& call, std::int64_t dim, bool descending, std::optional<std::int64_t> keep) {
  const Tensor self = call.tensor(0);
  const auto d = static_cast<std::size_t>(dim);
  const std::int64_t n = self.dim() == 0 ? 1 : self.sizes()[d];
  DimVector sizes(self.sizes());
  const std::int64_t kept = keep.value_or(n);
  if (!sizes.empty()) sizes[d] = kept;
  const Tensor values = call.PackedResult(0, sizes, self.dtype()), where = call.PackedResult(1, sizes, DType::kInt64);
  if (call.meta() || values.numel() == 0) return;
  std::int64_t inner = 1;
  for (std::size_t k = d + 1; k < sizes.size(); ++k) inner *= sizes[k];
  const auto reduced = std::make_unique<bool[]>(sizes.size() + 1);
  reduced[d] = true;
  const Strided in(self);
  const bool real = IsFloating(self.dtype());
  const cpu::Rows rows(in, {reduced.get(), sizes.size()}, real ? cpu::Type::kF64 : cpu::Type::kI64);
  rows.ForEach([&](const void* row, std::int64_t index) {
    std::vector<std::int64_t> order;
    const std::int64_t first = index / inner * kept * inner + index % inner;
    if (real) {
      OrderRow(static_cast<const double*>(row), n, descending, order);
    } else {
      OrderRow(static_cast<const std::int64_t*>(row), n, descending, order);
    }
    for (std::int64_t i = 0; i < kept; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(i)], to = first + i * inner;
      where.data<std::int64_t>()[to] = from;
      if (real) {
        cpu::Store({values.data(), TypeOf(self.dtype())}, to, static_cast<const double*>(row)[from]);
      } else {
        cpu::Store({values.data(), TypeOf(self.dtype())}, to, static_cast<const std::int64_t*>(row)[from]);
      }
    }
  });
}
void Sort(Call& call) { Ordered(call, call.WrapDim(2, call.tensor(0).dim()), call.boolean(3), std::nullopt); }
void Topk(Call& call) {
  const Tensor self = call.tensor(0);
  call.CheckDType(self.dtype());
  const std::int64_t dim = call.WrapDim(2, self.dim()), k = call.integer(1);
  const std::int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  if (k < 0 || k > size) {
    call.Fail("argument 'k': expected a number from 0 to " + std::to_string(size) + ", but got " + std::to_string(k));
  }
  Ordered(call, dim, call.boolean(3), self.dim() == 0 ? 1 : k);
}

// ---- index, index_put: a tensor of indices for some of the dimensions ----

struct Indexed {
  DimVector sizes;                             // of the result
  std::size_t first = 0, broadcast = 0;        // where the dimensions of the indices are in it, and how many
  std::vector<std::optional<Tensor>> indices;  // of int64, broadcast, row-major; for each dimension of self
  std::vector<std::size_t> others;             // dimensions of self without index, in order
};

Indexed IndexedOf(const Call& call, const Tensor& self) {
  std::vector<std::optional<Tensor>> given;
  for (const Value& value : call.at(1).ToList()) {
    if (value.is_none() || !value.AsTensor()->has_data()) {
      given.emplace_back(std::nullopt);
      continue;
    }
    const Tensor index = *value.AsTensor();
    if (index.dtype() == DType::kInt64 || index.dtype() == DType::kInt32) {
      given.emplace_back(index);
      continue;
    }
    if (index.dtype() != DType::kBool && index.dtype() != DType::kUint8) {
      call.Fail("argument 'indices': expected int64, bool or uint8, but got " + std::string(Spelling(index.dtype())));
    }
    // A mask: the places of what it chooses, one index for each of its dimensions.
    if (index.device().type == DeviceType::kMeta)
      call.Fail(ErrorClass::kUnsupported, "how many there are depends on elements, which a meta tensor has not");
    for (std::int64_t d = 0; d < index.dim(); ++d) {
      const std::size_t mine = given.size() + static_cast<std::size_t>(d);
      if (mine >= self.sizes().size() || index.sizes()[static_cast<std::size_t>(d)] != self.sizes()[mine]) {
        call.Fail("argument 'indices': a mask of sizes " + Print(index.sizes()) + " does not fit dimension " +
                  std::to_string(given.size()) + " of sizes " + Print(self.sizes()));
      }
    }
    const Tensor places = call.Invoke("aten::nonzero", {Value(index)});
    for (std::int64_t d = 0; d < index.dim(); ++d)
      given.emplace_back(places.View({places.size(0)}, {places.stride(0)}, d));
  }
  if (given.size() > self.sizes().size()) {
    call.Fail("argument 'indices': more of them than the " + std::to_string(self.dim()) + " dimensions of 'self'");
  }
  given.resize(self.sizes().size());
  Indexed result;
  std::vector<In> shapes;
  std::size_t changes = 0;
  bool any = false;
  for (std::size_t d = 0; d < given.size(); ++d) {
    if (given[d]) {
      if (!any) result.first = d;
      any = true;
      shapes.emplace_back(*given[d]);
    } else {
      result.others.push_back(d);
    }
    changes += d > 0 && given[d].has_value() != given[d - 1].has_value();
  }
  const DimVector broadcast = BroadcastOf(call, shapes);
  result.broadcast = broadcast.size();
  // Indices that do not stand side by side put their dimensions first.
  if (changes > 2 || (changes == 2 && given.front().has_value())) result.first = 0;
  for (std::size_t d = 0; d < result.first; ++d) result.sizes.push_back(self.sizes()[d]);
  for (const std::int64_t size : broadcast) result.sizes.push_back(size);
  for (const std::size_t d : result.others) {
    if (d >= result.first) result.sizes.push_back(self.sizes()[d]);
  }
  for (std::size_t d = 0; d < given.size(); ++d) {
    result.indices.emplace_back(std::nullopt);
    if (!given[d]) continue;
    const Tensor wide = Tensor::Empty(broadcast, DType::kInt64, given[d]->device(), given[d]->keys());
    result.indices.back() = wide;
    if (wide.device().type == DeviceType::kMeta) continue;
    CopyTo(wide, *given[d]);
    for (std::int64_t i = 0; i < wide.numel(); ++i) {
      std::int64_t& at = wide.data<std::int64_t>()[i];
      at = Checked(call, 1, at, self.sizes()[d], d, true);
    }
  }
  return result;
}

// The element of self that the walk's place in the result stands for.
std::int64_t PlaceOf(const Indexed& indexed, const Walk& walk, const Tensor& self) {
  std::int64_t at = 0, offset = 0;
  for (std::size_t k = 0; k < indexed.broadcast; ++k)
    at = at * indexed.sizes[indexed.first + k] + walk.at(indexed.first + k);
  for (std::size_t d = 0; d < indexed.indices.size(); ++d) {
    if (indexed.indices[d]) offset += indexed.indices[d]->data<std::int64_t>()[at] * self.strides()[d];
  }
  for (std::size_t k = 0; k < indexed.others.size(); ++k) {
    offset += walk.at(k < indexed.first ? k : k + indexed.broadcast) * self.strides()[indexed.others[k]];
  }
  return offset;
}

void IndexTensors(Call& call) {
  const Tensor self = call.tensor(0);
  const Indexed indexed = IndexedOf(call, self);
  const Tensor out = call.PackedResult(0, indexed.sizes, self.dtype());
  if (call.meta()) return;
  const std::size_t item = self.itemsize();
  Walk walk(indexed.sizes);
  for (std::int64_t i = 0; i < out.numel(); ++i, walk.Next()) {
    std::memcpy(At(out, i), At(self, PlaceOf(indexed, walk, self)), item);
  }
}

void IndexPut(Call& call) {
  const Tensor self = call.tensor(0), values = call.tensor(2);
  call.CheckSameDType(0, 2);
  const Indexed indexed = IndexedOf(call, self);
  Tensor source = values;
  try {
    source = values.View(indexed.sizes, reference::ExpandStrides(values.sizes(), values.strides(), indexed.sizes),
                         values.storage_offset());
  } catch (const reference::DispatchError& error) {
    call.Fail(error.error_class(), "argument 'values': " + std::string(error.what()));
  }
  const Tensor out = call.PackedResult(0, self.sizes(), self.dtype());
  if (call.meta()) return;
  const bool adds = call.boolean(3);
  const Tensor sums = adds ? SumsOf(out) : out;
  source = Converted(source, sums.dtype());
  CopyTo(sums, self);
  Walk walk(indexed.sizes);
  const std::int64_t count = source.numel();
  for (std::int64_t i = 0; i < count; ++i, walk.Next()) {
    char* const to = At(sums, PlaceOf(indexed, walk, sums));
    const char* const from = At(source, walk.Offset(source));
    if (adds) {
      AddElement(sums.dtype(), to, from, Scalar(1));
    } else {
      std::memcpy(to, from, self.itemsize());
    }
  }
  Finish(out, sums);
}

constexpr NamedKernel kKernels[] = {
    {"index.Tensor", &IndexTensors},
    {"index_put", &IndexPut},
    {"index_select", &IndexSelect},
    {"gather", &Gather},
    {"scatter.src", &Scatter<false, false>},
    {"scatter.value", &Scatter<false, true>},
    {"scatter_add", &Scatter<true, false>},
    {"index_add", &IndexAdd},
    {"nonzero", &Nonzero},
    {"masked_select", &MaskedSelect},
    {"embedding", &Embedding, Where::kAnywhere},
    {"tril", &Triangle<false>},
    {"triu", &Triangle<true>},
    {"sort.stable", &Sort},
    {"topk", &Topk},
};

}  // namespace

std::span<const NamedKernel> IndexKernels() { return kKernels; }

}  // namespace plumbline::kernels
