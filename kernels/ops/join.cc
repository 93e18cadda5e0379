// Joining, repeating, turning round, padding.
#include "kernels/shapes/join.h"

#include "kernels/compute.h"
#include "kernels/ops/ops.h"

namespace plumbline::kernels {
namespace {

void Cat(Call& call) {
  const CatPlan plan = PlanCat(call);
  if (call.meta()) return;
  for (const CatPlan::Part& part : plan.parts) CopyTo(part.place, part.from);
}

void Stacked(Call& call) {
  const std::vector<Tensor> tensors = call.tensors(0);
  if (tensors.empty()) call.Fail("argument 'tensors': expected at least one tensor, but the list is empty");
  const std::int64_t dim = call.WrapDim(1, tensors[0].dim() + 1);
  std::vector<Value> parts;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!(tensors[i].sizes() == tensors[0].sizes())) {
      call.Fail("argument 'tensors': expected all of sizes " + Print(tensors[0].sizes()) + ", but tensor " +
                std::to_string(i) + " has " + Print(tensors[i].sizes()));
    }
    parts.push_back(Value(call.Invoke("aten::unsqueeze", {Value(tensors[i]), Value(dim)})));
  }
  call.Return(0, call.Invoke("aten::cat", {Value(std::move(parts)), Value(dim)}));
}

void Repeat(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector repeats = call.ints(1);
  if (static_cast<std::int64_t>(repeats.size()) < self.dim()) {
    call.Fail("argument 'repeats': expected at least " + std::to_string(self.dim()) + " numbers, but got " +
              std::to_string(repeats.size()));
  }
  const std::size_t more = repeats.size() - self.sizes().size();
  DimVector sizes, wide, strides, wide_strides;
  for (std::size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] < 0)
      call.Fail("argument 'repeats': expected numbers from 0 on, but got " + std::to_string(repeats[d]));
    const std::int64_t size = d < more ? 1 : self.sizes()[d - more];
    std::int64_t product;
    if (__builtin_mul_overflow(size, repeats[d], &product))
      call.Fail(ErrorClass::kOverflow,
                "sizes of the result do not fit: " + std::to_string(size) + " times " + std::to_string(repeats[d]));
    sizes.push_back(product);
    wide.push_back(repeats[d]);
    wide.push_back(size);
    strides.push_back(0);
    strides.push_back(d < more ? 0 : self.strides()[d - more]);
  }
  reference::CheckedBytes(sizes, self.dtype());
  const Tensor out = call.PackedResult(0, sizes, self.dtype());
  if (call.meta() || out.numel() == 0) return;
  CopyElements(call, out.View(wide, reference::ContiguousStrides(wide), 0),
               self.View(wide, strides, self.storage_offset()));
}

void Flip(Call& call) {
  const Tensor self = call.tensor(0);
  std::vector<bool> turned(self.sizes().size() + 1);
  for (const std::int64_t dim : call.ints(1)) {
    const auto d = static_cast<std::size_t>(call.WrapDimValue(dim, self.dim(), 1));
    if (turned[d]) call.Fail("argument 'dims': dimension " + std::to_string(dim) + " appears twice");
    turned[d] = true;
  }
  const Tensor out = call.Result(0, self.sizes(), self.dtype(), reference::StridesLike(self.sizes(), self.strides()));
  if (call.meta() || self.numel() == 0) return;
  // Strides of the compute layer may be negative: the elements are read from the far end.
  Strided in(self);
  const char* from = static_cast<const char*>(in.data);
  for (std::size_t d = 0; d < self.sizes().size(); ++d) {
    if (!turned[d]) continue;
    from += (self.sizes()[d] - 1) * in.strides[d];
    in.strides[d] = -in.strides[d];
  }
  const Strided to(out);
  cpu::Copy(IntSpan(to.sizes), {out.data(), to.strides.data(), to.type, to.type},
            {const_cast<char*>(from), in.strides.data(), in.type, in.type});
}

void Pad(Call& call) {
  const Tensor self = call.tensor(0);
  const DimVector pad = call.ints(1);
  const std::size_t dims = self.sizes().size();
  if (pad.size() % 2 != 0 || pad.size() / 2 > dims) {
    call.Fail("argument 'pad': expected two numbers for each of at most " + std::to_string(dims) +
              " dimensions, but got " + std::to_string(pad.size()));
  }
  DimVector sizes(self.sizes());
  Tensor source = self;
  DimVector starts(dims);
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    const std::size_t d = dims - 1 - k;
    const std::int64_t before = pad[2 * k], after = pad[2 * k + 1];
    const __int128 size = __int128{sizes[d]} + before + after;
    if (size < 0) {
      call.Fail("argument 'pad': dimension " + std::to_string(d) + " of " + std::to_string(sizes[d]) +
                " elements is cut by more than there are");
    }
    sizes[d] = call.SizeFrom(size);
    const auto cut = [all = self.sizes()[d]](std::int64_t at_one_end) {
      return at_one_end >= 0 ? 0 : at_one_end < -all ? all : -at_one_end;
    };
    const std::int64_t from = cut(before);
    source = Narrowed(source, d, from, std::max<std::int64_t>(0, self.sizes()[d] - from - cut(after)));
    starts[d] = std::max<std::int64_t>(0, before);
  }
  call.CheckHolds(2, self.dtype());
  const Tensor out = call.PackedResult(0, sizes, self.dtype());
  if (call.meta()) return;
  FillElements(call, out, call.scalar(2));
  Tensor inner = out;
  for (std::size_t d = 0; d < dims; ++d) {
    if (source.sizes()[d] == 0) return;
    inner = Narrowed(inner, d, starts[d], source.sizes()[d]);
  }
  CopyElements(call, inner, source);
}

constexpr NamedKernel kKernels[] = {
    {"cat", &Cat},   {"stack", &Stacked, Where::kAnywhere},       {"repeat", &Repeat, Where::kAnywhere},
    {"flip", &Flip}, {"constant_pad_nd", &Pad, Where::kAnywhere},
};

}  // namespace

std::span<const NamedKernel> JoinKernels() { return kKernels; }

}  // namespace plumbline::kernels
