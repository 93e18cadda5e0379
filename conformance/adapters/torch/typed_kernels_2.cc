#define PLUMBLINE_TORCH_PART 2
#include "conformance/adapters/torch/typed_kernels.h"
