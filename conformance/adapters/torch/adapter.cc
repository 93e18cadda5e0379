// The C table of the torch backend.
#include "conformance/adapters/torch/backend.h"
#include "spec/abi/adapter.h"

PLUMBLINE_ADAPTER(plumbline::torch_backend::Backend);
