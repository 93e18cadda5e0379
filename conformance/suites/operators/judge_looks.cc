#include "conformance/suites/operators/judge_looks.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

namespace plumbline::suites {
namespace {

std::string Elements(const HostTensor& is) {
  std::string text = "{";
  for (std::int64_t i = 0; i < is.numel(); ++i) {
    text += (text.size() > 1 ? " " : "") + Number(is.Get(i));
  }
  return text + "}";
}

bool SameElement(std::uint32_t dtype, long double expected, long double got) {
  if (std::isnan(expected)) return std::isnan(got);
  const long double rounded = RoundTo(dtype, expected);
  return rounded == got && std::signbit(rounded) == std::signbit(got);
}

bool HoldElements(const HostTensor& is, const std::vector<long double>& expected) {
  if (is.numel() != static_cast<std::int64_t>(expected.size())) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!SameElement(is.dtype, expected[i], is.Get(static_cast<std::int64_t>(i)))) return false;
  }
  return true;
}

std::string Ints(const Sizes& ints) { return fmt::format("[{}]", fmt::join(ints, ", ")); }

}  // namespace

std::optional<Difference> WrongLook(const TensorLooks& looks, const HostTensor& is) {
  const auto differ = [](const std::string& expected, const std::string& got) { return Difference{expected, got}; };
  if (looks.dtype && *looks.dtype != is.dtype) {
    return differ(std::string(DtypeSpelling(*looks.dtype)), std::string(DtypeSpelling(is.dtype)));
  }
  if (looks.sizes && *looks.sizes != is.sizes) return differ("sizes " + Ints(*looks.sizes), "sizes " + Ints(is.sizes));
  if (looks.strides && *looks.strides != is.strides) {
    return differ("strides " + Ints(*looks.strides), "strides " + Ints(is.strides));
  }
  if (looks.offset && *looks.offset != is.offset) {
    return differ(fmt::format("the offset {}", *looks.offset), fmt::format("the offset {}", is.offset));
  }
  if (looks.device && *looks.device != is.device) return differ("on " + *looks.device, "on " + is.device);
  if (is.device == kMeta) return std::nullopt;  // no elements to look at
  if (looks.elements && !HoldElements(is, *looks.elements)) {
    std::string expected = "{";
    for (const long double element : *looks.elements) expected += (expected.size() > 1 ? " " : "") + Number(element);
    return differ("elements " + expected + "}", "elements " + Elements(is));
  }
  if (looks.bits && *looks.bits != is.RowMajor()) {  // [TENS-053]
    TensorLooks due, came;
    due.bits = looks.bits;
    came.bits = is.RowMajor();
    return differ(PrintLooks(due).substr(1), PrintLooks(came).substr(1));
  }
  return std::nullopt;
}

}  // namespace plumbline::suites
