// The plug-in with a mistake, for the test that the suites see it: neg gives the magnitude.
#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/device_kernels.h"
#include "kernels/opencl/enqueue.h"
#include "kernels/opencl/kernels.h"
#include "kernels/opencl/memory.h"
#include "reference/registry/plugin.h"

namespace plumbline::kernels::opencl {
namespace {

KernelFunction KernelNamed(std::string_view name) {
  const auto kernels = Kernels();
  return std::find_if(kernels.begin(), kernels.end(), [&](const NamedKernel& k) { return k.name == name; })->function;
}

const reference::Plugin plugin([](reference::Registry& registry) {
  std::vector<NamedKernel> kernels(Kernels().begin(), Kernels().end());
  for (NamedKernel& kernel : kernels) {
    if (kernel.name == "neg") kernel.function = KernelNamed("abs");
  }
  reference::SetAllocator(Memory::Get().device(), &Memory::Get());
  return RegisterDeviceKernels(registry, DeviceType::kPrivateUse1, kernels, &EnqueueCopy, "wrong_plugin.cc");
});

}  // namespace
}  // namespace plumbline::kernels::opencl
