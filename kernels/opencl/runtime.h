// The OpenCL device that this process uses: its context, its queue, and the programs built for it.
//
//   RequireDevice();                                             // as the plug-in is loaded: throws if there is none
//   Runtime& runtime = Runtime::Get();                           // from the first tensor on
//   runtime.Run({"elementwise", "-DCOMPUTE_FLOAT", "unary"}, layout, {out, a});
//   runtime.Wait();
//
// Run enqueues and returns; the queue runs one command after the other, so whoever waits for a copy has waited for all
// that was enqueued before. PLUMBLINE_OPENCL_DEVICE, a number from 0 on, chooses among the devices of all platforms;
// without it the first one is taken. A program is built when it is first needed and kept; one that does not build is
// kInternal with the compiler's log. Any thread; after the first use not across a fork, for drivers have threads.
#ifndef PLUMBLINE_KERNELS_OPENCL_RUNTIME_H_
#define PLUMBLINE_KERNELS_OPENCL_RUNTIME_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "kernels/opencl/api.h"
#include "kernels/opencl/programs/layout.h"

namespace plumbline::kernels::opencl {

// Throws, saying what to install or set, where no device can be had. Drivers start threads when they are asked for
// their devices, so without a choice of device it is only seen to that there is a driver.
void RequireDevice();

struct ProgramKernel {
  std::string_view program;  // of kernels/opencl/programs
  std::string options;
  std::string_view kernel;

  friend auto operator<=>(const ProgramKernel&, const ProgramKernel&) = default;
};

class Runtime {
 public:
  // Made when first asked for; never destroyed, for tensors may outlive everything else.
  static Runtime& Get();

  // Enqueues one work item for each element of the result. Buffers follow the layout in the kernel's arguments.
  void Run(const ProgramKernel& kernel, const Layout& layout, std::span<const cl_mem> buffers);
  void Write(cl_mem to, std::size_t offset, const void* from, std::size_t bytes);  // returns when `from` was read
  void Read(void* to, cl_mem from, std::size_t offset, std::size_t bytes);         // returns when it is there
  void Wait();

  // The log is in the error.
  cl_program Build(const std::string& name, const std::string& source, const std::string& options);

  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  const std::string& name() const { return name_; }  // of the device, as its driver spells it

 private:
  Runtime();
  cl_kernel KernelOf(const ProgramKernel& wanted);

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::string name_, options_;
  std::mutex mutex_;  // arguments belong to a kernel from when they are set until it is enqueued
  std::map<std::pair<std::string_view, std::string>, cl_program> programs_;
  std::map<ProgramKernel, cl_kernel> kernels_;
};

}  // namespace plumbline::kernels::opencl

#endif  // PLUMBLINE_KERNELS_OPENCL_RUNTIME_H_
