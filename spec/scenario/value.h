// A value in a scenario: an argument, a result, or what a kernel saw.
//
// Tensors are named by their exact key set; two tensors are compared by key set, and results also by
// which argument they are (`argument`).
#ifndef PLUMBLINE_SPEC_SCENARIO_VALUE_H_
#define PLUMBLINE_SPEC_SCENARIO_VALUE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::scenario {

struct Value {
  enum class Kind { kNone, kUndefined, kTensor, kInt, kFloat, kBool, kString, kList };
  Kind kind = Kind::kNone;
  std::vector<std::string> keys;  // kTensor: lowest priority first
  std::int64_t integer = 0;
  double real = 0;  // equality is bitwise, so that NaN equals itself
  bool boolean = false;
  std::string text;
  std::vector<Value> items;  // kList

  // A result only: the position of the argument of the step's call that is this very tensor; -1: none, or not told.
  // A result that an author writes as `arg N` has only this, see ArgumentOf.
  int argument = -1;

  static Value None();
  static Value Undefined();
  static Value Tensor(std::vector<std::string> keys);
  static Value Int(std::int64_t value);
  static Value Float(double value);
  static Value Bool(bool value);
  static Value String(std::string value);
  static Value List(std::vector<Value> items);
  static Value ArgumentOf(int index);  // `arg N`: a tensor of unstated keys that is argument N

  friend bool operator==(const Value& a, const Value& b);
};

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_VALUE_H_
