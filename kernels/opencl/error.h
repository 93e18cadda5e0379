// What OpenCL's status codes mean to a caller of an operator.
//
//   Check(clFinish(queue), "to wait for the queue");
//   const cl_mem buffer = clCreateBuffer(..., &status);   Check(status, "to make a buffer");
//
// Memory or resources that are not there are kOverflow, as on other devices; all else is kInternal. Any thread.
#ifndef PLUMBLINE_KERNELS_OPENCL_ERROR_H_
#define PLUMBLINE_KERNELS_OPENCL_ERROR_H_

#include <string>

#include "kernels/opencl/api.h"

namespace plumbline::kernels::opencl {

std::string StatusName(cl_int status);  // "CL_INVALID_VALUE (-30)"

void Check(cl_int status, const std::string& doing);

}  // namespace plumbline::kernels::opencl

#endif  // PLUMBLINE_KERNELS_OPENCL_ERROR_H_
