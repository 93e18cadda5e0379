#include "kernels/opencl/error.h"

#include <iterator>
#include <string_view>

#include "reference/keys/error.h"

namespace plumbline::kernels::opencl {
namespace {

struct Named {
  cl_int status;
  std::string_view name;
};
#define NAMED(status) \
  { status, #status }
constexpr Named kNames[] = {
    NAMED(CL_DEVICE_NOT_FOUND),       NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE), NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES),       NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_BUILD_PROGRAM_FAILURE),  NAMED(CL_INVALID_VALUE),
    NAMED(CL_INVALID_DEVICE),         NAMED(CL_INVALID_CONTEXT),
    NAMED(CL_INVALID_COMMAND_QUEUE),  NAMED(CL_INVALID_MEM_OBJECT),
    NAMED(CL_INVALID_BUILD_OPTIONS),  NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    NAMED(CL_INVALID_KERNEL_NAME),    NAMED(CL_INVALID_KERNEL_ARGS),
    NAMED(CL_INVALID_ARG_INDEX),      NAMED(CL_INVALID_ARG_VALUE),
    NAMED(CL_INVALID_ARG_SIZE),       NAMED(CL_INVALID_WORK_GROUP_SIZE),
    NAMED(CL_INVALID_BUFFER_SIZE),    NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
};
#undef NAMED

}  // namespace

std::string StatusName(cl_int status) {
  std::string name = "status";
  for (const Named& named : kNames) {
    if (named.status == status) name = named.name;
  }
  return name + " (" + std::to_string(status) + ")";
}

void Check(cl_int status, const std::string& doing) {
  using reference::ErrorClass;
  if (status == CL_SUCCESS) return;
  const bool lacks = status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
                     status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
  reference::Throw(lacks ? ErrorClass::kOverflow : ErrorClass::kInternal,
                   "OpenCL failed " + doing + ": " + StatusName(status) +
                       (lacks ? "; the device has no memory or resources left for it" : ""));
}

}  // namespace plumbline::kernels::opencl
