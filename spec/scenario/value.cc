#include "spec/scenario/value.h"

#include <bit>
#include <utility>

namespace plumbline::scenario {

Value Value::None() { return {}; }

Value Value::Undefined() {
  Value value;
  value.kind = Kind::kUndefined;
  return value;
}

Value Value::Tensor(std::vector<std::string> keys) {
  Value value;
  value.kind = Kind::kTensor;
  value.keys = std::move(keys);
  return value;
}

Value Value::Int(std::int64_t integer) {
  Value value;
  value.kind = Kind::kInt;
  value.integer = integer;
  return value;
}

Value Value::Float(double real) {
  Value value;
  value.kind = Kind::kFloat;
  value.real = real;
  return value;
}

Value Value::Bool(bool boolean) {
  Value value;
  value.kind = Kind::kBool;
  value.boolean = boolean;
  return value;
}

Value Value::String(std::string text) {
  Value value;
  value.kind = Kind::kString;
  value.text = std::move(text);
  return value;
}

Value Value::List(std::vector<Value> items) {
  Value value;
  value.kind = Kind::kList;
  value.items = std::move(items);
  return value;
}

Value Value::ArgumentOf(int index) {
  Value value = Tensor({});
  value.argument = index;
  return value;
}

bool operator==(const Value& a, const Value& b) {
  return a.kind == b.kind && a.keys == b.keys && a.integer == b.integer &&
         std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) && a.boolean == b.boolean &&
         a.text == b.text && a.items == b.items && a.argument == b.argument;
}

}  // namespace plumbline::scenario
