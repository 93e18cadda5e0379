#include "kernels/device_kernels.h"

#include <string>

#include "kernels/operator_info.h"
#include "kernels/ops/ops.h"
#include "kernels/shapes/factory.h"
#include "spec/tables/operators.h"

namespace plumbline::kernels {
namespace {

constexpr NamedKernel kFactories[] = {{"empty.memory_format", &EmptyOf}, {"empty_strided", &EmptyStridedOf}};

}  // namespace

std::vector<reference::Registration> RegisterDeviceKernels(reference::Registry& registry, DeviceType device,
                                                           std::span<const NamedKernel> kernels, CopyFunction copy,
                                                           std::string_view place) {
  std::vector<reference::Registration> made;
  const std::string_view key = reference::KeyName(device);
  const auto add = [&](const NamedKernel& kernel, bool composites_too) {
    bool known = false;
    for (const tables::OperatorData& op : tables::kOperators) {
      if (FunctionalName(op) != kernel.name) continue;
      known = true;
      if (!composites_too && op.registered != tables::Registered::kBackend) continue;
      made.push_back(
          registry.Impl(op.name, key, BoxedKernel(InfoOf(op, registry, copy, false), kernel.function), place));
    }
    if (!known) {
      reference::Throw(ErrorClass::kNotFound,
                       "The table of operators has no '" + std::string(kernel.name) +
                           "'; give the name of the functional operator without 'aten::', such as add.Tensor");
    }
  };
  for (const NamedKernel& kernel : ViewKernels()) add(kernel, false);
  for (const NamedKernel& kernel : kFactories) add(kernel, false);
  for (const NamedKernel& kernel : kernels) add(kernel, true);
  return made;
}

}  // namespace plumbline::kernels
