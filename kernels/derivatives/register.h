// The autograd kernels of the operators that have formulas.
//
//   const std::vector<Registration> aten = RegisterKernels(registry);               // kernels/register.h
//   const std::vector<Registration> autograd = RegisterDerivatives(registry);
//
// They stand at the alias key Autograd, for every backend. The kernels stay for the life of the registry. Any thread.
#ifndef PLUMBLINE_KERNELS_DERIVATIVES_REGISTER_H_
#define PLUMBLINE_KERNELS_DERIVATIVES_REGISTER_H_

#include <vector>

#include "reference/registry/registry.h"

namespace plumbline::kernels {

[[nodiscard]] std::vector<reference::Registration> RegisterDerivatives(reference::Registry& registry);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_DERIVATIVES_REGISTER_H_
