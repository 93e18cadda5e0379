// How host values and the schema kinds of the signature catalogue map to the reference's C++ types.
//
//   Value v = FromHost(host_value);            HostValue h = ToHost(v);           // boxed: whole values
//   using T = abi::Typed<Backend, Signature>;  // typed: T::Function is Tensor(const Tensor&, std::int64_t), ...
//
// The typed way does not go through the reference's own boxing, so that a fault there shows in boxed calls alone.
// No state; any thread.
#ifndef PLUMBLINE_REFERENCE_ADAPTER_TYPES_H_
#define PLUMBLINE_REFERENCE_ADAPTER_TYPES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reference/boxing/types.h"
#include "reference/boxing/value.h"
#include "spec/abi/typed.h"

namespace plumbline::reference::adapter {

using HostValue = abi::Value<Tensor>;
using HostValues = std::vector<HostValue>;

Value FromHost(const HostValue& value);
HostValue ToHost(const Value& value);

// One C++ type X <-> HostValue. Optionals and lists nest.
template <class X>
struct Convert {
  static X From(const HostValue& value) {
    if constexpr (std::is_same_v<X, Tensor>) {
      return value.tensor();
    } else if constexpr (std::is_same_v<X, std::int64_t> || std::is_same_v<X, SymInt>) {
      return value.integer();
    } else if constexpr (std::is_same_v<X, double>) {
      return value.real();
    } else if constexpr (std::is_same_v<X, bool>) {
      return value.boolean();
    } else if constexpr (std::is_same_v<X, std::string>) {
      return value.string();
    } else {
      static_assert(std::is_same_v<X, Scalar>);
      if (value.is_float()) return value.real();
      if (value.is_bool()) return value.boolean();
      return value.integer();
    }
  }
  static HostValue To(const X& x) {
    if constexpr (std::is_same_v<X, Tensor>) {
      return HostValue::Of(x);
    } else if constexpr (std::is_same_v<X, std::int64_t>) {
      return HostValue::Int(x);
    } else if constexpr (std::is_same_v<X, SymInt>) {
      return HostValue::Int(x.value());
    } else if constexpr (std::is_same_v<X, double>) {
      return HostValue::Float(x);
    } else if constexpr (std::is_same_v<X, bool>) {
      return HostValue::Bool(x);
    } else if constexpr (std::is_same_v<X, std::string> || std::is_same_v<X, std::string_view>) {
      return HostValue::String(std::string(x));
    } else {
      static_assert(std::is_same_v<X, Scalar>);
      if (x.is_float()) return HostValue::Float(x.ToFloat());
      if (x.is_bool()) return HostValue::Bool(x.ToBool());
      return HostValue::Int(x.ToInt());
    }
  }
};
template <class X>
struct Convert<std::optional<X>> {
  static std::optional<X> From(const HostValue& value) {
    if (value.is_none()) return std::nullopt;
    return Convert<X>::From(value);
  }
  static HostValue To(const std::optional<X>& x) { return x.has_value() ? Convert<X>::To(*x) : HostValue::None(); }
};
template <class X>
struct Convert<std::vector<X>> {
  static std::vector<X> From(const HostValue& value) {
    std::vector<X> items;
    items.reserve(value.list().size());
    for (const HostValue& item : value.list()) items.push_back(Convert<X>::From(item));
    return items;
  }
};
template <class X>
struct Convert<std::span<const X>> {
  static HostValue To(std::span<const X> list) {
    HostValues items;
    items.reserve(list.size());
    for (const X& item : list) items.push_back(Convert<X>::To(item));
    return HostValue::List(std::move(items));
  }
};

// One kind: what a kernel takes and returns, and what holds an argument while it runs.
template <class ArgumentType, class ReturnType, class Held = ReturnType>
struct TypeOf {
  using Argument = ArgumentType;
  using Return = ReturnType;
  static auto FromValue(const HostValue& value) {
    if constexpr (std::is_same_v<Held, std::vector<bool>>) {
      return ListArgument<bool>(Convert<Held>::From(value));  // a span of bools needs an array of them
    } else {
      return Convert<std::remove_cvref_t<Held>>::From(value);
    }
  }
  template <class X>
  static HostValue ToValue(const X& x) {
    return Convert<X>::To(x);
  }
};
template <class X, class Held = std::vector<X>>
using ListOf = TypeOf<std::span<const X>, std::vector<X>, Held>;

template <class Kind>
struct Type;
// clang-format off
template <> struct Type<abi::kind::Tensor> : TypeOf<const Tensor&, Tensor> {};
template <> struct Type<abi::kind::TensorOpt> : TypeOf<const std::optional<Tensor>&, std::optional<Tensor>> {};
template <> struct Type<abi::kind::TensorList> : ListOf<Tensor> {};
template <> struct Type<abi::kind::TensorOptList> : ListOf<std::optional<Tensor>> {};
template <> struct Type<abi::kind::MutableTensor> : TypeOf<Tensor&, Tensor&> {};
template <> struct Type<abi::kind::Int> : TypeOf<std::int64_t, std::int64_t> {};
template <> struct Type<abi::kind::SymInt> : TypeOf<SymInt, SymInt> {};
template <> struct Type<abi::kind::Float> : TypeOf<double, double> {};
template <> struct Type<abi::kind::Bool> : TypeOf<bool, bool> {};
template <> struct Type<abi::kind::Str> : TypeOf<std::string_view, std::string> {};
template <> struct Type<abi::kind::Scalar> : TypeOf<const Scalar&, Scalar> {};
template <> struct Type<abi::kind::IntList> : ListOf<std::int64_t> {};
template <> struct Type<abi::kind::SymIntList> : ListOf<SymInt> {};
template <> struct Type<abi::kind::FloatList> : ListOf<double> {};
template <> struct Type<abi::kind::BoolList> : ListOf<bool> {};
template <> struct Type<abi::kind::IntOpt> : TypeOf<std::optional<std::int64_t>, std::optional<std::int64_t>> {};
template <> struct Type<abi::kind::FloatOpt> : TypeOf<std::optional<double>, std::optional<double>> {};
template <> struct Type<abi::kind::BoolOpt> : TypeOf<std::optional<bool>, std::optional<bool>> {};
template <> struct Type<abi::kind::StrOpt> : TypeOf<std::optional<std::string_view>, std::optional<std::string>> {};
template <> struct Type<abi::kind::ScalarOpt> : TypeOf<std::optional<Scalar>, std::optional<Scalar>> {};
// clang-format on

}  // namespace plumbline::reference::adapter

#endif  // PLUMBLINE_REFERENCE_ADAPTER_TYPES_H_
