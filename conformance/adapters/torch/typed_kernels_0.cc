#define PLUMBLINE_TORCH_PART 0
#include "conformance/adapters/torch/typed_kernels.h"
