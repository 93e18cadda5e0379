// A call of an operator with arguments from the host, and what came of it: as they cross to an executor and back.
//
//   OperatorCall call{.op = "aten::add.Tensor", .arguments = {Argument::Of(a), Argument::Of(b), Argument::Int(2)}};
//   std::string request = EncodeCalls({call}, device);
//   std::vector<OperatorOutcome> outcomes = DecodeOutcomes(reply);        // one for each call
//
// Plain values; any thread. The two sides are one program, so the encoding is nobody's business; a broken one throws.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CALL_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CALL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/suites/operators/host_tensor.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

struct Argument {
  std::uint32_t kind = PL_NONE;  // as pl_value's
  std::int64_t integer = 0;      // of a tensor: the argument before it whose memory it has, by its layout; -1: its own
  double real = 0;
  std::string text{};
  HostTensor tensor{};
  std::vector<Argument> items{};

  static Argument None() { return {}; }
  static Argument Int(std::int64_t value) { return {.kind = PL_INT, .integer = value}; }
  static Argument Float(double value) { return {.kind = PL_FLOAT, .real = value}; }
  static Argument Bool(bool value) { return {.kind = PL_BOOL, .integer = value ? 1 : 0}; }
  static Argument Text(std::string value) { return {.kind = PL_STRING, .text = std::move(value)}; }
  static Argument Of(HostTensor value) { return {.kind = PL_TENSOR, .integer = -1, .tensor = std::move(value)}; }
  static Argument ViewOf(int argument, HostTensor layout) {
    return {.kind = PL_TENSOR, .integer = argument, .tensor = std::move(layout)};
  }
  static Argument List(std::vector<Argument> values) { return {.kind = PL_LIST, .items = std::move(values)}; }
  static Argument Ints(const Sizes& values);
};

// The device whose tensors have shapes and no elements.
inline constexpr const char* kMeta = "meta";

// As the text of an argument: the device on which the call is made, or none where that is the usual one.
inline constexpr std::string_view kThisDevice = "@device";

struct OperatorCall {
  std::string op;
  std::vector<Argument> arguments;
};

// The tensors among the arguments, those in lists too: a tensor argument's number is its place here.
std::vector<const Argument*> TensorsOf(const OperatorCall& call);

// Of a tensor that a call returned or wrote: its layout, its elements, and whose memory it has.
struct ReturnedTensor {
  HostTensor tensor;  // contiguous copy of the elements; `strides` are those of the backend's tensor
  Sizes strides;
  int same_as = -1;      // the argument that is the very same tensor
  int shares_with = -1;  // the argument whose memory it shares
};

struct OperatorOutcome {
  std::uint32_t error_class = PL_ERROR_NONE;
  std::string message;
  std::vector<Argument> results;  // a tensor is in `tensors`, under the number in `integer`
  std::vector<ReturnedTensor> tensors;
  std::vector<HostTensor> arguments_after;  // of each tensor argument, in order, with all its memory
  std::vector<bool> raised;                 // of each: whether its version went up
};

std::string EncodeCalls(const std::vector<OperatorCall>& calls, const std::string& device);
std::vector<OperatorCall> DecodeCalls(const std::string& bytes, std::string& device);
std::string EncodeOutcomes(const std::vector<OperatorOutcome>& outcomes);
std::vector<OperatorOutcome> DecodeOutcomes(const std::string& bytes);

// As one would write it, for findings: "aten::add.Tensor(float32 [2]: 1 2, float32 [2]: 3 4, 1)".
std::string Describe(const OperatorCall& call);
std::string Describe(const Argument& argument);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_OPERATOR_CALL_H_
