// What formulas of gradients call beside operators: the parts of a gradient that no one operator is, made of operators,
// so that they have gradients in their turn.
//
//   const NamedFunction* sum_backward = FindFunction("sum_backward");  // null: there is none of that name
//   std::optional<Value> gradient = sum_backward->function({registry, arguments});
//
// An argument that is nothing, a gradient that did not arrive, makes nothing, but where a function says otherwise. Any
// thread.
#ifndef PLUMBLINE_KERNELS_DERIVATIVES_FUNCTIONS_H_
#define PLUMBLINE_KERNELS_DERIVATIVES_FUNCTIONS_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/derivatives/formula.h"

namespace plumbline::kernels {

struct FunctionCall {
  const reference::Registry& registry;
  std::span<const std::optional<reference::Value>> arguments;
};

struct NamedFunction {
  std::string_view name;
  std::size_t arguments;
  Function function;
};
const NamedFunction* FindFunction(std::string_view name);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_DERIVATIVES_FUNCTIONS_H_
