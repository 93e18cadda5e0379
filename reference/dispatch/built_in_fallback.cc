#include "reference/registry/built_in_fallback.h"

#include <string>

#include "reference/dispatch/prepare.h"
#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/registry/operator_entry.h"

namespace plumbline::reference {

void BuiltInFallback(BoxedCall& call) {
  const KeyTable& keys = call.op.keys();
  if (keys.Fills(AliasRole::kAutograd, static_cast<int>(call.kernel.key))) {
    const Key lowest = PLUMBLINE_FAULT(built_in_keeps_to_autograd) ? call.kernel.key : keys.Get("AutogradOther");
    const KeySet below = call.keys & keys.Below(lowest);  // [RES-057]
    return RedispatchBoxed(call.op, below, call.stack, std::nullopt);
  }
  Throw(ErrorClass::kUnsupported, "The built-in fallback at " + keys.Name(call.kernel.key) +
                                      ", which the release brings, was called for " + call.op.name() +
                                      ": it does nothing here. Register a kernel for the operator at that key");
}

}  // namespace plumbline::reference
