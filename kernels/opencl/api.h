// OpenCL's own header, for the version that every implementation of the last ten years has.
#ifndef PLUMBLINE_KERNELS_OPENCL_API_H_
#define PLUMBLINE_KERNELS_OPENCL_API_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#endif  // PLUMBLINE_KERNELS_OPENCL_API_H_
