// The C table of the torch backend.
#include "spec/abi/adapter.h"

#include "conformance/adapters/torch/backend.h"

PLUMBLINE_ADAPTER(plumbline::torch_backend::Backend);
