// What a level's loops are given and the names of what they compute. A level is the same sources compiled for one set
// of instructions: `base` for every x86-64 processor, `v3` for those with AVX2, FMA and F16C.
//
//   const LevelTable& level = ChosenLevel();
//   level.unary[Index(UnaryOp::kExp)][Index(Type::kF32)](data, n, parameters);
//
// A loop reads and writes n elements that lie side by side: data[0] is the output, data[1..] are the inputs; the output
// may be one of the inputs, but not overlap it otherwise. An empty place in a table: that loop is not there.
//
// This header is included by sources that are compiled for newer processors, so that it holds data only: an inline
// function of the standard library would be emitted by them, and the linker could keep that copy for everybody.
#ifndef PLUMBLINE_KERNELS_CPU_LEVEL_TYPES_H_
#define PLUMBLINE_KERNELS_CPU_LEVEL_TYPES_H_

#include <cstdint>

namespace plumbline::kernels::cpu {

// Element types. Arithmetic knows all but the two of 16-bit floats, which are computed in F32.
enum class Type : std::uint8_t { kU8, kI8, kI16, kI32, kI64, kF32, kF64, kBool, kF16, kBF16 };
inline constexpr int kComputeTypes = 8;
inline constexpr int kTypes = 10;

// Scalars of an operator: `alpha`, bounds of a clamp; what each loop takes from here it says.
struct Parameters {
  double real[3] = {0, 0, 0};
  std::int64_t integer[3] = {0, 0, 0};
};

using Loop = void (*)(void* const* data, std::int64_t n, const Parameters& parameters);

enum class UnaryOp : std::uint8_t {
  // any type
  kNeg,
  kAbs,
  kSign,
  kSquare,
  kRelu,
  kClamp,
  kLogicalNot,
  kBitwiseNot,
  kIsNan,
  kIsInf,
  kIsFinite,
  // floats
  kReciprocal,
  kSqrt,
  kRsqrt,
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
  kSigmoid,
  kLogSigmoid,
  kSilu,
  kGelu,
  kGeluTanh,
  kSoftplus,
  kElu,
  kLeakyRelu,
  kMish,
  kHardsigmoid,
  kHardswish,
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kFrac,
  kCount
};

enum class BinaryOp : std::uint8_t {
  // any type; kAdd, kSub: a + alpha b, a - alpha b; of bools: or, xor, and
  kAdd,
  kSub,
  kMul,
  kMaximum,
  kMinimum,
  // kDiv of floats only, the others of numbers
  kDiv,
  kDivTrunc,
  kDivFloor,
  kFmod,
  kRemainder,
  kPow,
  // floats
  kAtan2,
  kHypot,
  kSigmoidBackward,
  kTanhBackward,
  kThresholdBackward,
  kLerpScalar,
  // any type; the output is bool
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  // integers and bool
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kShiftLeft,
  kShiftRight,
  kCount
};

enum class TernaryOp : std::uint8_t {
  kWhere,  // bool, T, T; of every size
  kAddcmul,
  kAddcdiv,
  kLerp,
  kClampTensor,  // a + value b c; a + value b / c; a + c (b - a); a in [b, c]
  kCount
};

enum class ReduceOp : std::uint8_t { kSum, kProd, kMin, kMax, kSumSquares, kSumAbs, kMaxAbs, kCountNonZero, kCount };

// Partial results are kept in double for floats and in int64 for the rest.
union Partial {
  double real;
  std::int64_t integer;
};

struct LevelTable {
  const char* name;
  Loop unary[static_cast<int>(UnaryOp::kCount)][kComputeTypes];
  Loop binary[static_cast<int>(BinaryOp::kCount)][kComputeTypes];
  Loop ternary[static_cast<int>(TernaryOp::kCount)][kComputeTypes];
  Loop cast[kTypes][kTypes];  // [from][to]
  // Stores that pass the caches by; the output is aligned to 32 bytes, and n counts bytes, a multiple of 32.
  void (*stream)(void* to, const void* from, std::int64_t bytes);
  // A tile of `rows` by `columns` elements of 1, 2, 4 or 8 bytes, [rows][columns] in `to`, from [columns][rows] with
  // `stride` bytes between columns.
  void (*transpose[4])(void* to, std::int64_t to_stride, const void* from, std::int64_t stride, int rows, int columns);
  // One result of n elements that lie side by side. Types: F32, F64, I64.
  Partial (*reduce[static_cast<int>(ReduceOp::kCount)][kComputeTypes])(const void* data, std::int64_t n);
  // The results of `rows` rows of n elements, `stride` bytes apart.
  void (*reduce_each[static_cast<int>(ReduceOp::kCount)][kComputeTypes])(Partial* results, const void* data,
                                                                         std::int64_t rows, std::int64_t stride,
                                                                         std::int64_t n);
  // Joins each of n elements of `rows` rows, `stride` bytes apart, into acc[n] of the element type.
  void (*reduce_rows[static_cast<int>(ReduceOp::kCount)][kComputeTypes])(void* acc, const void* data, std::int64_t rows,
                                                                         std::int64_t stride, std::int64_t n);
  // Sum of (x - mean)^2, and of exp(x - shift). F32, F64.
  double (*sum_squared_distance[2])(const void* data, std::int64_t n, double mean);
  double (*sum_exp[2])(const void* data, std::int64_t n, double shift);
  // out[i] = exp(in[i] - shift), and their sum; out may be in.
  double (*exp_and_sum[2])(void* out, const void* in, std::int64_t n, double shift);
  // out[i] = in[i] * scale + offset; out may be in.
  void (*scale_shift[2])(void* out, const void* in, std::int64_t n, double scale, double offset);
  // out[i] = (in[i] - mean - more) * scale * weight[i] + bias[i]; null: one and zero.
  void (*normalize[2])(void* out, const void* in, const void* weight, const void* bias, std::int64_t n, double mean,
                       double more, double scale);
};

}  // namespace plumbline::kernels::cpu

#endif  // PLUMBLINE_KERNELS_CPU_LEVEL_TYPES_H_
