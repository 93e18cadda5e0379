// Arguments and results as an author sees them, and their way to and from pl_value.
//
//   Value<MyTensor> v = Value<MyTensor>::Int(3);
//   if (v.is_tensor()) Use(v.tensor());
//
// A reader of the wrong kind throws Error(SCHEMA_MISMATCH). Values own what they hold: a tensor is a copy of the
// author's handle. `CValues` lends values to the other side: it and the values must outlive the loan. Across the line
// a pl_tensor* is the address of an author's handle, so that lending one costs nothing.
#ifndef PLUMBLINE_SPEC_ABI_VALUE_H_
#define PLUMBLINE_SPEC_ABI_VALUE_H_

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "spec/abi/error.h"

namespace plumbline::abi {

template <class Tensor>
class Value {
 public:
  Value() = default;  // none: an absent optional
  static Value None() { return Value(); }
  static Value Of(Tensor tensor) { return Value(Data(std::in_place_index<PL_TENSOR>, std::move(tensor))); }
  static Value Int(std::int64_t integer) { return Value(Data(std::in_place_index<PL_INT>, integer)); }
  static Value Float(double real) { return Value(Data(std::in_place_index<PL_FLOAT>, real)); }
  static Value Bool(bool boolean) { return Value(Data(std::in_place_index<PL_BOOL>, boolean)); }
  static Value String(std::string text) { return Value(Data(std::in_place_index<PL_STRING>, std::move(text))); }
  static Value List(std::vector<Value> items) { return Value(Data(std::in_place_index<PL_LIST>, std::move(items))); }

  std::uint32_t kind() const { return static_cast<std::uint32_t>(data_.index()); }  // PL_NONE, PL_TENSOR, ...
  bool is_none() const { return kind() == PL_NONE; }
  bool is_tensor() const { return kind() == PL_TENSOR; }
  bool is_int() const { return kind() == PL_INT; }
  bool is_float() const { return kind() == PL_FLOAT; }
  bool is_bool() const { return kind() == PL_BOOL; }
  bool is_string() const { return kind() == PL_STRING; }
  bool is_list() const { return kind() == PL_LIST; }

  const Tensor& tensor() const { return Read<PL_TENSOR>(); }
  std::int64_t integer() const { return Read<PL_INT>(); }
  double real() const { return Read<PL_FLOAT>(); }
  bool boolean() const { return Read<PL_BOOL>(); }
  const std::string& string() const { return Read<PL_STRING>(); }
  const std::vector<Value>& list() const { return Read<PL_LIST>(); }

 private:
  using Data =
      std::variant<std::monostate, Tensor, std::int64_t, double, bool, std::string, std::vector<Value>>;  // by PL_kind
  explicit Value(Data data) : data_(std::move(data)) {}

  template <std::size_t kind>
  const auto& Read() const {
    static constexpr const char* kNames[] = {"none", "a tensor", "an int", "a float", "a bool", "a string", "a list"};
    if (const auto* value = std::get_if<kind>(&data_)) return *value;
    throw Error(PL_ERROR_SCHEMA_MISMATCH, std::string("expected ") + kNames[kind] + ", got " + kNames[data_.index()]);
  }

  Data data_;
};

// What the other side hands over may be null only if it is empty.
inline std::string_view ViewOfGiven(pl_string text) {
  if (text.data == nullptr && text.size != 0)
    throw Error(PL_ERROR_INVALID_ARGUMENT, "a text of " + std::to_string(text.size) + " bytes is null");
  return View(text);
}

// Copies a value that the other side lends.
template <class Tensor>
Value<Tensor> FromC(const pl_value& value, int depth = 0) {
  if (value.reserved != 0) throw Error(PL_ERROR_INVALID_ARGUMENT, "pl_value.reserved is not zero");
  switch (value.kind) {
    case PL_NONE:
      return Value<Tensor>::None();
    case PL_TENSOR:
      if (value.as.tensor == nullptr) throw Error(PL_ERROR_INVALID_HANDLE, "a value holds a null tensor handle");
      return Value<Tensor>::Of(*reinterpret_cast<const Tensor*>(value.as.tensor));
    case PL_INT:
      return Value<Tensor>::Int(value.as.integer);
    case PL_FLOAT:
      return Value<Tensor>::Float(value.as.real);
    case PL_BOOL:
      if (value.as.integer != 0 && value.as.integer != 1)
        throw Error(PL_ERROR_INVALID_ARGUMENT, "a PL_BOOL is neither 0 nor 1");
      return Value<Tensor>::Bool(value.as.integer == 1);
    case PL_STRING:
      return Value<Tensor>::String(std::string(ViewOfGiven(value.as.string)));
    case PL_LIST: {
      if (depth == PL_MAX_LIST_DEPTH) {
        throw Error(PL_ERROR_INVALID_ARGUMENT, "lists are nested deeper than " + std::to_string(PL_MAX_LIST_DEPTH));
      }
      if (value.as.list.data == nullptr && value.as.list.size != 0)
        throw Error(PL_ERROR_INVALID_ARGUMENT, "a list of " + std::to_string(value.as.list.size) + " values is null");
      std::vector<Value<Tensor>> items;
      items.reserve(value.as.list.size);
      for (std::uint64_t i = 0; i < value.as.list.size; ++i)
        items.push_back(FromC<Tensor>(value.as.list.data[i], depth + 1));
      return Value<Tensor>::List(std::move(items));
    }
    default:
      throw Error(PL_ERROR_INVALID_ARGUMENT, "a value is of unknown kind " + std::to_string(value.kind));
  }
}

template <class Tensor>
std::vector<Value<Tensor>> FromC(const pl_value* values, std::uint64_t count) {
  if (count != 0 && values == nullptr) throw Error(PL_ERROR_INVALID_ARGUMENT, "values are null but counted");
  std::vector<Value<Tensor>> out;
  out.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(FromC<Tensor>(values[i]));
  return out;
}

// Lends values.
template <class Tensor>
class CValues {
 public:
  explicit CValues(std::span<const Value<Tensor>> values) : top_(Lend(values)) {}
  const pl_value* data() const { return top_.data; }
  std::uint64_t size() const { return top_.size; }

 private:
  pl_value_list Lend(std::span<const Value<Tensor>> values) {
    std::vector<pl_value> lent;
    lent.reserve(values.size());
    for (const Value<Tensor>& value : values) {
      pl_value out{};
      out.kind = value.kind();
      switch (out.kind) {
        case PL_TENSOR:
          out.as.tensor = reinterpret_cast<pl_tensor*>(const_cast<Tensor*>(&value.tensor()));
          break;
        case PL_INT:
          out.as.integer = value.integer();
          break;
        case PL_FLOAT:
          out.as.real = value.real();
          break;
        case PL_BOOL:
          out.as.integer = value.boolean() ? 1 : 0;
          break;
        case PL_STRING:
          out.as.string = Borrow(value.string());
          break;
        case PL_LIST:
          out.as.list = Lend(value.list());
          break;
        default:
          break;
      }
      lent.push_back(out);
    }
    const std::vector<pl_value>& kept = kept_.emplace_back(std::move(lent));
    return pl_value_list{kept.data(), kept.size()};
  }

  std::deque<std::vector<pl_value>> kept_;  // vectors keep their address when one is added
  pl_value_list top_;
};

// Hands results to the host, one by one.
template <class Tensor>
void Push(const pl_value_sink& sink, std::span<const Value<Tensor>> results) {
  const CValues<Tensor> lent(results);
  for (std::uint64_t i = 0; i < lent.size(); ++i) ThrowIfError(sink.push(sink.context, &lent.data()[i]));
}

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_VALUE_H_
