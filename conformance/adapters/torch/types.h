// The schema kinds as libtorch's kernels spell them in C++.
//
//   using Typed = abi::Typed<Types, abi::SignatureOf<PL_SIGNATURE_tensor_int>>;
//   Typed::Function                                          // at::Tensor(const at::Tensor&, int64_t)
//
// The spelling is that of PyTorch's own kernels, so that the signatures compared are the ones users write. `FromValue`
// owns what an argument only views. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPES_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPES_H_

#include <ATen/core/List.h>
#include <ATen/core/TensorBody.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/adapters/torch/torch_version.h"
#include "spec/abi/typed.h"

namespace plumbline::torch_backend {

using Value = abi::Value<at::Tensor>;

// One C++ value <-> Value.
inline at::Tensor Read(const Value& value, const at::Tensor*) { return value.tensor(); }
inline std::int64_t Read(const Value& value, const std::int64_t*) { return value.integer(); }
inline c10::SymInt Read(const Value& value, const c10::SymInt*) { return c10::SymInt(value.integer()); }
inline double Read(const Value& value, const double*) { return value.real(); }
inline bool Read(const Value& value, const bool*) { return value.boolean(); }
inline std::string Read(const Value& value, const std::string*) { return value.string(); }
inline at::Scalar Read(const Value& value, const at::Scalar*) {
  if (value.is_float()) return at::Scalar(value.real());
  if (value.is_bool()) return at::Scalar(value.boolean());
  return at::Scalar(value.integer());
}

inline Value Write(const at::Tensor& tensor) { return Value::Of(tensor); }
inline Value Write(std::int64_t integer) { return Value::Int(integer); }
inline Value Write(const c10::SymInt& integer) { return Value::Int(integer.expect_int()); }
inline Value Write(double real) { return Value::Float(real); }
inline Value Write(bool boolean) { return Value::Bool(boolean); }
inline Value Write(StringView text) { return Value::String(std::string(text.data(), text.size())); }
inline Value Write(const std::string& text) { return Value::String(text); }
inline Value Write(const at::Scalar& scalar) {
  if (scalar.isFloatingPoint()) return Value::Float(scalar.toDouble());
  if (scalar.isBoolean()) return Value::Bool(scalar.toBool());
  return Value::Int(scalar.toLong());
}

template <class X, class ArgumentType, class ReturnType = X>
struct OneType {
  using Argument = ArgumentType;
  using Return = ReturnType;
  static X FromValue(const Value& value) { return Read(value, static_cast<const X*>(nullptr)); }
  static Value ToValue(const X& x) { return Write(x); }
};

template <class X, class ArgumentType>
struct OptionalType {
  using Argument = ArgumentType;
  using Return = Optional<X>;
  static Optional<X> FromValue(const Value& value) {
    if (value.is_none()) return kNullopt;
    return Read(value, static_cast<const X*>(nullptr));
  }
  static Value ToValue(const Optional<X>& x) { return x.has_value() ? Write(*x) : Value::None(); }
};

template <class X, class ArgumentType>
struct ListType {
  using Argument = ArgumentType;
  using Return = std::vector<X>;
  static std::vector<X> FromValue(const Value& value) {
    std::vector<X> out;
    for (const Value& item : value.list()) out.push_back(Read(item, static_cast<const X*>(nullptr)));
    return out;
  }
  static Value ToValue(ArgumentType xs) {
    std::vector<Value> items;
    for (const X& x : xs) items.push_back(Write(x));
    return Value::List(std::move(items));
  }
};

template <class Kind>
struct TorchType;

namespace kind = abi::kind;
template <>
struct TorchType<kind::Tensor> : OneType<at::Tensor, const at::Tensor&> {};
template <>
struct TorchType<kind::MutableTensor> : OneType<at::Tensor, at::Tensor&, at::Tensor&> {};
template <>
struct TorchType<kind::TensorOpt> : OptionalType<at::Tensor, const Optional<at::Tensor>&> {};
template <>
struct TorchType<kind::TensorList> : ListType<at::Tensor, at::TensorList> {};
template <>
struct TorchType<kind::Int> : OneType<std::int64_t, std::int64_t> {};
template <>
struct TorchType<kind::SymInt> : OneType<c10::SymInt, c10::SymInt> {};
template <>
struct TorchType<kind::Float> : OneType<double, double> {};
template <>
struct TorchType<kind::Bool> : OneType<bool, bool> {};
template <>
struct TorchType<kind::Scalar> : OneType<at::Scalar, const at::Scalar&> {};
template <>
struct TorchType<kind::IntList> : ListType<std::int64_t, at::IntArrayRef> {};
template <>
struct TorchType<kind::SymIntList> : ListType<c10::SymInt, c10::SymIntArrayRef> {};
template <>
struct TorchType<kind::FloatList> : ListType<double, at::ArrayRef<double>> {};
template <>
struct TorchType<kind::IntOpt> : OptionalType<std::int64_t, Optional<std::int64_t>> {};
template <>
struct TorchType<kind::FloatOpt> : OptionalType<double, Optional<double>> {};
template <>
struct TorchType<kind::BoolOpt> : OptionalType<bool, Optional<bool>> {};
template <>
struct TorchType<kind::ScalarOpt> : OptionalType<at::Scalar, const Optional<at::Scalar>&> {};

// Strings enter a kernel as views and leave it as strings.
template <>
struct TorchType<kind::Str> {
  using Argument = StringView;
  using Return = std::string;
  static std::string FromValue(const Value& value) { return value.string(); }
  static Value ToValue(StringView text) { return Write(text); }
};
template <>
struct TorchType<kind::StrOpt> {
  using Argument = Optional<StringView>;
  using Return = Optional<std::string>;
  struct Owned {
    Optional<std::string> text;
    explicit operator Optional<StringView>() const {
      if (!text.has_value()) return kNullopt;
      return StringView(text->data(), text->size());
    }
  };
  static Owned FromValue(const Value& value) {
    if (value.is_none()) return {kNullopt};
    return {value.string()};
  }
  static Value ToValue(const Optional<StringView>& text) { return text.has_value() ? Write(*text) : Value::None(); }
};

// Lists that have no view type.
template <>
struct TorchType<kind::BoolList> {
  using Argument = c10::List<bool>;
  using Return = c10::List<bool>;
  static c10::List<bool> FromValue(const Value& value) {
    c10::List<bool> out;
    for (const Value& item : value.list()) out.push_back(item.boolean());
    return out;
  }
  static Value ToValue(const c10::List<bool>& list) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < list.size(); ++i) items.push_back(Value::Bool(list.get(i)));
    return Value::List(std::move(items));
  }
};
template <>
struct TorchType<kind::TensorOptList> {
  using Argument = const c10::List<Optional<at::Tensor>>&;
  using Return = c10::List<Optional<at::Tensor>>;
  static c10::List<Optional<at::Tensor>> FromValue(const Value& value) {
    c10::List<Optional<at::Tensor>> out;
    for (const Value& item : value.list())
      out.push_back(item.is_none() ? Optional<at::Tensor>() : Optional<at::Tensor>(item.tensor()));
    return out;
  }
  static Value ToValue(const c10::List<Optional<at::Tensor>>& list) {
    std::vector<Value> items;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Optional<at::Tensor> item = list.get(i);
      items.push_back(item.has_value() ? Value::Of(*item) : Value::None());
    }
    return Value::List(std::move(items));
  }
};

// What spec/abi/typed.h asks of a backend.
struct Types {
  using Tensor = at::Tensor;
  template <class Kind>
  using Type = TorchType<Kind>;
  static std::uint64_t Identity(const at::Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.unsafeGetTensorImpl());
  }
};

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TYPES_H_
