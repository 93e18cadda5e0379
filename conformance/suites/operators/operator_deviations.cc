#include "conformance/suites/operators/operator_deviations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>

#include "conformance/suites/operators/broadcast.h"
#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/oracle_elements.h"
#include "conformance/suites/operators/promotion.h"
#include "conformance/suites/operators/variants.h"

namespace plumbline::suites {
namespace {

constexpr std::string_view kNamespace = "aten::";

std::string_view NameOf(const OperatorCall& call) { return std::string_view(call.op).substr(kNamespace.size()); }

// Without the overload and the mark of one in place.
std::string_view BaseOf(const OperatorCall& call) {
  std::string_view name = NameOf(call).substr(0, NameOf(call).find('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const Variant* VariantOf(const OperatorCall& call) {
  const auto found =
      std::find_if(Variants().begin(), Variants().end(), [&](const Variant& one) { return one.name == NameOf(call); });
  return found == Variants().end() ? nullptr : &*found;
}

// The tensor arguments that the call writes, by number: self, or those of `out`.
std::vector<std::size_t> WrittenOf(const OperatorCall& call) {
  const Variant* variant = VariantOf(call);
  if (variant == nullptr) return {};
  if (variant->in_place()) return {0};
  std::vector<std::size_t> written;
  const std::size_t tensors = TensorsOf(call).size();
  for (int k = 0; k < variant->outs; ++k) written.push_back(tensors - 1 - static_cast<std::size_t>(k));
  return written;
}

bool HasOut(const OperatorCall& call) { return VariantOf(call) != nullptr && !VariantOf(call)->in_place(); }

bool IsOf16Bits(std::uint32_t dtype) { return IsFloating(dtype) && DtypeBytes(dtype) == 2; }

bool Has(const Expected& expected, std::uint32_t error_class) {
  return std::find(expected.errors.begin(), expected.errors.end(), error_class) != expected.errors.end();
}

bool IsAccepted(const WrongCall& wrong) { return !wrong.died && wrong.outcome.error_class == PL_ERROR_NONE; }
bool IsRefused(const WrongCall& wrong) { return !wrong.died && wrong.outcome.error_class != PL_ERROR_NONE; }

bool IsTakenThoughRefused(const WrongCall& wrong) { return wrong.expected.refused() && IsAccepted(wrong); }
bool IsRefusedThoughRight(const WrongCall& wrong) {
  return !wrong.expected.refused() && wrong.outcome.error_class == PL_ERROR_INVALID_ARGUMENT;
}

// It is wrong in nothing but what it did to its arguments.
bool OnlyChanges(const WrongCall& wrong) { return !wrong.died && !Compare(wrong.expected, wrong.outcome); }

std::string ChangeOf(const WrongCall& wrong) {
  return WrongChange(wrong.expected, wrong.call, wrong.outcome).value_or("");
}

constexpr std::string_view kKeepsItsVersion = "which it writes, does not go up";
bool IsBatchNorm(const OperatorCall& call) { return IsOneOf(BaseOf(call), {"batch_norm", "native_batch_norm"}); }

// The outcome is right by bounds that `widen` changes.
bool IsRightWith(const WrongCall& wrong, const std::function<void(ExpectedTensor& tensor)>& widen) {
  if (!IsAccepted(wrong) || wrong.expected.refused()) return false;
  Expected wider = wrong.expected;
  for (ExpectedTensor& tensor : wider.tensors) {
    tensor.bounds.resize(tensor.values.size(), 0);
    widen(tensor);
  }
  for (auto& [number, tensor] : wider.changed) {
    tensor.bounds.resize(tensor.values.size(), 0);
    widen(tensor);
  }
  if (Compare(wider, wrong.outcome)) return false;
  const std::string change = WrongChange(wider, wrong.call, wrong.outcome).value_or("");
  return change.empty() || (IsBatchNorm(wrong.call) && change.ends_with(kKeepsItsVersion));
}

// The outcome is right but for elements that `admits` says may be as they are.
bool IsRightBut(const WrongCall& wrong,
                const std::function<bool(const ExpectedTensor& due, std::size_t at, long double got)>& admits) {
  if (!IsAccepted(wrong) || wrong.outcome.tensors.size() != wrong.expected.tensors.size()) return false;
  std::size_t which = 0;
  return IsRightWith(wrong, [&](ExpectedTensor& tensor) {
    if (which >= wrong.outcome.tensors.size()) return;
    const HostTensor& got = wrong.outcome.tensors[which++].tensor;
    if (got.sizes != tensor.sizes || got.device == kMeta) return;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (admits(tensor, i, got.Get(static_cast<std::int64_t>(i)))) tensor.bounds[i] = kAnything;
    }
  });
}

// ---- refusals ----

bool ResizesOut(const WrongCall& wrong) {
  return wrong.expected.refused() && OnlyChanges(wrong) && HasOut(wrong.call) &&
         ChangeOf(wrong).ends_with("has another size");
}

bool WritesAndRefuses(const WrongCall& wrong) {
  if (!wrong.expected.refused() || !OnlyChanges(wrong)) return false;
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  std::vector<std::size_t> written = WrittenOf(wrong.call);
  for (std::size_t& one : written) one = OwnerOf(tensors, one);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool same = wrong.outcome.arguments_after[i].storage == tensors[OwnerOf(tensors, i)]->tensor.storage;
    if (!same && std::find(written.begin(), written.end(), OwnerOf(tensors, i)) == written.end()) return false;
  }
  return !written.empty();
}

bool TakesWhatIsEmpty(const WrongCall& wrong) {
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  return IsTakenThoughRefused(wrong) &&
         std::any_of(tensors.begin(), tensors.end(), [](const Argument* one) { return one->tensor.numel() == 0; });
}

bool TakesMoreDtypes(const WrongCall& wrong) {
  return IsTakenThoughRefused(wrong) && Has(wrong.expected, PL_ERROR_NO_DTYPE) &&
         IsOneOf(BaseOf(wrong.call),
                 {"avg_pool2d", "conv1d", "conv2d", "convolution", "dropout", "native_dropout", "l1_loss"});
}

bool SelectsAmongNone(const WrongCall& wrong) {
  if (!IsTakenThoughRefused(wrong) || !Has(wrong.expected, PL_ERROR_NO_DTYPE)) return false;
  if (BaseOf(wrong.call) == "topk") {
    return wrong.call.arguments[1].integer == 0 || wrong.call.arguments[0].tensor.sizes.empty();
  }
  if (!IsOneOf(BaseOf(wrong.call), {"argmax", "argmin"})) return false;
  const HostTensor& self = wrong.call.arguments[0].tensor;
  const auto dim = static_cast<std::int64_t>(self.sizes.size());
  const std::int64_t at = wrong.call.arguments[1].kind == PL_INT ? wrong.call.arguments[1].integer : 0;
  return self.numel() == 1 || (dim > 0 && self.sizes[static_cast<std::size_t>(at < 0 ? at + dim : at)] == 1);
}

bool TakesAnyProbability(const WrongCall& wrong) {
  return IsTakenThoughRefused(wrong) && BaseOf(wrong.call) == "native_dropout" &&
         wrong.expected.why.starts_with("p is");
}

bool TakesOverlap(const WrongCall& wrong) {
  return IsTakenThoughRefused(wrong) && wrong.expected.why.find("overlaps") != std::string::npos;
}

bool TakesAnotherSelf(const WrongCall& wrong) {
  return IsTakenThoughRefused(wrong) && wrong.expected.why == "self differs in dtype" &&
         BaseOf(wrong.call) == "baddbmm";
}

bool RefusesAnotherOut(const WrongCall& wrong) {
  if (wrong.expected.refused() || !HasOut(wrong.call) || !IsRefused(wrong)) return false;
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  return tensors.back()->tensor.dtype != tensors.front()->tensor.dtype &&
         IsOneOf(BaseOf(wrong.call), {"abs", "bitwise_not", "floor", "ceil", "round", "sign", "trunc", "neg", "addcmul",
                                      "addcdiv", "clamp", "gelu", "leaky_relu", "pow", "silu", "square", "relu"});
}

bool ReducesNoDimension(const WrongCall& wrong) {
  return IsRefusedThoughRight(wrong) && BaseOf(wrong.call) == "logsumexp" && wrong.call.arguments[1].items.empty();
}

bool NarrowsBeforeItPads(const WrongCall& wrong) {
  const std::vector<Argument>& pads = wrong.call.arguments[1].items;
  return IsRefusedThoughRight(wrong) && BaseOf(wrong.call) == "constant_pad_nd" &&
         std::any_of(pads.begin(), pads.end(), [](const Argument& pad) { return pad.integer < 0; });
}

bool TakesMaskForLastDimension(const WrongCall& wrong) {
  if (!IsRefusedThoughRight(wrong) || BaseOf(wrong.call) != "index_put") return false;
  const std::vector<Argument>& indices = wrong.call.arguments[1].items;
  return std::any_of(indices.begin(), indices.end(), [](const Argument& index) {
    return index.kind == PL_TENSOR && (index.tensor.dtype == PL_DTYPE_BOOL || index.tensor.dtype == PL_DTYPE_UINT8);
  });
}

bool ForgetsTransposed(const WrongCall& wrong) {
  if (wrong.died || BaseOf(wrong.call) != "convolution") return false;
  const std::vector<Argument>& arguments = wrong.call.arguments;
  return arguments[6].integer != 0 && IsOf16Bits(arguments[0].tensor.dtype);
}

// Of a sum or a mean `out` is used for the single losses before.
bool UsesOutBetween(const WrongCall& wrong) {
  if (!HasOut(wrong.call) || !IsOneOf(BaseOf(wrong.call), {"mse_loss", "smooth_l1_loss", "binary_cross_entropy"})) {
    return false;
  }
  if (IsRefusedThoughRight(wrong)) return true;
  if (wrong.expected.refused() || !IsAccepted(wrong)) return false;
  if (OnlyChanges(wrong)) return ChangeOf(wrong).ends_with("has another size");
  const Sizes& given = TensorsOf(wrong.call).back()->tensor.sizes;
  const Sizes& got = wrong.outcome.tensors.front().tensor.sizes;
  if (got == given && got != wrong.expected.tensors.front().sizes) return true;
  return wrong.expected.tensors.front().sizes.empty() && wrong.outcome.tensors.front().tensor.sizes.empty();
}

bool HasNoMask(const WrongCall& wrong) {
  return IsAccepted(wrong) && BaseOf(wrong.call) == "native_dropout" && wrong.call.arguments[0].tensor.numel() == 0;
}

bool ConvertsDown(const WrongCall& wrong) {
  return IsTakenThoughRefused(wrong) && NameOf(wrong.call) == "relu.out" &&
         wrong.expected.why.find("cannot be cast") != std::string::npos;
}

bool EndsTheProcess(const WrongCall& wrong) {
  if (!wrong.died || !IsOneOf(BaseOf(wrong.call), {"remainder", "fmod", "floor_divide", "div"})) return false;
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  return tensors.size() > 1 && !IsFloating(tensors[0]->tensor.dtype) && !IsFloating(tensors[1]->tensor.dtype);
}

// ---- values ----

// The bound is by float32; it is wider by four times what a unit of 16 bits is more, and where there are many terms by
// more: a sum stands still once a term is less than the unit of what is there.
long double Roughly(const WrongCall& wrong, const ExpectedTensor& due, std::size_t at) {
  std::int64_t most = 1;
  for (const Argument* tensor : TensorsOf(wrong.call)) most = std::max(most, tensor->tensor.numel());
  const long double terms = std::clamp(static_cast<long double>(most) / 16, 1.0L, 16.0L);
  return (due.bounds.size() > at ? due.bounds[at] : 0) * std::ldexp(4 * terms, 24 - DigitsOf(due.dtype));
}

bool ComputesIn16Bits(const WrongCall& wrong) {
  const bool divides = IsOneOf(BaseOf(wrong.call), {"floor_divide", "div", "remainder", "fmod"});
  std::size_t which = 0;
  return IsRightWith(wrong, [&](ExpectedTensor& tensor) {
    const std::size_t mine = which++;
    if (!IsOf16Bits(tensor.dtype)) return;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      tensor.bounds[i] = Roughly(wrong, tensor, i);
      // A count stands still, too.
      if (BaseOf(wrong.call) == "norm") tensor.bounds[i] = std::max(tensor.bounds[i], std::fabs(tensor.values[i]));
      if (divides) tensor.bounds[i] += std::max(1.0L, 2 * UlpOf(tensor.dtype, tensor.values[i]));
      if (mine >= wrong.outcome.tensors.size()) continue;
      const HostTensor& got = wrong.outcome.tensors[mine].tensor;
      const bool readable = got.sizes == tensor.sizes && got.device != kMeta;
      const bool overflows =
          tensor.dtype == PL_DTYPE_FLOAT16 || IsOneOf(BaseOf(wrong.call), {"_log_softmax", "log_softmax"});
      if (readable && overflows && !std::isfinite(got.Get(static_cast<std::int64_t>(i)))) {
        tensor.bounds[i] = kAnything;
      }
    }
  });
}

bool TakesLogOfOneMinus(const WrongCall& wrong) {
  return IsOneOf(BaseOf(wrong.call), {"binary_cross_entropy", "binary_cross_entropy_with_logits"}) &&
         IsRightWith(wrong, [](ExpectedTensor& tensor) {
           const long double unit = UnitOf(tensor.dtype) * (IsOf16Bits(tensor.dtype) ? 0x1p16L : 1);
           for (long double& bound : tensor.bounds) bound += 32 * unit;
         });
}

bool LosesADigit(const WrongCall& wrong) {
  const bool norm = BaseOf(wrong.call) == "norm";
  return (norm || IsOneOf(BaseOf(wrong.call), {"var", "std"})) && IsRightWith(wrong, [&](ExpectedTensor& tensor) {
           for (long double& bound : tensor.bounds) bound *= norm ? 64 : 4;
         });
}

// The greatest number of the dtype that an operator with floating results computes in.
long double GreatestOf(const WrongCall& wrong) {
  return Greatest(ComputedIn(FloatOr(wrong.call.arguments[0].tensor.dtype)));
}

bool OverflowsEarly(const WrongCall& wrong) {
  if (!IsOneOf(BaseOf(wrong.call), {"sinh", "cosh"})) return false;
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    return std::isinf(got) && std::fabs(due.values[at]) > GreatestOf(wrong) / 4;
  });
}

bool TakesGreatestForInfinite(const WrongCall& wrong) {
  if (BaseOf(wrong.call) != "log1p") return false;
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    return std::isinf(got) && due.values[at] > std::log(GreatestOf(wrong) / 32);
  });
}

bool TakesRootOfInfinity(const WrongCall& wrong) {
  if (BaseOf(wrong.call) != "pow" || wrong.call.arguments[1].kind != PL_FLOAT) return false;
  return IsRightBut(wrong, [](const ExpectedTensor& due, std::size_t at, long double got) {
    return (std::isnan(got) || std::isinf(got)) && (std::isinf(due.values[at]) || due.values[at] == 0);
  });
}

bool IsOneOff(const WrongCall& wrong) {
  if (!IsOneOf(BaseOf(wrong.call), {"floor_divide", "div"})) return false;
  const std::uint32_t computed = CommonDtype(FirstOf(wrong.call, 2));
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    const long double off = std::fabs(got - due.values[at]);
    if (IsOf16Bits(computed)) return off <= std::max(1.0L, 2 * UlpOf(computed, due.values[at]));
    return std::fabs(due.values[at]) > 0x1p20L && off <= 1;
  });
}

bool MissesItsEnd(const WrongCall& wrong) {
  if (BaseOf(wrong.call) != "linspace") return false;
  const long double widest =
      std::fmax(std::fabs(NumberOf(wrong.call.arguments[0])), std::fabs(NumberOf(wrong.call.arguments[1])));
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    return std::fabs(got - due.values[at]) <= 4 * UlpOf(due.dtype, widest);
  });
}

bool IsTrueOfZeros(const WrongCall& wrong) {
  if (BaseOf(wrong.call) != "prod") return false;
  return IsRightBut(wrong, [](const ExpectedTensor& due, std::size_t, long double got) {
    return due.dtype == PL_DTYPE_BOOL && got == 1;
  });
}

bool DiesOfOut(const WrongCall& wrong) {
  if (!wrong.died || NameOf(wrong.call) != "stack.out") return false;
  const HostTensor& out = TensorsOf(wrong.call).back()->tensor;
  return std::find(out.strides.begin(), out.strides.end(), 0) != out.strides.end();
}

bool ReadsForBetaZero(const WrongCall& wrong) {
  if (!IsOneOf(BaseOf(wrong.call), {"baddbmm", "addmm"}) || NumberOf(wrong.call.arguments[3]) != 0) return false;
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    return std::isnan(got) || (IsOf16Bits(due.dtype) && std::fabs(got - due.values[at]) <= Roughly(wrong, due, at));
  });
}

bool VanishesEarly(const WrongCall& wrong) {
  if (BaseOf(wrong.call) != "silu") return false;
  return IsRightBut(wrong, [](const ExpectedTensor& due, std::size_t at, long double got) {
    return got == 0 && std::fabs(due.values[at]) < LeastNormal(due.dtype) * 128;
  });
}

bool LosesRemainder(const WrongCall& wrong) {
  if (!IsOneOf(BaseOf(wrong.call), {"remainder", "fmod", "floor_divide", "div"})) return false;
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  return IsRightBut(wrong, [&](const ExpectedTensor& due, std::size_t at, long double got) {
    if (!std::isnan(got) || tensors.size() < 2) return false;
    const auto i = static_cast<std::int64_t>(at);
    const long double quotient = At(tensors[0]->tensor, due.sizes, i) / At(tensors[1]->tensor, due.sizes, i);
    return std::fabs(quotient) > Greatest(PL_DTYPE_FLOAT32) / 2;
  });
}

// ---- memory ----

bool KeepsVersion(const WrongCall& wrong) {
  return OnlyChanges(wrong) && IsBatchNorm(wrong.call) && ChangeOf(wrong).ends_with(kKeepsItsVersion);
}

// As if `out` lay in rows: between its elements, and not where they are.
bool WritesOutInRows(const WrongCall& wrong) {
  if (!IsAccepted(wrong) || !HasOut(wrong.call)) return false;
  if (!IsOneOf(BaseOf(wrong.call), {"matmul", "linear", "_softmax", "_log_softmax", "adaptive_avg_pool2d", "avg_pool2d",
                                    "mv", "addmm", "max_pool2d_with_indices", "nll_loss_forward", "gelu"})) {
    return false;
  }
  const std::vector<const Argument*> tensors = TensorsOf(wrong.call);
  const std::vector<std::size_t> written = WrittenOf(wrong.call);
  return std::any_of(written.begin(), written.end(), [&](std::size_t i) {
    const HostTensor& out = tensors[i]->tensor;
    return out.strides != ContiguousStrides(out.sizes);
  });
}

bool GivesSelfBack(const WrongCall& wrong) {
  if (!IsAccepted(wrong) || wrong.expected.refused() || BaseOf(wrong.call) != "to") return false;
  Expected self = wrong.expected;
  self.tensors.front().same_as = 0;
  self.tensors.front().written = false;
  self.tensors.front().strides = TensorsOf(wrong.call).front()->tensor.strides;
  return !Compare(self, wrong.outcome) && !WrongChange(self, wrong.call, wrong.outcome);
}

constexpr OperatorDeviation kDeviations[] = {
    {"refused-call-resizes-out", "a call that is refused has given `out` its new sizes already", &ResizesOut},
    {"refused-call-writes", "a call that is refused has written some elements already", &WritesAndRefuses},
    {"empty-is-unchecked", "what would be refused is taken if a tensor has no elements", &TakesWhatIsEmpty},
    {"takes-more-dtypes", "pooling, convolution, dropout and l1_loss take integers", &TakesMoreDtypes},
    {"selection-among-none-takes-bools", "topk of 0 or of a scalar and argmax of one take bools", &SelectsAmongNone},
    {"dropout-in-evaluation-takes-any-p", "native_dropout looks at p in training only", &TakesAnyProbability},
    {"written-overlap-is-untold", "a written tensor may overlap itself or an operand", &TakesOverlap},
    {"baddbmm-casts-self", "baddbmm takes what is added in another dtype", &TakesAnotherSelf},
    {"out-of-another-dtype-is-refused", "elementwise operators refuse an `out` of another dtype", &RefusesAnotherOut},
    {"logsumexp-over-no-dimension", "logsumexp refuses to reduce over no dimension", &ReducesNoDimension},
    {"pad-narrows-first", "constant_pad_nd takes away at one end before it adds at the other", &NarrowsBeforeItPads},
    {"mask-is-for-the-last-dimension", "index_put takes a mask of the first dimensions for one of the last",
     &TakesMaskForLastDimension},
    {"transposed-convolution-of-16-bits", "of 16 bits, a transposed convolution is taken for a plain one",
     &ForgetsTransposed},
    {"dropout-of-none-has-no-mask", "of no elements native_dropout gives a mask of another dtype", &HasNoMask},
    {"relu-out-converts-down", "relu.out converts to a lower category", &ConvertsDown},
    {"loss-uses-out-between", "a loss that is summed keeps the single losses in `out`", &UsesOutBetween},
    {"integer-division-ends-the-process", "the least integer by -1 ends the process", &EndsTheProcess},
    {"running-statistics-keep-their-version", "batch_norm writes its running statistics and not their version",
     &KeepsVersion},
    {"sixteen-bits-between", "float16 and bfloat16 are rounded between the steps of an operator", &ComputesIn16Bits},
    {"log-of-one-minus", "binary cross entropy loses what is small beside 1", &TakesLogOfOneMinus},
    {"variance-loses-a-digit", "var and std are off by up to four times the bound, a norm by more", &LosesADigit},
    {"hyperbolic-overflows-early", "sinh and cosh are infinite where the result can still be told", &OverflowsEarly},
    {"log1p-of-the-greatest-is-infinite", "log1p of the greatest numbers is infinite", &TakesGreatestForInfinite},
    {"pow-takes-a-root-of-infinity", "a half power of -inf is NaN", &TakesRootOfInfinity},
    {"floor-division-is-one-off", "a large quotient that is rounded down is one off", &IsOneOff},
    {"linspace-misses-its-end", "the last number of linspace is some units off", &MissesItsEnd},
    {"prod-as-bool-is-true", "a product that is asked for as bool is true, of zeros too", &IsTrueOfZeros},
    {"stack-out-ends-the-process", "stack.out divides by a stride of `out`", &DiesOfOut},
    {"beta-zero-is-read", "with beta 0 a NaN of `out` gets into a product of matrices", &ReadsForBetaZero},
    {"silu-vanishes-early", "silu is 0 where the result can still be told", &VanishesEarly},
    {"remainder-of-an-infinite-quotient", "a remainder is NaN where the quotient is too large", &LosesRemainder},
    {"strided-out-is-written-in-rows", "some operators write `out` as if it lay in rows", &WritesOutInRows},
    {"to-takes-transposed-for-contiguous", "to() gives a tensor back that is not contiguous as is asked",
     &GivesSelfBack},
};

}  // namespace

std::span<const OperatorDeviation> OperatorDeviations() { return kDeviations; }

harness::DeviationNames OperatorDeviationNames() {
  harness::DeviationNames names;
  for (const OperatorDeviation& one : kDeviations) names.push_back(one.name);
  return names;
}

}  // namespace plumbline::suites
