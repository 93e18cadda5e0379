// Programs over tensors: made from the host, handed to operators, and looked at after each call.
//
//   program  1
//   title    A view shares the version counter
//   clauses  TENS-041
//   needs    elements                         # if it is about what only elements tell: not for meta
//
//   a = float32 [2, 3] {1 2 3 4 5 6}          # row-major; strided: int64 [2] / [2] + 1 {0 7 0 8}, all of its storage
//   v = view(a, [3, 2])                       # aten::view; what is left out has the schema's default
//   add_.Scalar(v, 1, alpha=2)
//   add_.Tensor(a, v) => error invalid-argument says "overlap"     # => error: of any class
//   n = float32 [1] bits {0100c07f}           # the bytes of its storage
//
//   u = undefined                             # no tensor at all
//
//   expect a float32 [2, 3] {3 4 5 6 7 8}     # any of: dtype, sizes, / strides, + offset, on DEVICE, elements, bits
//   expect v shares a                         # or: apart from a, is a, keys as a, keys not as a
//   expect v version +1                       # since it was named
//   expect n 3                                # a result that is no tensor
//
// Arguments are names, numbers (1 is an int, 1.0 a float), true, false, None, "text", [lists], dtypes by their
// spelling, and contiguous_format, preserve_format, channels_last, channels_last_3d. A list of tensors that an operator
// returns is named tensor by tensor: p, q = split(a, 2). `#` begins a comment.
//
// A call that a program says nothing of must be as the oracle says, where there is one. Plain values; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_TENSOR_PROGRAM_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_TENSOR_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/harness/or_error.h"
#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

// What a program says of a tensor; what it leaves out is not looked at.
struct TensorLooks {
  std::optional<std::uint32_t> dtype;
  std::optional<Sizes> sizes, strides;
  std::optional<std::int64_t> offset;
  std::optional<std::string> device;
  std::optional<std::vector<long double>> elements;  // of all, in row-major order
  std::optional<std::vector<std::byte>> bits;        // the same, as bytes
};

// How a tensor is to stand to another.
enum class Relation { kNone, kIs, kShares, kApartFrom, kKeysAs, kKeysNotAs };

struct Statement {
  enum class Kind { kMake, kCall, kExpect };
  Kind kind = Kind::kMake;
  int line = 0;
  // kMake: the tensor. kCall: the results, in order; none: they are not looked at. kExpect: of which.
  std::vector<int> names;
  HostTensor made{};                  // kMake; of no dtype: undefined
  std::string op{};                   // kCall: "aten::add.Tensor"
  std::vector<Argument> arguments{};  // kCall: all that the schema has; a tensor is a name's number in `integer`
  std::optional<std::uint32_t> error_class{};  // kMake, kCall: it is to be refused; PL_ERROR_NONE: in any way
  std::vector<std::string> says{};             // what the message holds
  TensorLooks looks{};                         // kExpect, from here
  Relation relation = Relation::kNone;
  int other = -1;
  std::optional<std::int64_t> raised{};  // versions
  std::optional<Argument> value{};
};

struct TensorProgram {
  std::string title;
  std::vector<std::string> clauses;
  bool needs_elements = false;     // a device without elements has nothing to show
  std::vector<std::string> names;  // by number
  std::vector<Statement> statements;
};

// The first word of such a file.
bool IsTensorProgram(std::string_view text);
// The error is "LINE:COLUMN: what is wrong, and what was expected".
harness::OrError<TensorProgram> ParseTensorProgram(std::string_view text);
std::string PrintTensorProgram(const TensorProgram& program);
std::string PrintLooks(const TensorLooks& looks);
std::string PrintStatement(const TensorProgram& program, const Statement& statement);

// A program that makes this call, for a file that replays it.
TensorProgram ProgramOf(const OperatorCall& call, std::string title);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_TENSOR_PROGRAM_H_
