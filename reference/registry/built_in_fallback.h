// The boxed fallbacks that a release brings, as far as they matter to a dispatcher.
//
// The registry fills slots with them; what they do needs calls, so the definition is in dispatch/built_in_fallback.cc.
// Any thread.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_BUILT_IN_FALLBACK_H_
#define PLUMBLINE_REFERENCE_REGISTRY_BUILT_IN_FALLBACK_H_

#include "reference/boxing/kernel.h"

namespace plumbline::reference {

// At an autograd key: passes the call on below all autograd keys. At another key there is a mode of the framework's own
// behind it, which does not exist here: kUnsupported; so it is where a chain leads from another key to an autograd one.
void BuiltInFallback(BoxedCall& call);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_BUILT_IN_FALLBACK_H_
