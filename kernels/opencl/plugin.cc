// What the plug-in is: the device's memory and kernels, registered as it is loaded.
#include "reference/registry/plugin.h"

#include "kernels/opencl/kernels.h"
#include "kernels/opencl/memory.h"
#include "kernels/opencl/runtime.h"

namespace plumbline::kernels::opencl {
namespace {

const reference::Plugin plugin([](reference::Registry& registry) {
  RequireDevice();
  std::vector<reference::Registration> made = RegisterOpenClKernels(registry);
  reference::SetAllocator(Memory::Get().device(), &Memory::Get());
  return made;
});

}  // namespace
}  // namespace plumbline::kernels::opencl
