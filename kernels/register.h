// The operators of spec/tables/operators with their kernels.
//
//   Registry registry(KeyTable::ForRelease("pytorch-1.13"));
//   const std::vector<Registration> aten = RegisterKernels(registry);
//   Operator::Find(registry, "aten::add.Tensor").CallBoxed(stack);
//
// Backend kernels go to CPU and Meta, composites to their alias keys, and what no tensor brings a key to has a kernel
// at BackendSelect that goes on by the argument `device`. Definitions end with the registrations that are given back;
// kernels stay for the life of the registry. Any thread.
#ifndef PLUMBLINE_KERNELS_REGISTER_H_
#define PLUMBLINE_KERNELS_REGISTER_H_

#include <string>
#include <vector>

#include "reference/registry/registry.h"

namespace plumbline::kernels {

[[nodiscard]] std::vector<reference::Registration> RegisterKernels(reference::Registry& registry);

// Operators of the table that have no kernel here; empty once all have one.
std::vector<std::string> OperatorsWithoutKernel();

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_REGISTER_H_
