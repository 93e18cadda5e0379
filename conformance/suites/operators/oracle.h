// What a call of an operator should come to, computed by plain loops in long double and 128-bit integers.
//
//   if (const Oracle* oracle = OracleFor("add.Tensor")) {
//     const Expected expected = (*oracle)(call);
//     std::optional<std::string> wrong = Compare(expected, outcome);
//   }
//
// It is the suite's own code, shares nothing with a backend, and is slow on purpose: no blocking, no vectors, one
// element after the other in row-major order. Each element comes with a bound that says how far from it a right kernel
// may be; see bounds.h. A call that is to be refused comes with the class of the error. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

struct ExpectedTensor {
  std::uint32_t dtype = 0;
  Sizes sizes;
  std::vector<long double> values;  // in row-major order, before rounding to the dtype
  std::vector<long double> bounds;  // as far from it as a right result may be; 0: exact; infinite: nothing is said
  // Where an element is right as one of several: these, instead of a value. Empty: no element is.
  std::vector<std::vector<long double>> any_of{};
  std::optional<Sizes> strides{};          // where the operator says them; of sizes above 1
  std::uint32_t or_dtype = PL_DTYPE_NONE;  // which may be instead
  int same_as = -1;                        // the tensor argument that it must be, as of in-place and out= variants
  bool written = true;                     // and that it writes; else it only gives it back, or changes its sizes
  int shares_with = -1;                    // the tensor argument whose memory it must share, as of views
  bool own_memory = true;                  // if none of these: it must share with no argument
};

struct Expected {
  std::vector<std::uint32_t> errors;  // the call is to be refused: as one of these, for any of the reasons that hold
  std::string why;                    // the rule that refuses it
  std::vector<ExpectedTensor> tensors;
  std::optional<Argument> value{};          // a result that is no tensor
  std::map<int, ExpectedTensor> changed{};  // tensor arguments that it changes without returning them
  bool by_elements = false;                 // why it is refused is in elements, which a meta tensor does not have

  static Expected Refused(std::uint32_t error_class, std::string why) {
    return {{error_class}, std::move(why), {}, {}, {}};
  }
  bool refused() const { return !errors.empty(); }
};

using Oracle = std::function<Expected(const OperatorCall& call)>;

// Null where there is none; the name is without "aten::".
const Oracle* OracleFor(std::string_view name);
std::vector<std::string> OracleNames();

// What is wrong with elements, in words: of a tensor that need not be the whole result.
std::optional<std::string> CompareElements(const ExpectedTensor& expected, const HostTensor& got);

// Whether the backend has no kernel for the operator, or none for the dtype: it may lack any, also where the call has
// another fault. Not where the operator excludes the dtype, so that this error is due.
bool IsAbsent(const Expected& expected, const OperatorOutcome& outcome);

// In words, what is wrong; empty: nothing. An expected NaN asks for a NaN, an infinity for that one, and a zero for its
// sign where the bound is exact.
std::optional<std::string> Compare(const Expected& expected, const OperatorOutcome& outcome);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ORACLE_H_
