// Steps on the model and on the reference.
//
// Property: whatever is registered, released, called and asked, in whatever order, both give every step the same
// outcome, and every kernel's context is destroyed once.
#include "fuzz/input/differential.h"
#include "fuzz/input/linked_backend.h"
#include "fuzz/input/steps_from_bytes.h"
#include "fuzz/targets/property.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline::fuzz;
  static const Subject subject(&LinkedBackend());
  ByteReader bytes(data, size);
  RequireAgreement(subject, StepsFromBytes(bytes, {"pytorch-1.13", "pytorch-2.x"}));
  return 0;
}
