// The C++ types of schema kinds, and how each crosses into a Value and back.
//
//   schema        argument of a kernel                     result
//   Tensor        const Tensor&, Tensor&, Tensor           Tensor, Tensor&
//   Tensor?       const std::optional<Tensor>&, by value   std::optional<Tensor>
//   Tensor[]      TensorList, std::vector<Tensor>          std::vector<Tensor>
//   Tensor?[]     OptionalTensorList, std::vector          std::vector<std::optional<Tensor>>
//   int, SymInt   std::int64_t, SymInt                     the same
//   float, bool   double, bool                             the same
//   str           std::string_view, std::string            std::string
//   Scalar        Scalar, const Scalar&                    Scalar
//   ScalarType    DType                                    the same
//   MemoryFormat, Layout, Device                           the same
//   Generator?    std::optional<Generator>, never there    the same
//   T[], T?       std::span<const T>, std::vector<T>; std::optional<T>
//
// Arguments that are views (spans, string views, references) are valid for the call.
//
// Box<T>::To(Value&) gives what a kernel parameter of type T binds to, presuming the kind (a boxed call has checked
// it); Box<T>::From(x) makes a value. A user's type joins by specialising Box. Stateless; any thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_TYPES_H_
#define PLUMBLINE_REFERENCE_BOXING_TYPES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "reference/boxing/schema_type.h"
#include "reference/boxing/value.h"
#include "reference/keys/error.h"
#include "reference/tensor/device.h"
#include "reference/tensor/dtype.h"
#include "reference/tensor/geometry.h"

namespace plumbline::reference {

// An integer that a tracer may stand in for. Here it always is a plain number; it exists as a type of its own because
// kernels that take it form a family of their own (see registry.h).
class SymInt {
 public:
  constexpr SymInt() = default;
  constexpr SymInt(std::int64_t value) : value_(value) {}  // NOLINT: converts like the integer that it is
  constexpr std::int64_t value() const { return value_; }
  friend constexpr bool operator==(SymInt, SymInt) = default;

 private:
  std::int64_t value_ = 0;
};

class Scalar {
 public:
  Scalar() : value_(std::int64_t{0}) {}
  Scalar(std::int64_t value) : value_(value) {}       // NOLINT: a number is a Scalar
  Scalar(int value) : value_(std::int64_t{value}) {}  // NOLINT
  Scalar(double value) : value_(value) {}             // NOLINT
  Scalar(bool value) : value_(value) {}               // NOLINT
  bool is_int() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_float() const { return std::holds_alternative<double>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  std::int64_t ToInt() const { return std::get<std::int64_t>(value_); }
  double ToFloat() const { return std::get<double>(value_); }
  bool ToBool() const { return std::get<bool>(value_); }
  friend bool operator==(const Scalar&, const Scalar&) = default;

 private:
  std::variant<std::int64_t, double, bool> value_;
};

// How elements lie in memory, by PyTorch's number; there are no sparse tensors here.
enum class Layout : std::uint8_t { kStrided = 0 };

// Of random numbers. They come from a counter here, so that none is ever given.
struct Generator {};

using TensorList = std::span<const Tensor>;
using OptionalTensorList = std::span<const std::optional<Tensor>>;

// What holds the elements of a list argument while a kernel runs with a span of them.
template <class T>
class ListArgument {
 public:
  explicit ListArgument(std::vector<T> items) : items_(std::move(items)) {}
  operator std::span<const T>() const { return items_; }  // NOLINT: this is its purpose

 private:
  std::vector<T> items_;
};
// vector<bool> is no array of bools.
template <>
class ListArgument<bool> {
 public:
  explicit ListArgument(const std::vector<bool>& items) : items_(items.begin(), items.end()) {}
  operator std::span<const bool>() const {  // NOLINT
    return {reinterpret_cast<const bool*>(items_.data()), items_.size()};
  }

 private:
  std::vector<unsigned char> items_;
};

template <class T>
struct Box;  // Type(), To(Value&), From(T)

template <>
struct Box<Tensor> {
  static SchemaType Type() { return {BaseType::kTensor}; }
  static const Tensor& To(Value& value) { return *value.AsTensor(); }
  static Value From(const Tensor& tensor) { return Value(tensor); }
  static Value From(Tensor&& tensor) { return Value(std::move(tensor)); }
};
template <>
struct Box<std::int64_t> {
  static SchemaType Type() { return {BaseType::kInt}; }
  static std::int64_t To(Value& value) { return value.ToInt(); }
  static Value From(std::int64_t value) { return Value(value); }
};
template <>
struct Box<SymInt> {
  static SchemaType Type() { return {BaseType::kSymInt}; }
  static SymInt To(Value& value) { return SymInt(value.ToInt()); }
  static Value From(SymInt value) { return Value(value.value()); }
};
template <>
struct Box<double> {
  static SchemaType Type() { return {BaseType::kFloat}; }
  static double To(Value& value) { return value.ToFloat(); }
  static Value From(double value) { return Value(value); }
};
template <>
struct Box<bool> {
  static SchemaType Type() { return {BaseType::kBool}; }
  static bool To(Value& value) { return value.ToBool(); }
  static Value From(bool value) { return Value(value); }
};
template <>
struct Box<std::string_view> {
  static SchemaType Type() { return {BaseType::kStr}; }
  static std::string_view To(Value& value) { return value.ToString(); }
  static Value From(std::string_view text) { return Value(text); }
};
template <>
struct Box<std::string> {
  static SchemaType Type() { return {BaseType::kStr}; }
  static std::string To(Value& value) { return std::string(value.ToString()); }
  static Value From(std::string text) { return Value(std::move(text)); }
};
template <>
struct Box<Scalar> {
  static SchemaType Type() { return {BaseType::kScalar}; }
  static Scalar To(Value& value) {
    if (value.kind() == Value::Kind::kFloat) return Scalar(value.ToFloat());
    if (value.kind() == Value::Kind::kBool) return Scalar(value.ToBool());
    return Scalar(value.ToInt());
  }
  static Value From(const Scalar& scalar) {
    if (scalar.is_float()) return Value(scalar.ToFloat());
    if (scalar.is_bool()) return Value(scalar.ToBool());
    return Value(scalar.ToInt());
  }
};
// An enumeration that crosses as PyTorch's number; kInvalidArgument for a number that is not in it.
template <class T, BaseType kBase>
struct BoxOfNumber {
  static SchemaType Type() { return {kBase}; }
  static T To(Value& value) {
    const std::int64_t number = value.ToInt();
    for (T known : Box<T>::kKnown) {
      if (static_cast<std::int64_t>(known) == number) return known;
    }
    Throw(ErrorClass::kInvalidArgument,
          std::to_string(number) + " is the number of no " + std::string(Spelling(kBase)) + " that is known here");
  }
  static Value From(T value) { return Value(static_cast<std::int64_t>(value)); }
};
template <>
struct Box<DType> : BoxOfNumber<DType, BaseType::kScalarType> {
  static constexpr std::span<const DType> kKnown = kAllDTypes;
};
template <>
struct Box<MemoryFormat> : BoxOfNumber<MemoryFormat, BaseType::kMemoryFormat> {
  static constexpr MemoryFormat kKnown[] = {MemoryFormat::kContiguous, MemoryFormat::kPreserve,
                                            MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d};
};
template <>
struct Box<Layout> : BoxOfNumber<Layout, BaseType::kLayout> {
  static constexpr Layout kKnown[] = {Layout::kStrided};
};
template <>
struct Box<Device> {
  static SchemaType Type() { return {BaseType::kDevice}; }
  static Device To(Value& value) { return Device::Parse(value.ToString()); }
  static Value From(Device device) { return Value(device.Spelling()); }
};
template <>
struct Box<Generator> {
  static SchemaType Type() { return {BaseType::kGenerator}; }
  static Generator To(Value&) { return {}; }
  static Value From(Generator) { return Value::None(); }
};
template <class T>
struct Box<std::optional<T>> {
  static SchemaType Type() { return Box<T>::Type().Optional(); }
  static std::optional<T> To(Value& value) {
    if (value.is_none()) return std::nullopt;
    return std::optional<T>(Box<T>::To(value));
  }
  template <class U>
  static Value From(U&& value) {
    return value ? Box<T>::From(*std::forward<U>(value)) : Value::None();
  }
};
template <class T>
struct Box<std::vector<T>> {
  static SchemaType Type() { return Box<T>::Type().List(); }
  static std::vector<T> To(Value& value) {
    std::vector<T> items;
    items.reserve(value.ToList().size());
    for (const Value& item : value.ToList()) items.push_back(Box<T>::To(const_cast<Value&>(item)));
    return items;
  }
  template <class List>
  static Value From(const List& list) {
    std::vector<Value> items;
    items.reserve(list.size());
    for (const auto& item : list) items.push_back(Box<T>::From(item));
    return Value(std::move(items));
  }
};
template <class T>
struct Box<std::span<const T>> {
  static SchemaType Type() { return Box<T>::Type().List(); }
  static ListArgument<T> To(Value& value) { return ListArgument<T>(Box<std::vector<T>>::To(value)); }
  static Value From(std::span<const T> list) { return Box<std::vector<T>>::From(list); }
};

template <class T>
using BoxOf = Box<std::remove_cvref_t<T>>;

// ---- which key set an argument brings ----

inline KeySet KeysOf(const Tensor& tensor) { return tensor.keys(); }
inline KeySet KeysOf(const std::optional<Tensor>& tensor) { return tensor ? tensor->keys() : KeySet(); }
template <class T>
requires std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>> KeySet KeysOf(std::span<const T> list) {
  KeySet keys;
  for (const T& tensor : list) keys = keys | KeysOf(tensor);
  return keys;
}
inline KeySet KeysOf(const std::vector<Tensor>& list) { return KeysOf(TensorList(list)); }
inline KeySet KeysOf(const std::vector<std::optional<Tensor>>& list) { return KeysOf(OptionalTensorList(list)); }
template <class T>
constexpr bool kBringsKeys = requires(const std::remove_cvref_t<T>& argument) {
  KeysOf(argument);
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_TYPES_H_
