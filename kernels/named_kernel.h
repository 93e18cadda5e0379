// A kernel under the name of its functional operator.
//
//   constexpr NamedKernel kKernels[] = {{"neg", &Neg}, {"alias", &Alias, Where::kAnywhere}};
//
// Constant data; any thread.
#ifndef PLUMBLINE_KERNELS_NAMED_KERNEL_H_
#define PLUMBLINE_KERNELS_NAMED_KERNEL_H_

#include <cstdint>
#include <string_view>

#include "kernels/call.h"

namespace plumbline::kernels {

enum class Where : std::uint8_t {
  kCpuAndMeta,  // it computes in memory of the CPU
  kAnywhere,    // it looks at sizes alone, or calls other operators
};

struct NamedKernel {
  std::string_view name;  // without the namespace
  KernelFunction function;
  Where where = Where::kCpuAndMeta;
};

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_NAMED_KERNEL_H_
