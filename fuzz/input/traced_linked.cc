#include "fuzz/input/linked_backend.h"
#include "fuzz/input/traced_backend.h"

const pl_adapter& plumbline::fuzz::TracedBackend() { return LinkedBackend(); }
