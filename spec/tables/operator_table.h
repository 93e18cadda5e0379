// The operators, as constant data: what the reference implements, the suites test and the docs list.
//
// One TOML file per family (operators/unary.toml, ...) is the source; operators/README.md says what its fields mean. A
// generator writes generated/spec/tables/operators.h, which defines `inline constexpr OperatorData kOperators[]` and
// FindOperator(name), and generated/operators.md for people.
//
//   for (const OperatorData& op : kOperators)
//     if (op.family == Family::kUnary && op.Takes(6)) ...  // 6: PyTorch's number of float32
//
// Plain structs without logic to share. Static data; any thread.
#ifndef PLUMBLINE_SPEC_TABLES_OPERATOR_TABLE_H_
#define PLUMBLINE_SPEC_TABLES_OPERATOR_TABLE_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace plumbline::tables {

// X(enumerator, "spelling in the TOML", "in words, for the docs"), by field.

#define PLUMBLINE_OPERATOR_FAMILIES(X)                \
  X(kUnary, "unary", "Elementwise, one tensor")       \
  X(kBinary, "binary", "Elementwise, two or more")    \
  X(kComparison, "comparison", "Comparison")          \
  X(kLogical, "logical", "Logic and bits")            \
  X(kReduction, "reduction", "Reduction and scan")    \
  X(kMatrix, "matrix", "Matrix product")              \
  X(kConvolution, "convolution", "Convolution")       \
  X(kPooling, "pooling", "Pooling")                   \
  X(kSoftmax, "softmax", "Softmax")                   \
  X(kNormalisation, "normalisation", "Normalisation") \
  X(kIndex, "index", "Indexing")                      \
  X(kJoin, "join", "Joining and splitting")           \
  X(kView, "view", "Views")                           \
  X(kCopy, "copy", "Copying and conversion")          \
  X(kFactory, "factory", "Factories")                 \
  X(kRandom, "random", "Random numbers")              \
  X(kLoss, "loss", "Losses")

// Which dtype a result has.
#define PLUMBLINE_OPERATOR_RESULTS(X)                                                                         \
  X(kSame, "same", "that of the first tensor")                                                                \
  X(kPromote, "promote", "that to which all tensors and Scalars promote")                                     \
  X(kPromoteTensors, "promote-tensors", "that to which the tensors promote, each with equal weight")          \
  X(kPromoteValues, "promote-values", "that to which the tensors but the mask promote")                       \
  X(kFloat, "float", "the promoted one if floating, else the default one, float32")                           \
  X(kDivision, "division", "without a rounding mode as float, else as promote")                               \
  X(kSum, "sum", "the argument dtype, else int64 for integers and bool, else that of the first tensor")       \
  X(kArgument, "argument", "the argument dtype, else that of the first tensor")                               \
  X(kDefault, "default", "the argument dtype, else the default one, float32")                                 \
  X(kScalar, "scalar", "the argument dtype, else by the Scalars: bool, int64 or the default one, float32")    \
  X(kScalarRange, "scalar-range", "the argument dtype, else int64 if all Scalars are integers, else float32") \
  X(kBool, "bool", "bool")                                                                                    \
  X(kBoolOrByte, "bool-or-byte", "uint8 of uint8, else bool")                                                 \
  X(kInt64, "int64", "int64")                                                                                 \
  X(kArgumentOrInt64, "argument-or-int64", "the argument dtype, else int64")                                  \
  X(kNone, "none", "no tensor")

// Which sizes results have.
#define PLUMBLINE_OPERATOR_SHAPES(X)                                                                     \
  X(kSame, "same", "those of the first tensor")                                                          \
  X(kBroadcast, "broadcast", "all tensors broadcast")                                                    \
  X(kBroadcastToSelf, "broadcast-to-self", "those of the first tensor, to which the others broadcast")   \
  X(kZeroDim, "zero-dim", "none: zero-dimensional")                                                      \
  X(kReduce, "reduce", "without the dimensions of `dim`, or 1 there with keepdim")                       \
  X(kMm, "mm", "[n, m] x [m, p] is [n, p]")                                                              \
  X(kBmm, "bmm", "[b, n, m] x [b, m, p] is [b, n, p]")                                                   \
  X(kMv, "mv", "[n, m] x [m] is [n]")                                                                    \
  X(kMatmul, "matmul", "batches broadcast; a vector loses its dimension")                                \
  X(kLinear, "linear", "the last dimension becomes weight's first")                                      \
  X(kConvolution, "convolution", "by kernel, stride, padding and dilation")                              \
  X(kPool, "pool", "by kernel, stride, padding, dilation and ceil_mode")                                 \
  X(kAdaptivePool, "adaptive-pool", "the last two dimensions become output_size")                        \
  X(kStatistics, "statistics", "the first as self, the others as the dimensions that statistics are of") \
  X(kChannels, "channels", "the first as self, the others one per channel, or empty when not training")  \
  X(kIndexSelect, "index-select", "at `dim` as many as `index` has")                                     \
  X(kIndex, "index", "indexed dimensions are replaced by the broadcast indices")                         \
  X(kAsIndex, "as-index", "those of `index`")                                                            \
  X(kAppendIndex, "embedding", "those of `indices`, then those of a row")                                \
  X(kNonzero, "nonzero", "[how many, dimensions of self]")                                               \
  X(kMasked, "masked", "[how many are chosen]")                                                          \
  X(kTopk, "topk", "k at `dim`")                                                                         \
  X(kCat, "cat", "the sum at `dim`")                                                                     \
  X(kStack, "stack", "one more dimension at `dim`")                                                      \
  X(kSplit, "split", "a list of parts of `dim`")                                                         \
  X(kUnbind, "unbind", "a list without `dim`")                                                           \
  X(kRepeat, "repeat", "sizes times `repeats`")                                                          \
  X(kFlip, "flip", "those of the first tensor, other order")                                             \
  X(kPad, "pad", "grown by `pad`, from the last dimension on")                                           \
  X(kArgument, "argument", "as the argument says, one size may be -1 in a view")                         \
  X(kExpand, "expand", "as the argument says; size 1 repeats, -1 keeps")                                 \
  X(kPermute, "permute", "in another order")                                                             \
  X(kSelect, "select", "without `dim`")                                                                  \
  X(kSlice, "slice", "fewer at `dim`")                                                                   \
  X(kSqueeze, "squeeze", "without dimensions of size 1")                                                 \
  X(kUnsqueeze, "unsqueeze", "one more dimension, of size 1")                                            \
  X(kFlatten, "flatten", "a run of dimensions becomes one")                                              \
  X(kDiagonal, "diagonal", "two dimensions become one, the last")                                        \
  X(kSize, "size", "as the argument `size` says")                                                        \
  X(kRange, "range", "[ceil((end - start) / step)]")                                                     \
  X(kSteps, "steps", "[steps]")                                                                          \
  X(kEye, "eye", "[n, m]")                                                                               \
  X(kLoss, "loss", "zero-dimensional, or as the elements with reduction 0")                              \
  X(kNone, "none", "no tensor")

// How far a result may be from the true one. u is half a unit in the last place of 1 in the dtype that is computed in:
// float32 for float16 and bfloat16, whose results have half a unit of their own dtype more.
#define PLUMBLINE_OPERATOR_BOUNDS(X)                                                                               \
  X(kExact, "exact", "bit for bit the correctly rounded result")                                                   \
  X(kUlp, "ulp", "c units in the last place, or the least normal number")                                          \
  X(kTerms, "terms", "c u times the sum of the magnitudes of the terms")                                           \
  X(kMultiplyAdd, "multiply-add", "exact if the factor is 1; else u |factor * b| more than half a unit")           \
  X(kSum, "sum", "(c sqrt(n) + 4) u sum|x|")                                                                       \
  X(kMean, "mean", "that of the sum, divided by n, and one unit")                                                  \
  X(kProduct, "product", "(c sqrt(n) + 4) u |result|")                                                             \
  X(kVariance, "variance", "(2 sqrt(n) + 10) u s sqrt(s^2 + m^2) n / (n - correction), of mean m and deviation s") \
  X(kDeviation, "deviation", "that of the variance, divided by twice the result, and one unit")                    \
  X(kNorm, "norm", "(c sqrt(n) + 8) u |result|")                                                                   \
  X(kLogSumExp, "logsumexp", "(10 + sqrt(n)) u (|max| + log n + 1)")                                               \
  X(kMatmul, "matmul", "(c sqrt(k) + 4) u (|A| |B|), and u of what is added")                                      \
  X(kSoftmax, "softmax", "(10 + sqrt(n) + |x - max|) u |result|, and the least normal number")                     \
  X(kLogSoftmax, "log-softmax", "(10 + sqrt(n)) u (1 + |x - max| + |log sum|)")                                    \
  X(kNormalise, "normalise",                                                                                       \
    "(2 sqrt(n) + 16) u (((|x| + a) / s) |weight| + |bias|), a the mean of |x|, s^2 the variance and eps")         \
  X(kLoss, "loss", "(2 sqrt(n) + 4 + 2 c) u sum|term|, divided as the result is")                                  \
  X(kAbsolute, "absolute", "c u (1 + |x| + |result|)")                                                             \
  X(kSequence, "sequence", "c units of the largest of start, end and step")                                        \
  X(kRandom, "random", "a distribution; the same bits for the same seed")                                          \
  X(kUninitialised, "uninitialised", "any values; metadata only")                                                  \
  X(kNone, "none", "nothing to compare")

#define PLUMBLINE_OPERATOR_REGISTERED(X)                                                      \
  X(kBackend, "backend", "a kernel of each backend")                                          \
  X(kImplicit, "implicit", "CompositeImplicitAutograd: other operators, their gradients too") \
  X(kExplicit, "explicit", "CompositeExplicitAutograd: other operators, a gradient of its own")

#define PLUMBLINE_OPERATOR_ENUMERATOR(enumerator, spelling, words) enumerator,
enum class Family : std::uint8_t { PLUMBLINE_OPERATOR_FAMILIES(PLUMBLINE_OPERATOR_ENUMERATOR) };
enum class ResultRule : std::uint8_t { PLUMBLINE_OPERATOR_RESULTS(PLUMBLINE_OPERATOR_ENUMERATOR) };
enum class ShapeRule : std::uint8_t { PLUMBLINE_OPERATOR_SHAPES(PLUMBLINE_OPERATOR_ENUMERATOR) };
enum class BoundRule : std::uint8_t { PLUMBLINE_OPERATOR_BOUNDS(PLUMBLINE_OPERATOR_ENUMERATOR) };
enum class Registered : std::uint8_t { PLUMBLINE_OPERATOR_REGISTERED(PLUMBLINE_OPERATOR_ENUMERATOR) };
#undef PLUMBLINE_OPERATOR_ENUMERATOR

enum class Variant : std::uint8_t { kFunctional, kInPlace, kOut };

struct Bound {
  BoundRule rule;
  double c;  // the number in the rule, where it has one; else 0
};

// The gradient with respect to an argument, as a formula over operators: kernels/derivatives/formula.h reads it.
struct Derivative {
  std::string_view argument, formula;
};

struct OperatorData {
  std::string_view name;      // "aten::add.Tensor"
  std::string_view schema;    // "aten::add.Tensor(Tensor self, ...) -> Tensor", canonical, as PyTorch 1.13.1 has it
  std::string_view schema_2;  // as PyTorch 2.15 has it where it differs; else empty
  std::string_view of;        // of a variant: the operator that it is a variant of; else empty
  Variant variant;
  Family family;
  std::uint32_t dtypes;                 // bit i: it takes tensors of PyTorch's ScalarType number i
  std::span<const ResultRule> results;  // one for each result that is a tensor or a list of tensors
  ShapeRule shape;
  Bound bound;
  Registered registered;
  bool backend_select;  // no tensor brings a key: a kernel at BackendSelect chooses by the arguments
  bool deterministic;   // the same bits for the same input, whatever the number of threads
  std::span<const std::string_view> special;  // what holds of special values, in words
  std::span<const std::string_view> clauses;
  std::span<const Derivative> derivatives;  // empty: it has none of its own

  // In a release: that of 1.13 holds for all of 1.x, that of 2.15 for what came after.
  constexpr std::string_view SchemaIn(std::string_view release) const {
    return schema_2.empty() || release.starts_with("pytorch-1.") ? schema : schema_2;
  }
  constexpr bool Takes(int dtype) const { return (dtypes >> dtype & 1) != 0; }
};

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_OPERATOR_TABLE_H_
