// Values on libtorch's stack, and tensors of an exact key set.
//
//   torch::jit::Stack stack = ToStack(arguments, schema.arguments());
//   std::vector<Value> results = FromStack(stack);
//
// A list becomes a list of the element type that the schema names at its position; where the value does not fit that
// type, or there is no schema, the list takes the type of its elements, so that libtorch sees and refuses what the
// host really gave. A device crosses as a string; ScalarType, MemoryFormat and Layout are ints in libtorch too. Pure;
// any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BOXED_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BOXED_H_

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/DispatchKeySet.h>

#include <span>
#include <vector>

#include "conformance/adapters/torch/types.h"

namespace plumbline::torch_backend {

// Positions beyond `positions` are converted without a type.
torch::jit::Stack ToStack(std::span<const Value> values, const std::vector<c10::Argument>& positions);
std::vector<Value> FromStack(std::span<const c10::IValue> values);

// A tensor without storage whose key set is this very set: libtorch's constructor would add keys of its own.
at::Tensor MakeTensor(c10::DispatchKeySet keys);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BOXED_H_
