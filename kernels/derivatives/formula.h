// A formula of the operator table, read: what the gradient with respect to an argument is.
//
//   FormulaReader reader(registry, schema);
//   const Term term = reader.Read("mul.Tensor(grad, other)");       // reader.inputs(): grad and other
//   std::optional<Value> value = Evaluate(registry, term, given);   // given[i] is what inputs()[i] asks for
//
// A formula is made of
//
//   mul.Tensor(grad, other)       calls of operators, without their namespace; arguments by place, then by name. What
//   has
//                                 a default may be left out
//   unbroadcast(...)              calls of functions, which functions.h has: what no operator does alone
//   grad, grad1                   the gradient with respect to the first result, to the second
//   self, other, dim, ...         the operator's arguments, as the call had them; self of an in-place operator as it
//   was result, result1               its results self.sizes, self.strides,     what is known of a tensor without
//   keeping it self.offset, self.dtype 1, 0.5, true, none, 'floor', [0]  constants
//
// Nothing, the gradient that did not arrive, goes on: an operator of nothing is nothing. A mistake is kInvalidArgument,
// and says where in the formula. Plain values; any thread.
#ifndef PLUMBLINE_KERNELS_DERIVATIVES_FORMULA_H_
#define PLUMBLINE_KERNELS_DERIVATIVES_FORMULA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/boxing/schema.h"
#include "reference/boxing/value.h"
#include "reference/registry/registry.h"

namespace plumbline::kernels {

struct FunctionCall;
using Function = std::optional<reference::Value> (*)(const FunctionCall& call);

struct Term {
  enum class Kind : std::uint8_t { kConstant, kInput, kList, kOperator, kFunction };
  Kind kind = Kind::kConstant;
  std::uint32_t input = 0;
  reference::Value constant{};
  reference::OperatorRef op{};
  Function function = nullptr;
  std::vector<Term> arguments{};  // of an operator: all that its schema has
};

// What a formula asks for.
struct FormulaInput {
  enum class Of : std::uint8_t { kGradient, kArgument, kResult };
  enum class What : std::uint8_t { kValue, kSizes, kStrides, kOffset, kDtype };
  Of of = Of::kGradient;
  What what = What::kValue;
  std::uint32_t number = 0;

  friend bool operator==(const FormulaInput&, const FormulaInput&) = default;
};

// Reads the formulas of one operator, which share their inputs. Borrows both.
class FormulaReader {
 public:
  FormulaReader(const reference::Registry& registry, const reference::Schema& schema)
      : registry_(registry), schema_(schema) {}

  Term Read(std::string_view formula);
  const std::vector<FormulaInput>& inputs() const { return inputs_; }

 private:
  class Text;
  Term ReadTerm(Text& text);
  Term ReadCall(Text& text, std::string_view name);
  Term ReadList(Text& text);
  Term ReadInput(Text& text, std::string_view name);

  const reference::Registry& registry_;
  const reference::Schema& schema_;
  std::vector<FormulaInput> inputs_;
};

// The inputs that a term needs, as bits.
std::uint64_t InputsOf(const Term& term);

// None: nothing.
std::optional<reference::Value> Evaluate(const reference::Registry& registry, const Term& term,
                                         std::span<const std::optional<reference::Value>> given);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_DERIVATIVES_FORMULA_H_
