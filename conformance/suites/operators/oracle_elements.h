// Elements, for the oracle: a value with its bound, casts as an operator makes them, and a map over operands that
// broadcast.
//
//   Expected e = Map({&call.arguments[0]}, dtype, dtype, [](std::uint32_t compute, const Elements& x) {
//     return Within(compute, std::exp(x[0]), 2);
//   });
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "conformance/suites/operators/oracle.h"

namespace plumbline::suites {

using Wide = __int128;
using Operands = std::vector<const Argument*>;
using Elements = std::vector<long double>;

inline constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();
inline constexpr long double kInf = std::numeric_limits<long double>::infinity();
inline constexpr long double kAnything = kInf;  // as a bound: nothing is said
inline constexpr long double kEitherZero = std::numeric_limits<long double>::denorm_min();  // as one: exact, any sign

// An element with how far a right kernel may be from it.
struct Element {
  long double value = 0;
  long double bound = 0;
};

// By way of 64 bits where that is enough, which is a single instruction.
inline Wide ToWide(long double value) {
  return value > -0x1p63L && value < 0x1p63L ? static_cast<std::int64_t>(value) : static_cast<Wide>(value);
}
// The low bits of an integer, as the dtype keeps them.
long double Wrapped(std::uint32_t dtype, Wide value);

// So many units in the last place, or the least normal number.
Element Within(std::uint32_t dtype, long double value, long double ulps);

// What an operand is in the dtype that is computed in: an integer is rounded to a floating one and loses its high bits
// in a narrower one; bool asks for non-zero.
long double CastTo(std::uint32_t dtype, long double value);
// A copy's: also of floating numbers to integers, of which nothing is said where the integer has no such value.
Element Converted(std::uint32_t from, std::uint32_t to, long double value);
Element ConvertedScalar(std::uint32_t to, long double value);  // whole numbers as the integers that they are

// What a Scalar argument is.
long double NumberOf(const Argument& scalar);
// [OPER-067] Whether the dtype can hold it; a negative integer wraps in uint8.
bool Holds(std::uint32_t dtype, const Argument& scalar);
inline constexpr const char* kDoesNotFit = "the dtype cannot hold the Scalar";

std::uint32_t GivenOr(const Argument& dtype, std::uint32_t otherwise);  // what a dtype argument says, if it does
std::uint32_t FloatOr(std::uint32_t dtype);                             // float32 for what is not floating
std::uint32_t ComputedIn(std::uint32_t dtype);                          // float32 for the floating ones of 16 bits
// Half a unit in the last place of 1 in the dtype that is computed in.
long double UnitOf(std::uint32_t dtype);

using OnElements = std::function<Element(std::uint32_t compute, const Elements& operands)>;
// Applies `f` to the operands' elements, cast to the dtype that is computed in.
Expected Map(const Operands& operands, std::uint32_t compute, std::uint32_t result, const OnElements& f);

Operands FirstOf(const OperatorCall& call, std::size_t count);

Expected Refused(const char* why);                // PL_ERROR_INVALID_ARGUMENT
Expected RefusedByElements(const char* why);      // the same, for what elements say
Expected NoDtype(const char* why);                // PL_ERROR_NO_DTYPE or, since the operator excludes it, the former
Expected Only(ExpectedTensor tensor);             // one result
ExpectedTensor Copied(const HostTensor& tensor);  // the elements as they are

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_ELEMENTS_H_
