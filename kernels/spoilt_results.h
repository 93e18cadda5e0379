// What faults do to results: the values that a kernel with such a mistake would give.
//
//   if (reference::FaultActive()) SpoilResults(op, arguments, results);
//
// Called when results are made, before the arguments go; in an ordinary build never. One call, one thread.
#ifndef PLUMBLINE_KERNELS_SPOILT_RESULTS_H_
#define PLUMBLINE_KERNELS_SPOILT_RESULTS_H_

#include <span>
#include <string_view>

#include "reference/boxing/kernel.h"

namespace plumbline::kernels {

// `op` is the name of the functional operator, without "aten::" and overload: "sum".
void SpoilResults(std::string_view op, std::span<const reference::Value> arguments,
                  std::span<reference::Value> results);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_SPOILT_RESULTS_H_
