// Typed kernels and calls: the signature catalogue as C++ types.
//
//   template <class Kind> struct MyType;                            // schema kind -> own C++ type, written by the
//   author template <> struct MyType<kind::IntList> {
//     using Argument = std::span<const int64_t>;                    // as it stands in a kernel's C++ signature
//     using Return = std::vector<int64_t>;                          // as a kernel returns it
//     static std::vector<int64_t> FromValue(const Value<T>&);       // owns; an Argument is made from it
//     static Value<T> ToValue(std::span<const int64_t>);            // takes an Argument or a Return
//   };
//   class MyBackend { template <class Kind> using Type = MyType<Kind>; ... };
//
//   VisitSignature(id, [&](auto signature) {
//     using Typed = abi::Typed<MyBackend, decltype(signature)>;
//     typename Typed::Function* ...;                                // Tensor(const Tensor&, int64_t)
//     return Typed::Call(handle_or_function, arguments);            // Values in, Values out
//   });
//
// StandardType maps every kind to a plain C++ type; an author who is content with it writes
// `template <class Kind> using Type = abi::StandardType<Tensor, Kind>;`.
//
// A MutableTensor result is the kernel's first MutableTensor argument, whichever tensor the host's kernel gave: a C++
// kernel could return no other. No state; any thread.
#ifndef PLUMBLINE_SPEC_ABI_TYPED_H_
#define PLUMBLINE_SPEC_ABI_TYPED_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "spec/abi/value.h"

namespace plumbline::abi {

template <class... Kind>
struct Kinds {
  static constexpr std::size_t kCount = sizeof...(Kind);
};

// The schema kinds, as types, and each signature as a pair of lists of them.
namespace kind {
struct Tensor {};
struct TensorOpt {};
struct TensorList {};
struct TensorOptList {};
struct MutableTensor {};
struct Int {};
struct SymInt {};
struct Float {};
struct Bool {};
struct Str {};
struct Scalar {};
struct IntList {};
struct SymIntList {};
struct FloatList {};
struct BoolList {};
struct IntOpt {};
struct FloatOpt {};
struct BoolOpt {};
struct StrOpt {};
struct ScalarOpt {};

template <std::uint32_t id>
struct SignatureOf;
#define PLUMBLINE_ABI_KINDS(...) Kinds<__VA_ARGS__>
#define PLUMBLINE_ABI_SIGNATURE(id, name, arguments, returns) \
  template <>                                                 \
  struct SignatureOf<id> {                                    \
    static constexpr std::uint32_t kId = id;                  \
    static constexpr std::string_view kName = #name;          \
    using Arguments = PLUMBLINE_ABI_KINDS arguments;          \
    using Returns = PLUMBLINE_ABI_KINDS returns;              \
  };
PL_SIGNATURES(PLUMBLINE_ABI_SIGNATURE)
#undef PLUMBLINE_ABI_SIGNATURE
#undef PLUMBLINE_ABI_KINDS
}  // namespace kind

using kind::SignatureOf;

// Calls `visit(SignatureOf<id>{})`.
template <class Visit>
decltype(auto) VisitSignature(std::uint32_t id, Visit&& visit) {
  switch (id) {
#define PLUMBLINE_ABI_CASE(number, name, arguments, returns) \
  case number:                                               \
    return visit(SignatureOf<number>{});
    PL_SIGNATURES(PLUMBLINE_ABI_CASE)
#undef PLUMBLINE_ABI_CASE
    default:
      throw Error(PL_ERROR_INVALID_ARGUMENT, "signature " + std::to_string(id) + " is not in the catalogue");
  }
}

template <class Backend, class Arguments, class Returns>
class TypedOf;

template <class Backend, class... A, class... R>
class TypedOf<Backend, Kinds<A...>, Kinds<R...>> {
  template <class Kind>
  using Type = typename Backend::template Type<Kind>;
  template <class Kind>
  using Argument = typename Type<Kind>::Argument;
  using V = Value<typename Backend::Tensor>;

  template <class... Kind>
  static auto ReturnType() {
    if constexpr (sizeof...(Kind) == 0) {
      return std::type_identity<void>{};
    } else if constexpr (sizeof...(Kind) == 1) {
      return (std::type_identity<typename Type<Kind>::Return>{}, ...);
    } else {
      return std::type_identity<std::tuple<typename Type<Kind>::Return...>>{};
    }
  }

 public:
  using Return = typename decltype(ReturnType<R...>())::type;
  using Function = Return(Argument<A>...);

  // Typed call: unpacks the values, calls `function` (anything that takes the arguments), packs what it returns.
  template <class F>
  static std::vector<V> Call(F&& function, std::span<const V> arguments) {
    if (arguments.size() != sizeof...(A)) {
      throw Error(PL_ERROR_SCHEMA_MISMATCH, "the signature takes " + std::to_string(sizeof...(A)) +
                                                " arguments, the call has " + std::to_string(arguments.size()));
    }
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::tuple<decltype(Type<A>::FromValue(arguments[I]))...> held{
          Type<A>::FromValue(arguments[I])...};
      if constexpr (std::is_void_v<Return>) {
        function(static_cast<Argument<A>>(std::get<I>(held))...);
        return std::vector<V>();
      } else {
        return PackReturns(function(static_cast<Argument<A>>(std::get<I>(held))...));
      }
    }
    (std::index_sequence_for<A...>());
  }

  // Typed kernel, on its way to the host: what it was called with, as values ...
  static std::vector<V> PackArguments(const std::remove_reference_t<Argument<A>>&... arguments) {
    std::vector<V> out;
    out.reserve(sizeof...(A));
    (out.push_back(Type<A>::ToValue(arguments)), ...);
    return out;
  }

  // ... and back: what the host's kernel pushed, as the C++ return. Takes the arguments for a MutableTensor result.
  static Return UnpackReturns(std::span<const V> results, std::remove_reference_t<Argument<A>>&... arguments) {
    if (results.size() != sizeof...(R)) {
      throw Error(PL_ERROR_SCHEMA_MISMATCH, "the signature returns " + std::to_string(sizeof...(R)) +
                                                " values, the kernel gave " + std::to_string(results.size()));
    }
    if constexpr (std::is_void_v<Return>) {
      ((void)arguments, ...);
    } else if constexpr (sizeof...(R) == 1) {
      return (UnpackReturn<R>(results[0], arguments...), ...);
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>)->Return {
        return Return{UnpackReturn<R>(results[I], arguments...)...};
      }
      (std::index_sequence_for<R...>());
    }
  }

 private:
  template <class One>
  static std::vector<V> PackReturns(const One& returned) requires(sizeof...(R) == 1) {
    return {Type<R>::ToValue(returned)...};
  }
  template <class Tuple>
  static std::vector<V> PackReturns(const Tuple& returned) requires(sizeof...(R) > 1) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::vector<V>{Type<R>::ToValue(std::get<I>(returned))...};
    }
    (std::index_sequence_for<R...>());
  }

  template <class Kind>
  static typename Type<Kind>::Return UnpackReturn(const V& value, std::remove_reference_t<Argument<A>>&... arguments) {
    if constexpr (std::is_same_v<Kind, kind::MutableTensor>) {
      return Mutable<A...>(value, arguments...);
    } else {
      ((void)arguments, ...);
      return Type<Kind>::FromValue(value);
    }
  }
  template <class First, class... Rest, class Value, class... Values>
  static typename Type<kind::MutableTensor>::Return Mutable(const V& result, Value& value, Values&... values) {
    if constexpr (std::is_same_v<First, kind::MutableTensor>) {
      result.tensor();  // throws if it is none
      return value;
    } else {
      return Mutable<Rest...>(result, values...);
    }
  }
};

template <class Backend, class Signature>
using Typed = TypedOf<Backend, typename Signature::Arguments, typename Signature::Returns>;

// ---- plain C++ types ----

using Scalar = std::variant<std::int64_t, double, bool>;

// One plain value <-> Value; X is the C++ type.
template <class Tensor, class X>
struct Plain {
  static X FromValue(const Value<Tensor>& value) {
    if constexpr (std::is_same_v<X, bool>) {
      return value.boolean();
    } else if constexpr (std::is_same_v<X, std::int64_t>) {
      return value.integer();
    } else if constexpr (std::is_same_v<X, double>) {
      return value.real();
    } else if constexpr (std::is_same_v<X, std::string>) {
      return value.string();
    } else if constexpr (std::is_same_v<X, Scalar>) {
      if (value.is_float()) return value.real();
      if (value.is_bool()) return value.boolean();
      return value.integer();
    } else {
      return value.tensor();
    }
  }
  static Value<Tensor> ToValue(const X& x) {
    if constexpr (std::is_same_v<X, bool>) {
      return Value<Tensor>::Bool(x);
    } else if constexpr (std::is_same_v<X, std::int64_t>) {
      return Value<Tensor>::Int(x);
    } else if constexpr (std::is_same_v<X, double>) {
      return Value<Tensor>::Float(x);
    } else if constexpr (std::is_same_v<X, std::string>) {
      return Value<Tensor>::String(x);
    } else if constexpr (std::is_same_v<X, Scalar>) {
      return std::visit([](auto y) { return Plain<Tensor, decltype(y)>::ToValue(y); }, x);
    } else {
      return Value<Tensor>::Of(x);
    }
  }
};
template <class Tensor, class X>
struct Plain<Tensor, std::optional<X>> {
  static std::optional<X> FromValue(const Value<Tensor>& value) {
    if (value.is_none()) return std::nullopt;
    return Plain<Tensor, X>::FromValue(value);
  }
  static Value<Tensor> ToValue(const std::optional<X>& x) {
    return x.has_value() ? Plain<Tensor, X>::ToValue(*x) : Value<Tensor>::None();
  }
};
template <class Tensor, class X>
struct Plain<Tensor, std::vector<X>> {
  static std::vector<X> FromValue(const Value<Tensor>& value) {
    std::vector<X> out;
    out.reserve(value.list().size());
    for (const Value<Tensor>& item : value.list()) out.push_back(Plain<Tensor, X>::FromValue(item));
    return out;
  }
  static Value<Tensor> ToValue(const std::vector<X>& xs) {
    std::vector<Value<Tensor>> items;
    items.reserve(xs.size());
    for (const X& x : xs) items.push_back(Plain<Tensor, X>::ToValue(x));
    return Value<Tensor>::List(std::move(items));
  }
};

template <class Tensor, class X, class ArgumentType = const X&, class ReturnType = X>
struct PlainType : Plain<Tensor, X> {
  using Argument = ArgumentType;
  using Return = ReturnType;
};

template <class Tensor, class Kind>
struct StandardType;
#define PLUMBLINE_ABI_STANDARD(Kind, ...) \
  template <class Tensor>                 \
  struct StandardType<Tensor, kind::Kind> : PlainType<Tensor, __VA_ARGS__> {};
PLUMBLINE_ABI_STANDARD(Tensor, Tensor)
PLUMBLINE_ABI_STANDARD(TensorOpt, std::optional<Tensor>)
PLUMBLINE_ABI_STANDARD(TensorList, std::vector<Tensor>)
PLUMBLINE_ABI_STANDARD(TensorOptList, std::vector<std::optional<Tensor>>)
PLUMBLINE_ABI_STANDARD(MutableTensor, Tensor, Tensor&, Tensor&)
PLUMBLINE_ABI_STANDARD(Int, std::int64_t, std::int64_t)
PLUMBLINE_ABI_STANDARD(SymInt, std::int64_t, std::int64_t)
PLUMBLINE_ABI_STANDARD(Float, double, double)
PLUMBLINE_ABI_STANDARD(Bool, bool, bool)
PLUMBLINE_ABI_STANDARD(Str, std::string)
PLUMBLINE_ABI_STANDARD(Scalar, Scalar)
PLUMBLINE_ABI_STANDARD(IntList, std::vector<std::int64_t>)
PLUMBLINE_ABI_STANDARD(SymIntList, std::vector<std::int64_t>)
PLUMBLINE_ABI_STANDARD(FloatList, std::vector<double>)
PLUMBLINE_ABI_STANDARD(BoolList, std::vector<bool>)
PLUMBLINE_ABI_STANDARD(IntOpt, std::optional<std::int64_t>)
PLUMBLINE_ABI_STANDARD(FloatOpt, std::optional<double>)
PLUMBLINE_ABI_STANDARD(BoolOpt, std::optional<bool>)
PLUMBLINE_ABI_STANDARD(StrOpt, std::optional<std::string>)
PLUMBLINE_ABI_STANDARD(ScalarOpt, std::optional<Scalar>)
#undef PLUMBLINE_ABI_STANDARD

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_TYPED_H_
