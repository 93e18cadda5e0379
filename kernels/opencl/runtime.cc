#include "kernels/opencl/runtime.h"

#include <charconv>
#include <cstdlib>
#include <utility>
#include <vector>

#include "kernels/opencl/error.h"
#include "kernels/opencl/programs.h"
#include "reference/keys/error.h"

namespace plumbline::kernels::opencl {
namespace {

using reference::ErrorClass;
using reference::Throw;

constexpr const char* kWhichDevice = "PLUMBLINE_OPENCL_DEVICE";
constexpr std::size_t kGroup = 64;

std::vector<cl_platform_id> Platforms() {
  cl_uint count = 0;
  // Loaders have a status of their own for none, which is not in the base header.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) count = 0;
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) Check(clGetPlatformIDs(count, platforms.data(), nullptr), "to list platforms");
  if (count == 0) {
    Throw(ErrorClass::kUnsupported,
          "there is no OpenCL platform on this machine: install a driver, such as Debian's pocl-opencl-icd, which "
          "computes on the CPU, and see that its .icd file is under /etc/OpenCL/vendors or where OCL_ICD_VENDORS says");
  }
  return platforms;
}

std::size_t WantedDevice() {
  const char* const text = std::getenv(kWhichDevice);
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view given(text);
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error != std::errc() || end != given.data() + given.size()) {
    Throw(ErrorClass::kInvalidArgument, std::string(kWhichDevice) +
                                            ": expected the number of a device, from 0 on, but got '" +
                                            std::string(given) + "'");
  }
  return number;
}

std::string DeviceText(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  Check(clGetDeviceInfo(device, what, 0, nullptr, &bytes), "to ask a device what it is");
  std::string text(bytes, '\0');
  Check(clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "to ask a device what it is");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

template <class T>
T DeviceNumber(cl_device_id device, cl_device_info what) {
  T value{};
  Check(clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "to ask a device what it can");
  return value;
}

cl_device_id ChosenDevice() {
  const std::size_t wanted = WantedDevice();
  std::vector<cl_device_id> all;
  for (const cl_platform_id platform : Platforms()) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0) continue;
    std::vector<cl_device_id> devices(count);
    Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "to list devices");
    all.insert(all.end(), devices.begin(), devices.end());
  }
  if (wanted >= all.size()) {
    Throw(ErrorClass::kInternal,
          all.empty() ? "the OpenCL platforms of this machine have no device; install a driver, such "
                        "as Debian's pocl-opencl-icd, which computes on the CPU"
                      : std::string(kWhichDevice) + ": there is no OpenCL device " + std::to_string(wanted) +
                            "; they go from 0 to " + std::to_string(all.size() - 1));
  }
  return all[wanted];
}

}  // namespace

void RequireDevice() {
  if (WantedDevice() == 0) {
    Platforms();
  } else {
    ChosenDevice();
  }
}

Runtime& Runtime::Get() {
  static Runtime* const made = new Runtime;
  return *made;
}

Runtime::Runtime() : device_(ChosenDevice()), name_(DeviceText(device_, CL_DEVICE_NAME)) {
  cl_int status = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
  Check(status, "to make a context on " + name_);
  queue_ = clCreateCommandQueue(context_, device_, 0, &status);
  Check(status, "to make a queue on " + name_);
  // [OPER-050] A quotient and a root are rounded correctly; [OPER-061] and what is small stays.
  const auto floats = DeviceNumber<cl_device_fp_config>(device_, CL_DEVICE_SINGLE_FP_CONFIG);
  options_ = "-cl-std=CL1.2";
  if ((floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0) options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
}

cl_program Runtime::Build(const std::string& name, const std::string& source, const std::string& options) {
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int status = CL_SUCCESS;
  const cl_program program = clCreateProgramWithSource(context_, 1, &text, &length, &status);
  Check(status, "to take the program '" + name + "'");
  const std::string all_options = options_ + " " + options;
  status = clBuildProgram(program, 1, &device_, all_options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return program;
  std::size_t bytes = 0;
  clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  clReleaseProgram(program);
  Throw(ErrorClass::kInternal, "The OpenCL program '" + name + "' does not build on " + name_ + " with '" +
                                   all_options + "': " + StatusName(status) + "\n" +
                                   (log.empty() ? "The driver gave no log." : log));
}

cl_kernel Runtime::KernelOf(const ProgramKernel& wanted) {
  const auto found = kernels_.find(wanted);
  if (found != kernels_.end()) return found->second;
  cl_program& program = programs_[{wanted.program, wanted.options}];
  if (program == nullptr) {
    for (const ProgramText& text : kPrograms) {
      if (text.name == wanted.program)
        program = Build(std::string(text.name), std::string(text.source), wanted.options);
    }
    if (program == nullptr)
      Throw(ErrorClass::kInternal, "There is no OpenCL program '" + std::string(wanted.program) + "'");
  }
  cl_int status = CL_SUCCESS;
  const cl_kernel kernel = clCreateKernel(program, std::string(wanted.kernel).c_str(), &status);
  Check(status, "to find the kernel '" + std::string(wanted.kernel) + "' of '" + std::string(wanted.program) + "'");
  return kernels_.emplace(wanted, kernel).first->second;
}

void Runtime::Run(const ProgramKernel& wanted, const Layout& layout, std::span<const cl_mem> buffers) {
  if (layout.count == 0) return;
  const std::string doing = "to run '" + std::string(wanted.kernel) + "' of '" + std::string(wanted.program) + "'";
  const std::lock_guard lock(mutex_);
  const cl_kernel kernel = KernelOf(wanted);
  Check(clSetKernelArg(kernel, 0, sizeof layout, &layout), doing);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    Check(clSetKernelArg(kernel, static_cast<cl_uint>(i + 1), sizeof buffers[i], &buffers[i]), doing);
  }
  const std::size_t items = (static_cast<std::size_t>(layout.count) + kGroup - 1) / kGroup * kGroup;
  Check(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items, &kGroup, 0, nullptr, nullptr), doing);
  Check(clFlush(queue_), doing);
}

void Runtime::Write(cl_mem to, std::size_t offset, const void* from, std::size_t bytes) {
  Check(clEnqueueWriteBuffer(queue_, to, CL_TRUE, offset, bytes, from, 0, nullptr, nullptr), "to copy to the device");
}

void Runtime::Read(void* to, cl_mem from, std::size_t offset, std::size_t bytes) {
  Check(clEnqueueReadBuffer(queue_, from, CL_TRUE, offset, bytes, to, 0, nullptr, nullptr), "to copy to the host");
}

void Runtime::Wait() { Check(clFinish(queue_), "to wait for the queue"); }

}  // namespace plumbline::kernels::opencl
