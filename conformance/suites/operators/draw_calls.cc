#include "conformance/suites/operators/draw_calls.h"

#include <map>
#include <utility>

#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {
namespace {

constexpr std::uint32_t kDtypes[] = {
#define PLUMBLINE_DTYPE_NUMBER(number, NAME, spelling, bytes) PL_DTYPE_##NAME,
    PL_DTYPES(PLUMBLINE_DTYPE_NUMBER)
#undef PLUMBLINE_DTYPE_NUMBER
};

// That of the first tensor, mostly.
std::uint32_t Another(std::uint32_t dtype, Draw& draw) {
  return draw.OneIn(4) ? kDtypes[draw.Below(std::size(kDtypes))] : dtype;
}

Argument Scalar(Draw& draw) {
  switch (draw.Below(4)) {
    case 0:
      return Argument::Bool(draw.OneIn(2));
    case 1:
      return Argument::Float(static_cast<double>(draw.Value(PL_DTYPE_FLOAT64, Values::kUsual)));
    default:
      return Argument::Int(draw.Below(11) - 5);
  }
}

OperatorCall Unary(std::string_view op, std::uint32_t dtype, Draw& draw) {
  return {std::string(op), {Argument::Of(draw.Tensor(dtype, draw.Shape(), Values::kAny))}};
}

OperatorCall Binary(std::string_view op, std::uint32_t dtype, Draw& draw, bool scalar, bool alpha) {
  const Values values = draw.OneIn(2) ? Values::kAny : Values::kUsual;
  HostTensor a = draw.Tensor(dtype, draw.Shape(), values);
  OperatorCall call{std::string(op), {}};
  Sizes other = draw.BroadcastsWith(a.sizes);
  if (!other.empty() && draw.OneIn(40)) other.back() += 2;  // mostly does not
  const std::uint32_t other_dtype = Another(dtype, draw);
  HostTensor b = draw.Tensor(other_dtype, other, values);
  if (!scalar && draw.OneIn(2)) std::swap(a, b);
  call.arguments.push_back(Argument::Of(std::move(a)));
  call.arguments.push_back(scalar ? Scalar(draw) : Argument::Of(std::move(b)));
  if (alpha) call.arguments.push_back(draw.OneIn(2) ? Argument::Int(1) : Scalar(draw));
  return call;
}

Argument Dims(std::size_t dim, Draw& draw) {
  if (draw.OneIn(5)) return draw.OneIn(2) ? Argument::None() : Argument::Ints({});
  Sizes dims;
  for (std::size_t d = 0; d < dim; ++d) {
    if (draw.OneIn(2))
      dims.push_back(static_cast<std::int64_t>(d) - (draw.OneIn(2) ? static_cast<std::int64_t>(dim) : 0));
  }
  if (dims.empty()) dims.push_back(dim == 0 ? 0 : draw.Below(static_cast<std::int64_t>(dim)));
  if (draw.OneIn(40)) dims.push_back(draw.OneIn(2) ? dims.front() : static_cast<std::int64_t>(dim) + 1);
  return Argument::Ints(dims);
}

Argument OptionalDtype(Draw& draw) {
  if (!draw.OneIn(4)) return Argument::None();
  return Argument::Int(kDtypes[draw.Below(std::size(kDtypes))]);
}

OperatorCall Reduction(std::string_view op, std::uint32_t dtype, Draw& draw, bool dims) {
  // Exact in half of the calls.
  const Values values = draw.Of({Values::kSmallIntegers, Values::kUsual, Values::kAny});
  HostTensor tensor = draw.Tensor(dtype, draw.Shape(), values);
  OperatorCall call{std::string(op), {}};
  const std::size_t dim = tensor.sizes.size();
  call.arguments.push_back(Argument::Of(std::move(tensor)));
  if (dims) {
    call.arguments.push_back(Dims(dim, draw));
    call.arguments.push_back(Argument::Bool(draw.OneIn(2)));
  }
  call.arguments.push_back(OptionalDtype(draw));
  return call;
}

OperatorCall Product(std::string_view op, std::uint32_t dtype, Draw& draw, bool batch) {
  const Values values = draw.OneIn(2) ? Values::kSmallIntegers : Values::kUsual;
  const auto size = [&] { return draw.OneIn(16) ? 0 : draw.Of<std::int64_t>({1, 2, 3, 5, 8, 13, 17, 33}); };
  const std::int64_t m = size(), k = size(), n = size();
  Sizes a{m, k}, b{draw.OneIn(40) ? k + 1 : k, n};
  if (batch) {
    const std::int64_t batches = draw.Of<std::int64_t>({0, 1, 2, 3});
    a.insert(a.begin(), batches);
    b.insert(b.begin(), draw.OneIn(40) ? batches + 1 : batches);
  }
  if (draw.OneIn(40)) a.push_back(1);
  return {std::string(op),
          {Argument::Of(draw.Tensor(dtype, a, values)),
           Argument::Of(draw.Tensor(draw.OneIn(40) ? Another(dtype, draw) : dtype, b, values))}};
}

const std::map<std::string, CallDrawer, std::less<>>& All() {
  static const auto& all = *[] {
    auto* made = new std::map<std::string, CallDrawer, std::less<>>;
    const auto ends = [](const std::string& name, std::string_view end) { return name.ends_with(end); };
    for (const std::string& name : OracleNames()) {
      const bool scalar = ends(name, ".Scalar");
      if (name == "mm" || name == "bmm") {
        (*made)[name] = [batch = name == "bmm"](auto op, auto dtype, Draw& draw) {
          return Product(op, dtype, draw, batch);
        };
      } else if (name.starts_with("sum") || name.starts_with("mean")) {
        (*made)[name] = [dims = name.find('.') != std::string::npos](auto op, auto dtype, Draw& draw) {
          return Reduction(op, dtype, draw, dims);
        };
      } else if (scalar || ends(name, ".Tensor") || name == "maximum" || name == "minimum") {
        const bool alpha = name.starts_with("add.") || name.starts_with("sub.");
        (*made)[name] = [scalar, alpha](auto op, auto dtype, Draw& draw) {
          return Binary(op, dtype, draw, scalar, alpha);
        };
      } else {
        (*made)[name] = &Unary;
      }
    }
    return made;
  }();
  return all;
}

}  // namespace

const CallDrawer* CallDrawerFor(std::string_view name) {
  const auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

}  // namespace plumbline::suites
