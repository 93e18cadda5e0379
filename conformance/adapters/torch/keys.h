// Dispatch keys by name, and key sets as lists of keys.
//
//   c10::DispatchKey key = ParseKey("AutogradCPU");          // throws abi::Error NOT_FOUND
//   c10::DispatchKeySet set = ToSet(keys);                    // alias keys and Undefined add nothing, as in libtorch
//
// A pl_key is the number that libtorch gives the key in this build. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KEYS_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KEYS_H_

#include <c10/core/DispatchKeySet.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/abi.h"

namespace plumbline::torch_backend {

// Runtime and alias keys, and the synonyms that libtorch's own enumeration has. A mere building block (Dense,
// AutogradFunctionality) is not a key.
c10::DispatchKey ParseKey(std::string_view name);

c10::DispatchKey FromKey(pl_key key);
pl_key ToKey(c10::DispatchKey key);

c10::DispatchKeySet ToSet(std::span<const pl_key> keys);
std::vector<pl_key> FromSet(c10::DispatchKeySet set);  // lowest priority first

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KEYS_H_
