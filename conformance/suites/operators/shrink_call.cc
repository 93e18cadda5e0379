#include "conformance/suites/operators/shrink_call.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace plumbline::suites {
namespace {

constexpr int kMostTries = 400;

HostTensor Packed(const HostTensor& tensor) {
  HostTensor packed = HostTensor::Contiguous(tensor.dtype, tensor.sizes);
  packed.device = tensor.device;
  packed.storage = tensor.RowMajor();
  return packed;
}

// Only the elements from `from` on, `count` of them, of the dimension that is the `back`-th from the last.
std::optional<HostTensor> Part(const HostTensor& tensor, std::size_t back, std::int64_t from, std::int64_t count) {
  if (back >= tensor.sizes.size()) return std::nullopt;
  const std::size_t d = tensor.sizes.size() - 1 - back;
  if (tensor.sizes[d] <= 1 || from + count > tensor.sizes[d]) return std::nullopt;
  HostTensor part = tensor;
  part.sizes[d] = count;
  part.offset += from * tensor.strides[d];
  return part;
}

class Shrinker {
 public:
  Shrinker(OperatorCall call, const std::function<bool(const OperatorCall&)>& fails)
      : call_(std::move(call)), fails_(fails) {}

  OperatorCall Run() {
    bool smaller = true;
    while (smaller && tries_ < kMostTries) {
      smaller = HalveDimensions();
      smaller = PackLayouts() || smaller;
      smaller = PlainValues() || smaller;
    }
    return std::move(call_);
  }

 private:
  bool Try(OperatorCall smaller) {
    if (tries_++ >= kMostTries || !fails_(smaller)) return false;
    call_ = std::move(smaller);
    return true;
  }
  template <class F>
  void EachTensor(OperatorCall& call, const F& f) {
    EachTensor(call.arguments, f);
  }
  template <class F>
  void EachTensor(std::vector<Argument>& arguments, const F& f) {
    for (Argument& argument : arguments) {
      EachTensor(argument.items, f);
      if (argument.kind == PL_TENSOR) f(argument.tensor);
    }
  }

  // The first or the last `count` elements of a dimension.
  bool KeepPart(std::size_t back, std::int64_t count, std::int64_t& size) {
    if (count < 1) return false;
    for (const std::int64_t from : {std::int64_t{0}, size - count}) {
      OperatorCall smaller = call_;
      bool changed = false;
      EachTensor(smaller, [&](HostTensor& tensor) {
        if (auto part = Part(tensor, back, from, count)) {
          tensor = std::move(*part);
          changed = true;
        }
      });
      if (changed && Try(std::move(smaller))) {
        size = count;
        return true;
      }
    }
    return false;
  }

  bool HalveDimensions() {
    bool any = false;
    std::size_t most = 0;
    EachTensor(call_, [&](const HostTensor& tensor) { most = std::max(most, tensor.sizes.size()); });
    for (std::size_t back = 0; back < most; ++back) {
      std::int64_t size = 1;
      EachTensor(call_, [&](const HostTensor& tensor) {
        if (back < tensor.sizes.size()) size = std::max(size, tensor.sizes[tensor.sizes.size() - 1 - back]);
      });
      while (size > 1 && (KeepPart(back, size / 2, size) || KeepPart(back, size - 1, size))) any = true;
    }
    return any;
  }

  // Whether another argument is in its memory.
  bool HasViews(std::size_t i) {
    return std::any_of(call_.arguments.begin(), call_.arguments.end(), [&](const Argument& argument) {
      return argument.kind == PL_TENSOR && argument.integer == static_cast<std::int64_t>(i);
    });
  }

  bool PackLayouts() {
    bool any = false;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      const Argument& argument = call_.arguments[i];
      if (argument.kind != PL_TENSOR || argument.integer >= 0) continue;
      if (HasViews(i)) continue;
      HostTensor packed = Packed(argument.tensor);
      if (packed.storage == argument.tensor.storage && packed.strides == argument.tensor.strides) continue;
      OperatorCall smaller = call_;
      smaller.arguments[i].tensor = std::move(packed);
      any = Try(std::move(smaller)) || any;
    }
    return any;
  }

  bool PlainValues() {
    bool any = false;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
      if (call_.arguments[i].kind != PL_TENSOR || call_.arguments[i].integer >= 0 || HasViews(i)) continue;
      for (std::int64_t at = 0; at < std::min<std::int64_t>(call_.arguments[i].tensor.numel(), 16); ++at) {
        for (const long double plain : {0.0L, 1.0L}) {
          const long double now = call_.arguments[i].tensor.Get(at);
          if (now == plain || now == 0) break;
          OperatorCall smaller = call_;
          smaller.arguments[i].tensor.Set(at, plain);
          if (Try(std::move(smaller))) {
            any = true;
            break;
          }
        }
      }
    }
    return any;
  }

  OperatorCall call_;
  const std::function<bool(const OperatorCall&)>& fails_;
  int tries_ = 0;
};

}  // namespace

OperatorCall Shrink(OperatorCall call, const std::function<bool(const OperatorCall&)>& fails) {
  return Shrinker(std::move(call), fails).Run();
}

}  // namespace plumbline::suites
