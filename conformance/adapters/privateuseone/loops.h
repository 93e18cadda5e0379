// The loop of every kernel of this device that goes element by element.
//
//   at::TensorIterator iter = at::TensorIterator::borrowing_binary_op(out, a, b);    // shapes, dtypes, overlap, memory
//   AT_DISPATCH_ALL_TYPES(iter.common_dtype(), "mul", [&] {
//     Elementwise<scalar_t, scalar_t, scalar_t>(iter, [](scalar_t x, scalar_t y) { return x * y; });
//   });
//
// PyTorch's TensorIterator does what is the same for every device. On another device than the CPU it leaves the
// operands in their own dtypes, so the loop converts each element; and an operand may be a scalar of the CPU.
// One thread: a device of one's own would start its kernel here.
#ifndef FENCED_LOOPS_H_
#define FENCED_LOOPS_H_

#include <ATen/OpMathType.h>
#include <ATen/native/TensorIterator.h>
#include <c10/core/DynamicCast.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "memory.h"

namespace fenced {

// In which arithmetic is done: half precision as float, and integers where they wrap around as they are to.
template <class T>
using Arithmetic = std::conditional_t<std::is_integral_v<T>, std::uint64_t, at::opmath_type<T>>;

// Where operand `number` is for the host.
inline char* OperandAddress(const at::TensorIteratorBase& iter, int number, char* data) {
  return iter.device_type(number) == kType ? HostAddress(data) : data;
}

template <class Result, class... Inputs, class Function, std::size_t... Index>
void ElementwiseAt(at::TensorIteratorBase& iter, const Function& function, std::index_sequence<Index...>) {
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t count) {
        char* out = OperandAddress(iter, 0, data[0]);
        [[maybe_unused]] const std::array<char*, sizeof...(Inputs)> in{
            OperandAddress(iter, static_cast<int>(Index) + 1, data[Index + 1])...};
        for (int64_t i = 0; i < count; ++i) {
          const Result result = function(c10::fetch_and_cast<Inputs>(iter.dtype(static_cast<int>(Index) + 1),
                                                                     in[Index] + i * strides[Index + 1])...);
          c10::cast_and_store<Result>(iter.dtype(0), out + i * strides[0], result);
        }
      },
      {0, iter.numel()});
}

// The one output of `iter` becomes function(inputs...), each first converted to its type of Inputs.
template <class Result, class... Inputs, class Function>
void Elementwise(at::TensorIteratorBase& iter, const Function& function) {
  ElementwiseAt<Result, Inputs...>(iter, function, std::index_sequence_for<Inputs...>());
}

}  // namespace fenced

#endif  // FENCED_LOOPS_H_
