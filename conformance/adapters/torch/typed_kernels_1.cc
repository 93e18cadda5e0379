#define PLUMBLINE_TORCH_PART 1
#include "conformance/adapters/torch/typed_kernels.h"
