#include "kernels/call.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/spoilt_results.h"
#include "reference/dispatch/operator.h"
#include "reference/faults/faults.h"

namespace plumbline::kernels {

using reference::Throw;

namespace {

double Greatest(DType floating) {
  switch (floating) {
    case DType::kFloat16:
      return 65504;
    case DType::kBFloat16:
      return 0x1.fep127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

std::string Shortest(double value) {
  char text[32];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

}  // namespace

Call::Call(const OperatorInfo& info, Stack& stack)
    : info_(info), stack_(stack), arguments_(stack.Top(info.arguments.size())) {
  places_.resize(static_cast<std::size_t>(info.results));
  FindDevice();
  CheckDevice();
}

void Call::SetDevice(Device device) {
  device_ = device;
  CheckDevice();
}

void Call::CheckDevice() const {
  if (!info_.cpu_only || device_.type == DeviceType::kCpu || meta()) return;
  Fail(ErrorClass::kNoKernel, "it is computed on cpu and meta; " + device_.Spelling() +
                                  " needs a kernel of its own, registered at " +
                                  std::string(reference::KeyName(device_.type)));
}

void Call::FindDevice() {
  const Tensor* first = nullptr;
  const auto meet = [&](const Value& value) {
    if (!value.is_tensor() || !value.AsTensor()->has_data()) return;
    const Tensor& tensor = *value.AsTensor();
    const auto is_like_scalar = [](const Tensor& t) { return t.dim() == 0 && t.device().type == DeviceType::kCpu; };
    if (first == nullptr || is_like_scalar(*first)) {
      first = &tensor;
    } else if (PLUMBLINE_FAULT(devices_may_differ) && tensor.device().type == DeviceType::kMeta) {
      first = &tensor;
    } else if (tensor.device() != first->device() && !is_like_scalar(tensor) && !PLUMBLINE_FAULT(devices_may_differ)) {
      Fail("expected all tensors on one device, but got " + first->device().Spelling() + " and " +
           tensor.device().Spelling());
    }
  };
  const bool but_out = PLUMBLINE_FAULT(out_may_be_elsewhere) && variant() == tables::Variant::kOut;
  for (const Value& value :
       but_out ? arguments_.first(arguments_.size() - static_cast<std::size_t>(info_.results)) : arguments_) {
    if (value.kind() == Value::Kind::kList) {
      for (const Value& item : value.ToList()) meet(item);
    } else {
      meet(value);
    }
    if (info_.any_devices && first != nullptr) break;
  }
  if (first != nullptr) device_ = first->device();
}

void Call::Fail(ErrorClass error_class, const std::string& why) const {
  if (PLUMBLINE_FAULT(refused_calls_have_written) && variant() == tables::Variant::kInPlace) {
    const Tensor& self = tensor(0);
    if (self.device().type == DeviceType::kCpu && self.numel() > 0) std::memset(self.data(), 0x40, self.itemsize());
  }
  Throw(error_class, "Operator '" + std::string(info_.data->name) + "': " + why);
}

const Tensor& Call::tensor(int i) const {
  const Tensor& tensor = *at(i).AsTensor();
  if (PLUMBLINE_FAULT(undefined_is_zero) && at(i).is_tensor() && !tensor.has_data()) {
    static const auto* const zero = new Tensor(Tensor::Empty({}, DType::kFloat32, DeviceType::kCpu, keys()));
    *static_cast<float*>(zero->data()) = 0;
    return *zero;
  }
  if (!at(i).is_tensor() || !tensor.has_data()) [[unlikely]] {
    Fail("argument " + Name(i) + " has to be a tensor with elements, but it is undefined");
  }
  return tensor;
}

std::optional<Tensor> Call::maybe_tensor(int i) const {
  if (!has(i) || !at(i).AsTensor()->has_data()) return std::nullopt;
  return *at(i).AsTensor();
}

std::vector<Tensor> Call::tensors(int i) const {
  std::vector<Tensor> list;
  for (const Value& value : at(i).ToList()) {
    if (!value.is_tensor() || !value.AsTensor()->has_data()) {
      Fail("argument " + Name(i) + " has to hold tensors with elements; number " + std::to_string(list.size()) +
           " is undefined");
    }
    list.push_back(*value.AsTensor());
  }
  return list;
}

double Call::real(int i) const { return AsReal(scalar(i)); }

DimVector Call::ints(int i) const {
  DimVector result;
  if (at(i).kind() == Value::Kind::kInt) {
    result.push_back(at(i).ToInt());
  } else if (!at(i).is_none()) {
    for (const Value& value : at(i).ToList()) result.push_back(value.ToInt());
  }
  return result;
}

std::optional<DType> Call::dtype(int i) const {
  if (!has(i)) return std::nullopt;
  const std::optional<DType> dtype = reference::DTypeOfNumber(integer(i));
  if (!dtype)
    Fail(ErrorClass::kUnsupported,
         "argument " + Name(i) + ": there is no dtype of number " + std::to_string(integer(i)));
  return dtype;
}

std::int64_t Call::SizeFrom(__int128 size) const {
  if (size > std::numeric_limits<std::int64_t>::max()) {
    Fail(ErrorClass::kOverflow, "a size that follows from the arguments does not fit into 64 bits");
  }
  return size < 0 ? -1 : static_cast<std::int64_t>(size);
}

void Call::CheckDType(DType dtype) const {
  if (info_.data->Takes(static_cast<int>(dtype))) {
    if (info_.registry->observed()) {
      info_.registry->TellInstance(info_.data->name, Spelling(dtype), device().Spelling());
    }
    return;
  }
  std::string_view name = info_.data->name;
  name.remove_prefix(name.find("::") + 2);
  Throw(PLUMBLINE_FAULT(missing_dtype_is_a_missing_kernel) ? ErrorClass::kNoKernel : ErrorClass::kNoDtype,
        "'" + std::string(name.substr(0, name.find('.'))) + "' is not implemented for " + std::string(Spelling(dtype)) +
            " on " + device().Spelling());
}

void Call::CheckSameDType(int a, int b) const {
  if (tensor(a).dtype() == tensor(b).dtype() || PLUMBLINE_FAULT(dtypes_of_matrices_may_differ)) return;
  Fail("expected " + Name(b) + " of the dtype of " + Name(a) + ", " + std::string(Spelling(tensor(a).dtype())) +
       ", but got " + std::string(Spelling(tensor(b).dtype())));
}

void Call::CheckHolds(int i, DType dtype) const {
  if (dtype == DType::kBool || PLUMBLINE_FAULT(scalars_need_not_fit)) return;
  const Scalar given = scalar(i);
  const double value = AsReal(given);
  bool fits = false;
  if (IsFloating(dtype)) {
    fits = !std::isfinite(value) || std::fabs(value) <= Greatest(dtype);
  } else if (dtype == DType::kInt64 && !given.is_float()) {
    fits = true;
  } else {
    const double half = std::ldexp(1.0, static_cast<int>(8 * SizeOf(dtype)) - 1);
    fits = dtype != DType::kUint8 ? value >= -half && value < half
                                  : value < 2 * half && (given.is_float() ? value >= 0 : value > -2 * half);
  }
  if (!fits) {
    Fail("argument " + Name(i) + ": " + (given.is_float() ? Shortest(value) : std::to_string(AsInteger(given))) +
         " does not fit in " + std::string(Spelling(dtype)));
  }
}

std::int64_t Call::WrapDimValue(std::int64_t dim, std::int64_t dims, int i) const {
  const std::int64_t range = std::max<std::int64_t>(dims, 1);
  if (dim < -range || dim >= range || (PLUMBLINE_FAULT(dimensions_count_from_the_start) && dim < 0)) {
    Fail("argument " + Name(i) + ": expected a dimension from " + std::to_string(-range) + " to " +
         std::to_string(range - 1) + ", but got " + std::to_string(dim));
  }
  return dim < 0 ? dim + range : dim;
}

Tensor Call::Given(int which) const {
  const int i =
      variant() == tables::Variant::kInPlace ? 0 : static_cast<int>(info_.arguments.size()) - info_.results + which;
  return tensor(i);
}

void Call::CheckGiven(const Tensor& given, IntSpan sizes, DType dtype) const {
  const bool in_place = variant() == tables::Variant::kInPlace;
  const std::string what = in_place ? "'self'" : "'out'";
  if (PLUMBLINE_FAULT(refused_write_counts)) given.BumpVersion();
  if (!CanCast(dtype, given.dtype()) && !PLUMBLINE_FAULT(results_are_cast_down)) {
    Fail("a result of " + std::string(Spelling(dtype)) + " cannot be cast to " + what + ", which is " +
         std::string(Spelling(given.dtype())));
  }
  if (given.device() != device() && !PLUMBLINE_FAULT(out_may_be_elsewhere)) {
    Fail("expected " + what + " on " + device().Spelling() + ", but it is on " + given.device().Spelling());
  }
  if (in_place && !(given.sizes() == sizes) && !PLUMBLINE_FAULT(in_place_changes_sizes)) {
    Fail(what + " has sizes " + Print(given.sizes()) + ", but the result has sizes " + Print(sizes));
  }
  if (!info_.any_overlap && !PLUMBLINE_FAULT(what_overlaps_itself_is_written) &&
      HasInternalOverlap(given.sizes(), given.strides()) == reference::InternalOverlap::kYes) {
    Fail(what + " is written to, but more than one of its elements are the same place in memory; clone it first");
  }
}

reference::OverlapKind Call::CheckInputs(const Tensor& given) const {
  using reference::OverlapKind;
  OverlapKind found = OverlapKind::kNo;
  const std::size_t outs = variant() == tables::Variant::kOut ? static_cast<std::size_t>(info_.results) : 0;
  for (const Value& value : arguments_.first(arguments_.size() - outs)) {
    if (!value.is_tensor() || !value.AsTensor()->has_data() || value.AsTensor()->is_same(given)) continue;
    const OverlapKind overlap = Overlap(given, *value.AsTensor());
    if (overlap == OverlapKind::kPartial && !PLUMBLINE_FAULT(partial_overlap_is_written)) {
      Fail("what is written overlaps an argument in part; clone the argument first");
    }
    if (overlap == OverlapKind::kTooHard) found = overlap;
  }
  return found;
}

Tensor Call::Result(int which, IntSpan sizes, DType dtype, IntSpan strides) {
  if (PLUMBLINE_FAULT(meta_results_are_rows) && meta()) strides = {};
  Place& place = places_[static_cast<std::size_t>(which)];
  const auto make = [&] {
    return strides.size() == sizes.size() && !sizes.empty()
               ? Tensor::EmptyStrided(sizes, strides, dtype, device(), keys())
               : Tensor::Empty(sizes, dtype, device(), keys());
  };
  if (variant() == tables::Variant::kFunctional) return place.written = make();
  place.given = Given(which);
  place.has_given = true;
  CheckGiven(place.given, sizes, dtype);
  // Loops compute what has 16 bits in float32: another dtype would get what was not rounded to the result's own.
  const bool rounds = dtype != place.given.dtype() && (dtype == DType::kFloat16 || dtype == DType::kBFloat16);
  bool apart = rounds || place.given.device() != device() || !(place.given.sizes() == sizes);
  // The same places with another meaning of the elements: not side by side for the loops.
  if (CheckInputs(place.given) == reference::OverlapKind::kTooHard) apart = true;
  return place.written = apart ? make() : place.given;
}

Tensor Call::PackedResult(int which, IntSpan sizes, DType dtype) {
  Place& place = places_[static_cast<std::size_t>(which)];
  if (variant() != tables::Variant::kFunctional) {
    place.given = Given(which);
    place.has_given = true;
    CheckGiven(place.given, sizes, dtype);
    CheckInputs(place.given);
  }
  return place.written = Tensor::Empty(sizes, dtype, device(), keys());
}

void Call::Return(int which, Tensor result) {
  Place& place = places_[static_cast<std::size_t>(which)];
  place.returned = true;
  place.written = std::move(result);
  if (variant() == tables::Variant::kFunctional) return;
  place.given = Given(which);
  place.has_given = true;
  CheckGiven(place.given, place.written.sizes(), place.written.dtype());
}

void Call::ReturnList(std::vector<Tensor> results) { list_ = std::move(results); }

std::vector<Value> Call::InvokeAll(std::string_view name, std::vector<Value> arguments) const {
  const reference::Operator op = reference::Operator::Find(*info_.registry, name);
  Stack stack;
  const std::size_t count = arguments.size();
  for (Value& value : arguments) stack.Push(std::move(value));
  op.CallBoxed(stack, count);
  std::vector<Value> results(stack.size());
  for (std::size_t i = results.size(); i-- > 0;) results[i] = stack.Pop();
  return results;
}

Tensor Call::Invoke(std::string_view name, std::vector<Value> arguments) const {
  return std::move(InvokeAll(name, std::move(arguments)).front()).ToTensor();
}

void Call::Finish() {
  std::vector<Value> results;
  if (value_) {
    results.push_back(std::move(*value_));
  } else if (list_) {
    results.push_back(reference::Box<std::vector<Tensor>>::From(*list_));
  } else {
    for (Place& place : places_) {
      if (!place.has_given) {
        results.push_back(Value(std::move(place.written)));
        continue;
      }
      if (!place.written.is_same(place.given)) {
        // Not before: a call that is refused leaves its sizes too.
        if (!(place.given.sizes() == place.written.sizes())) {
          // It then lies as a result of its own would.
          if (place.returned) {
            place.given.Resize(place.written.sizes());
          } else {
            place.given.Resize(place.written.sizes(), place.written.strides());
          }
        }
        if (place.given.device().type != DeviceType::kMeta && !meta()) info_.copy(*this, place.given, place.written);
      }
      // An operator that wrote it on behalf of this one has told so itself.
      const bool counts = !(place.returned && place.written.is_same(place.given));
      if (counts && !PLUMBLINE_FAULT(write_does_not_count)) place.given.BumpVersion();
      if (PLUMBLINE_FAULT(write_counts_twice) && variant() == tables::Variant::kOut) place.given.BumpVersion();
      if (PLUMBLINE_FAULT(out_is_made_rows) && variant() == tables::Variant::kOut && !place.given.is_contiguous()) {
        place.given.Restride(place.given.sizes(), reference::ContiguousStrides(place.given.sizes()),
                             place.given.storage_offset());
      }
      if (PLUMBLINE_FAULT(out_gives_a_view) && variant() == tables::Variant::kOut) {
        place.given = place.given.View(place.given.sizes(), place.given.strides(), place.given.storage_offset());
      }
      if (PLUMBLINE_FAULT(in_place_gives_a_view) && variant() == tables::Variant::kInPlace) {
        place.given = reference::Tensor(
            place.given.View(place.given.sizes(), place.given.strides(), place.given.storage_offset()));
      }
      results.push_back(Value(std::move(place.given)));
    }
  }
  if (reference::FaultActive()) SpoilResults(info_.family, arguments_, results);
  stack_.Drop(arguments_.size());
  for (Value& result : results) stack_.Push(std::move(result));
}

// ---- operands ----

double AsReal(const Scalar& scalar) {
  return scalar.is_float() ? scalar.ToFloat() : scalar.is_int() ? static_cast<double>(scalar.ToInt()) : scalar.ToBool();
}
std::int64_t AsInteger(const Scalar& scalar) {
  if (scalar.is_int()) return scalar.ToInt();
  if (scalar.is_bool()) return scalar.ToBool();
  const double x = scalar.ToFloat();
  return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? static_cast<std::int64_t>(x) : INT64_MIN;
}

void BroadcastStrides(const Tensor& tensor, IntSpan sizes, std::int64_t item, std::int64_t* strides) {
  const IntSpan mine = tensor.sizes(), steps = tensor.strides();
  const std::size_t missing = sizes.size() - mine.size();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    strides[d] = d < missing || mine[d - missing] == 1 ? 0 : steps[d - missing] * item;
  }
}

DimVector BroadcastOf(const Call& call, std::span<const In> inputs) {
  if (PLUMBLINE_FAULT(dimensions_have_to_be_as_many)) {
    for (const In& a : inputs) {
      for (const In& b : inputs) {
        if (a.tensor() != nullptr && b.tensor() != nullptr && a.tensor()->dim() != b.tensor()->dim()) {
          call.Fail("not as many dimensions");
        }
      }
    }
  }
  DimVector sizes;
  bool first = true;
  for (const In& input : inputs) {
    if (input.tensor() == nullptr) continue;
    const IntSpan mine = input.tensor()->sizes();
    if (first || sizes == DimVector(mine)) {
      sizes = DimVector(mine);
      first = false;
      continue;
    }
    try {
      sizes = reference::BroadcastSizes(sizes, mine);
    } catch (const reference::DispatchError& error) {
      call.Fail(error.error_class(), error.what());
    }
  }
  return sizes;
}

DimVector StridesOfResult(IntSpan sizes, std::span<const In> inputs) {
  if (PLUMBLINE_FAULT(elementwise_results_are_rows)) return {};
  // Strides of dimensions of size 1 count as any others do, but where nothing is broadcast.
  bool same_sizes = true, contiguous = true;
  for (const In& input : inputs) {
    if (input.tensor() == nullptr) continue;
    same_sizes = same_sizes && input.tensor()->sizes() == sizes;
    contiguous = contiguous && input.tensor()->is_contiguous();
  }
  const auto in_rows = [](const In& input) {
    return input.tensor() == nullptr ||
           input.tensor()->strides() == IntSpan(reference::ContiguousStrides(input.tensor()->sizes()));
  };
  const bool rows = contiguous && (same_sizes || std::all_of(inputs.begin(), inputs.end(), in_rows));
  if (sizes.size() < 2 || rows) return {};
  // From the inner dimension out, by the first tensor that tells two apart.
  const std::size_t dims = sizes.size();
  std::vector<std::size_t> order(dims);
  for (std::size_t d = 0; d < dims; ++d) order[d] = dims - 1 - d;
  std::vector<std::vector<std::int64_t>> steps;
  for (const In& input : inputs) {
    if (input.tensor() == nullptr) continue;
    const Tensor& tensor = *input.tensor();
    std::vector<std::int64_t>& step = steps.emplace_back(dims);
    const std::size_t missing = dims - tensor.sizes().size();
    for (std::size_t d = missing; d < dims; ++d) {
      if (tensor.sizes()[d - missing] == sizes[d]) step[d] = tensor.strides()[d - missing];
    }
  }
  // 1: a is outside of b; -1: inside; 0: not decided.
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (const auto& step : steps) {
      if (step[a] == 0 || step[b] == 0) continue;
      if (step[a] < step[b]) return -1;
      if (step[a] > step[b]) return 1;
      if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
  };
  for (std::size_t i = 1; i < dims; ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int decided = compare(order[j], order[moving]);
      if (decided > 0) {
        std::swap(order[j], order[moving]);
        moving = j;
      } else if (decided < 0) {
        break;
      }
    }
  }
  DimVector strides(dims);
  std::int64_t step = 1;
  for (const std::size_t d : order) {
    strides[d] = step;
    step *= std::max<std::int64_t>(1, sizes[d]);
  }
  return strides;
}

}  // namespace plumbline::kernels
