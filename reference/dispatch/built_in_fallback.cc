#include "reference/registry/built_in_fallback.h"

#include <string>

#include "reference/dispatch/prepare.h"
#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/registry/operator_entry.h"

namespace plumbline::reference {

void BuiltInFallback(BoxedCall& call) {
  const KeyTable& keys = call.op.keys();
  const auto is_autograd = [&](Key key) { return keys.Fills(AliasRole::kAutograd, static_cast<int>(key)); };
  // Reached by a chain from a key below autograd, it would cut nothing off and come here again for ever.
  if (is_autograd(call.kernel.key) && is_autograd(keys.Highest(call.keys))) {
    const Key lowest = PLUMBLINE_FAULT(built_in_keeps_to_autograd) ? call.kernel.key : keys.Get("AutogradOther");
    const KeySet below = call.keys & keys.Below(lowest);  // [RES-057]
    return RedispatchBoxed(call.op, below, call.stack, std::nullopt);
  }
  Throw(ErrorClass::kUnsupported, "The built-in fallback at " + keys.Name(call.kernel.key) +
                                      ", which the release brings, was called for " + call.op.name() +
                                      ": it does nothing here. Register a kernel for the operator at that key");
}

}  // namespace plumbline::reference
