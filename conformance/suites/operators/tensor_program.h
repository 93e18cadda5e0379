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
//   drop v                                    # the name goes, and the tensor with its last name
//   m = memory                                # what the device's memory is in use for; of another: memory on DEVICE
//   reset peak                                # or: reset peak on DEVICE, empty cache on DEVICE
//   empty cache
//   h = holders                               # who holds it
//   expect m kept 0 peak as live              # any of live, peak, kept: bytes; and blocks
//   expect k live +4000 blocks +1 since m     # m was read before; +4000 is less than 8000, as blocks may be larger
//   expect h lists a v                        # a storage that these tensors hold, and no other
//
//   p = to_dlpack(a)                          # a capsule, whose memory the tensor shares
//   q = dlpack float32 [2, 3] / [3, 1] + 1 {0 1 2 3 4 5 6}   # one of the host's own; without / it tells no strides
//   r = dlpack int8 [2] {1 2} lanes 4         # that says of itself: code, bits, lanes, or device of this kind
//   b = from_dlpack(q)
//   expect q float32 {1 2 3 4 5 6} deleted 1  # looks as of a tensor; how often its deleter ran
//   expect p aligned 64                       # the address of the first element is divided by it
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

// Of a device's memory.
enum class MemoryFigure { kLive, kPeak, kKept, kBlocks };
inline constexpr std::string_view kMemoryFigures[] = {"live", "peak", "kept", "blocks"};

// What a program says of a figure: how much it is, by how much it has grown, or that it is as another one.
struct FigureLook {
  MemoryFigure figure = MemoryFigure::kLive;
  bool grown = false;
  std::int64_t amount = 0;
  std::optional<MemoryFigure> as{};
};

// What a capsule of the host's own says that is not so.
struct SpoiltCapsule {
  std::optional<int> code{}, bits{}, lanes{}, device{};
  bool strides_told = false;  // else there are none, which means those of rows
};

struct Statement {
  enum class Kind {
    kMake,
    kCall,
    kDrop,
    kMemory,
    kHolders,
    kResetPeak,
    kEmptyCache,
    kToDlpack,
    kFromDlpack,
    kCapsule,
    kExpect,
    kExpectMemory,
    kExpectHolders,
    kExpectCapsule
  };
  Kind kind = Kind::kMake;
  int line = 0;
  // Of what comes of it; of a call the results, in order, or none: they are not looked at. kDrop, kExpect...: of which.
  std::vector<int> names;
  HostTensor made{};                  // kMake, kCapsule; of no dtype: undefined
  std::string op{};                   // kCall: "aten::add.Tensor"
  std::vector<Argument> arguments{};  // kCall: all that the schema has; a tensor is a name's number in `integer`
  std::optional<std::uint32_t> error_class{};  // it is to be refused; PL_ERROR_NONE: in any way
  std::vector<std::string> says{};             // what the message holds
  std::string device{};                        // kMemory, kHolders, kResetPeak, kEmptyCache; empty: the usual one
  SpoiltCapsule spoilt{};                      // kCapsule
  int other = -1;                        // kToDlpack, kFromDlpack: the operand; kExpect...: what it is held against
  TensorLooks looks{};                   // kExpect, kExpectCapsule
  Relation relation = Relation::kNone;   // kExpect, from here
  std::optional<std::int64_t> raised{};  // versions
  std::optional<Argument> value{};
  std::vector<FigureLook> figures{};                 // kExpectMemory
  std::vector<int> holders{};                        // kExpectHolders
  std::optional<std::int64_t> deleted{}, aligned{};  // kExpectCapsule
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
