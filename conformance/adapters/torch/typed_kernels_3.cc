#define PLUMBLINE_TORCH_PART 3
#include "conformance/adapters/torch/typed_kernels.h"
