// What makes the reference's adapter one with operators.
#include "kernels/register.h"
#include "reference/adapter/backend.h"

namespace plumbline::reference::adapter {

std::vector<Registration> RegisterOperators(Registry& registry) { return kernels::RegisterKernels(registry); }

}  // namespace plumbline::reference::adapter
