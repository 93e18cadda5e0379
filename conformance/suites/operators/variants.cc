#include "conformance/suites/operators/variants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/promotion.h"

namespace plumbline::suites {
namespace {

bool OverlapsItself(const HostTensor& tensor) {
  if (tensor.numel() <= 1) return false;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (tensor.sizes[d] > 1 && tensor.strides[d] == 0) return true;
  }
  return false;
}

bool SameLayout(const HostTensor& a, const HostTensor& b) {
  return a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset;
}

// The result as it is in the written tensor.
void CastInto(std::uint32_t dtype, ExpectedTensor& result) {
  if (dtype == result.dtype) return;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    long double& value = result.values[i];
    // It was rounded to its own dtype first.
    const long double rounded = RoundTo(result.dtype, value);
    if (result.bounds.empty() || result.bounds[i] == 0 || result.bounds[i] == kEitherZero) {
      value = rounded;
    } else if (std::isfinite(value) && std::isinf(rounded)) {
      value = rounded;
      result.bounds[i] = std::fabs(value) - result.bounds[i] > Greatest(result.dtype) ? 0 : kAnything;
    } else if (std::isfinite(result.bounds[i])) {
      result.bounds[i] += UlpOf(result.dtype, value) / 2;
    }
    if (IsFloating(dtype)) continue;
    const bool fits = std::isfinite(value) && std::fabs(value) < 0x1p63L;
    value = fits ? CastTo(dtype, value) : 0;
    if (!fits && result.bounds.size() > i) result.bounds[i] = kAnything;
  }
  for (std::vector<long double>& choices : result.any_of) {
    for (long double& choice : choices) choice = IsFloating(dtype) ? choice : CastTo(dtype, choice);
  }
  result.dtype = dtype;
}

void Add(std::vector<Variant>& all, std::string base, const char* in_place, const char* out, bool elementwise = true) {
  if (in_place != nullptr) all.push_back({in_place, base, elementwise ? Written::kSelf : Written::kSelfOfOwn});
  if (out != nullptr) all.push_back({out, base, elementwise ? Written::kOut : Written::kOutOfSameKind});
}

// No element of the one is an element of the other, as of views that interleave.
bool Apart(const HostTensor& a, const HostTensor& b) {
  std::set<std::int64_t> places;
  for (std::int64_t i = 0; i < a.numel(); ++i) places.insert(a.PlaceOf(i));
  for (std::int64_t i = 0; i < b.numel(); ++i) {
    if (places.contains(b.PlaceOf(i))) return false;
  }
  return true;
}

}  // namespace

const std::vector<Variant>& Variants() {
  static const auto& all = *[] {
    auto* made = new std::vector<Variant>;
    for (const char* base :
         {"abs",         "neg",         "sign",       "floor", "ceil",    "trunc",      "round",       "relu",
          "leaky_relu",  "gelu",        "silu",       "sqrt",  "rsqrt",   "reciprocal", "square",      "exp",
          "expm1",       "log",         "log2",       "log1p", "sin",     "cos",        "tan",         "atan",
          "tanh",        "erf",         "sigmoid",    "exp2",  "log10",   "asin",       "acos",        "sinh",
          "cosh",        "erfc",        "clamp",      "atan2", "addcmul", "addcdiv",    "logical_and", "logical_or",
          "logical_xor", "logical_not", "bitwise_not"}) {
      const std::string name = base;
      Add(*made, name, (name + "_").c_str(), (name + ".out").c_str());
    }
    for (const char* base : {"add", "sub", "mul", "div"}) {
      const std::string name = base;
      Add(*made, name + ".Tensor", (name + "_.Tensor").c_str(), (name + ".out").c_str());
      Add(*made, name + ".Scalar", (name + "_.Scalar").c_str(), nullptr);
    }
    for (const char* base : {"eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"}) {
      const std::string name = base;
      for (const char* overload : {".Tensor", ".Scalar"}) {
        Add(*made, name + overload, (name + "_" + overload).c_str(), (name + overload + "_out").c_str());
      }
    }
    for (const char* base : {"remainder", "fmod"}) {
      const std::string name = base;
      Add(*made, name + ".Tensor", (name + "_.Tensor").c_str(), (name + ".Tensor_out").c_str());
    }
    Add(*made, "div.Tensor_mode", "div_.Tensor_mode", "div.out_mode");
    Add(*made, "floor_divide", "floor_divide_.Tensor", "floor_divide.out");
    Add(*made, "pow.Tensor_Tensor", "pow_.Tensor", "pow.Tensor_Tensor_out");
    Add(*made, "pow.Tensor_Scalar", "pow_.Scalar", "pow.Tensor_Scalar_out");
    Add(*made, "maximum", nullptr, "maximum.out");
    Add(*made, "minimum", nullptr, "minimum.out");
    Add(*made, "where.self", nullptr, "where.self_out", false);
    for (const auto& [base, in_place, out] : std::initializer_list<std::array<const char*, 3>>{
             {"sum", nullptr, "sum.out"},
             {"sum.dim_IntList", nullptr, "sum.IntList_out"},
             {"mean.dim", nullptr, "mean.out"},
             {"prod.dim_int", nullptr, "prod.int_out"},
             {"amax", nullptr, "amax.out"},
             {"amin", nullptr, "amin.out"},
             {"argmax", nullptr, "argmax.out"},
             {"argmin", nullptr, "argmin.out"},
             {"any.dim", nullptr, "any.out"},
             {"all.dim", nullptr, "all.out"},
             {"var.correction", nullptr, "var.correction_out"},
             {"std.correction", nullptr, "std.correction_out"},
             {"norm.ScalarOpt_dim", nullptr, "norm.out"},
             {"logsumexp", nullptr, "logsumexp.out"},
             {"cumsum", "cumsum_", "cumsum.out"},
             {"cumprod", "cumprod_", "cumprod.out"},
             {"mm", nullptr, "mm.out"},
             {"bmm", nullptr, "bmm.out"},
             {"mv", nullptr, "mv.out"},
             {"dot", nullptr, "dot.out"},
             {"matmul", nullptr, "matmul.out"},
             {"addmm", "addmm_", "addmm.out"},
             {"baddbmm", "baddbmm_", "baddbmm.out"},
             {"linear", nullptr, "linear.out"},
             {"outer", nullptr, "outer.out"},
             {"_softmax", nullptr, "_softmax.out"},
             {"_log_softmax", nullptr, "_log_softmax.out"},
             {"cat", nullptr, "cat.out"},
             {"stack", nullptr, "stack.out"},
             {"index_select", nullptr, "index_select.out"},
             {"gather", nullptr, "gather.out"},
             {"scatter.src", "scatter_.src", "scatter.src_out"},
             {"scatter.value", "scatter_.value", "scatter.value_out"},
             {"scatter_add", "scatter_add_", "scatter_add.out"},
             {"index_add", "index_add_", "index_add.out"},
             {"index_put", "index_put_", nullptr},
             {"masked_fill.Scalar", "masked_fill_.Scalar", nullptr},
             {"masked_select", nullptr, "masked_select.out"},
             {"nonzero", nullptr, "nonzero.out"},
             {"tril", "tril_", "tril.out"},
             {"triu", "triu_", "triu.out"},
             {"mse_loss", nullptr, "mse_loss.out"},
             {"smooth_l1_loss", nullptr, "smooth_l1_loss.out"},
             {"binary_cross_entropy", nullptr, "binary_cross_entropy.out"},
             {"convolution", nullptr, "convolution.out"},
             {"repeat", nullptr, "repeat.out"},
             {"flip", nullptr, "flip.out"},
             {"clone", nullptr, "clone.out"},
             {"avg_pool2d", nullptr, "avg_pool2d.out"},
             {"adaptive_avg_pool2d", nullptr, "adaptive_avg_pool2d.out"},
         }) {
      Add(*made, base, in_place, out, false);
    }
    made->push_back({"max.dim_max", "max.dim", Written::kOutOfSameKind, 2});
    made->push_back({"min.dim_min", "min.dim", Written::kOutOfSameKind, 2});
    made->push_back({"sort.values_stable", "sort.stable", Written::kOutOfSameKind, 2});
    made->push_back({"topk.values", "topk", Written::kOutOfSameKind, 2});
    made->push_back({"nll_loss_forward.output", "nll_loss_forward", Written::kOutOfSameKind, 2});
    made->push_back({"max_pool2d_with_indices.out", "max_pool2d_with_indices", Written::kOutOfSameKind, 2});
    return made;
  }();
  return all;
}

bool OverlapsPartly(const std::vector<const Argument*>& tensors, std::size_t number) {
  const Argument& written = *tensors[number];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool shared = i != number && (written.integer == static_cast<std::int64_t>(i) ||
                                        tensors[i]->integer == static_cast<std::int64_t>(number));
    if (shared && !SameLayout(tensors[i]->tensor, written.tensor) && !Apart(tensors[i]->tensor, written.tensor)) {
      return true;
    }
  }
  return false;
}

Expected ExpectedOf(const Variant& variant, const Oracle& base, const OperatorCall& call) {
  const auto outs = static_cast<std::size_t>(variant.in_place() ? 0 : variant.outs);
  OperatorCall functional{variant.base,
                          {call.arguments.begin(), call.arguments.end() - static_cast<std::ptrdiff_t>(outs)}};
  const std::vector<const Argument*> tensors = TensorsOf(call);
  // A scan without a dtype is one in the dtype of the tensor that it is to be in.
  const bool scans = variant.name == "cumsum_" || variant.name == "cumprod_";
  const std::uint32_t of_self = scans ? call.arguments[0].tensor.dtype : 0;
  const bool of_another = scans && GivenOr(call.arguments[2], of_self) != of_self;
  if (scans) functional.arguments[2] = Argument::Int(of_self);
  Expected expected = base(functional);
  const auto refuse = [&](const char* why) {
    if (!expected.refused())
      expected = Expected::Refused(PL_ERROR_INVALID_ARGUMENT, why);
    else
      expected.errors.push_back(PL_ERROR_INVALID_ARGUMENT);
    expected.by_elements = false;
  };
  if (of_another) refuse("a scan in place is in the dtype of self");
  for (std::size_t k = 0; k < (variant.in_place() ? 1 : outs); ++k) {
    const std::size_t number = variant.in_place() ? 0 : tensors.size() - outs + k;
    const Argument& written = *tensors[number];
    if (OverlapsItself(written.tensor)) refuse("the written tensor overlaps itself");
    if (OverlapsPartly(tensors, number)) refuse(kOverlapsPartly);
    if (expected.refused()) continue;
    ExpectedTensor& result = expected.tensors[k];
    if (variant.in_place() && result.sizes != written.tensor.sizes) {
      refuse("the result has other sizes than the tensor that it is to be in");
      continue;
    }
    if (!CanCast(result.dtype, written.tensor.dtype)) {
      refuse("the result cannot be cast to the dtype of the tensor that it is to be in");
      continue;
    }
    CastInto(written.tensor.dtype, result);
    result.same_as = static_cast<int>(number);
    result.strides.reset();
  }
  return expected;
}

namespace {

HostTensor Poisoned(std::uint32_t dtype, const Sizes& sizes, Draw& draw, bool strided) {
  HostTensor tensor = draw.Contiguous(dtype, sizes, Values::kUsual);
  for (int tries = 0; strided && tries < 8; ++tries) {
    HostTensor other = draw.Tensor(dtype, sizes, Values::kUsual);
    if (OverlapsItself(other)) continue;
    tensor = std::move(other);
    break;
  }
  const long double poison = IsFloating(dtype) ? std::numeric_limits<long double>::quiet_NaN() : 1;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.SetAt(i, poison);
  return tensor;
}

// Self as a tensor that can be written: of the result's sizes, no element twice.
void Writable(OperatorCall& call, const Expected& expected, Draw& draw) {
  HostTensor& self = call.arguments[0].tensor;
  const bool other_sizes = !expected.refused() && !expected.tensors.empty() && expected.tensors[0].sizes != self.sizes;
  if (!other_sizes && !OverlapsItself(self)) return;
  if (draw.OneIn(16)) return;
  const HostTensor old = self;
  HostTensor made = Poisoned(self.dtype, other_sizes ? expected.tensors[0].sizes : self.sizes, draw, true);
  for (std::int64_t i = 0; i < made.numel(); ++i) made.Set(i, old.numel() == 0 ? 1 : old.Get(i % old.numel()));
  self = std::move(made);
}

}  // namespace

OperatorCall DrawVariant(const Variant& variant, const Oracle& base, const CallDrawer& drawer, std::uint32_t dtype,
                         Draw& draw) {
  OperatorCall call = drawer(variant.base, dtype, draw);
  const Expected expected = base(call);
  call.op = "aten::" + variant.name;
  if (variant.in_place()) {
    Writable(call, expected, draw);
    // An operand may be self.
    if (variant.written == Written::kSelf && call.arguments.size() > 1 && call.arguments[1].kind == PL_TENSOR &&
        call.arguments[1].tensor.dtype == call.arguments[0].tensor.dtype && draw.OneIn(8)) {
      call.arguments[1] = Argument::ViewOf(0, call.arguments[0].tensor);
    }
    return call;
  }
  const std::size_t inputs = TensorsOf(call).size();
  for (int k = 0; k < variant.outs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    if (expected.refused() || expected.tensors.size() <= at) {
      call.arguments.push_back(Argument::Of(Poisoned(dtype, {2}, draw, false)));
      continue;
    }
    const ExpectedTensor& result = expected.tensors[at];
    std::uint32_t out_dtype = result.dtype;
    if (variant.written == Written::kOut && draw.OneIn(4)) {
      out_dtype = draw.Of({PL_DTYPE_FLOAT32, PL_DTYPE_FLOAT64, PL_DTYPE_FLOAT16, PL_DTYPE_INT32, PL_DTYPE_BOOL,
                           PL_DTYPE_UINT8, PL_DTYPE_INT64});
    }
    if (variant.written == Written::kOut && draw.OneIn(6)) {
      const HostTensor& self = call.arguments[0].tensor;
      if (call.arguments[0].kind == PL_TENSOR && self.sizes == result.sizes) {
        call.arguments.push_back(Argument::ViewOf(0, self));
        continue;
      }
    }
    if (variant.written == Written::kOut && draw.OneIn(24) && call.arguments[0].kind == PL_TENSOR &&
        call.arguments[0].tensor.numel() > 1 && call.arguments[0].tensor.sizes == result.sizes && inputs <= 2) {
      // One element further in the same memory.
      HostTensor& self = call.arguments[0].tensor;
      HostTensor longer =
          HostTensor::Strided(self.dtype, self.sizes, ContiguousStrides(self.sizes), 0, self.numel() + 1);
      for (std::int64_t i = 0; i < self.numel(); ++i) longer.Set(i, self.Get(i));
      self = std::move(longer);
      HostTensor shifted = self;
      shifted.offset = 1;
      call.arguments.push_back(Argument::ViewOf(0, std::move(shifted)));
      continue;
    }
    Sizes sizes = result.sizes;
    if (draw.OneIn(5)) sizes = {0};
    if (draw.OneIn(16)) sizes = {3, 2};
    HostTensor out = Poisoned(out_dtype, sizes, draw, sizes == result.sizes && draw.OneIn(2));
    if (variant.written == Written::kOut && sizes == result.sizes && out.numel() > 1 && draw.OneIn(40)) {
      out = HostTensor::Strided(out_dtype, sizes, Sizes(sizes.size(), 0), 0, 1);
    }
    call.arguments.push_back(Argument::Of(std::move(out)));
  }
  return call;
}

}  // namespace plumbline::suites
