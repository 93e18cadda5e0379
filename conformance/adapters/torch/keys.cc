#include "conformance/adapters/torch/keys.h"

#include <c10/util/Exception.h>

#include "spec/abi/error.h"

namespace plumbline::torch_backend {

c10::DispatchKey ParseKey(std::string_view name) {
  // Enumerators of libtorch that its parser does not know.
  if (name == "CatchAll") return c10::DispatchKey::CatchAll;
  if (name == "DefaultBackend") return c10::DispatchKey::DefaultBackend;
  c10::DispatchKey key = c10::DispatchKey::Undefined;
  try {
    key = c10::parseDispatchKey(std::string(name));
  } catch (const c10::Error& error) {
    throw abi::Error(PL_ERROR_NOT_FOUND, error.what_without_backtrace());
  }
  if (c10::isPerBackendFunctionalityKey(key))
    throw abi::Error(PL_ERROR_NOT_FOUND, std::string(name) + " is a building block of keys, not a key: name the key "
                                             "of one backend");
  return key;
}

c10::DispatchKey FromKey(pl_key key) {
  if (key > static_cast<pl_key>(c10::DispatchKey::EndOfAliasKeys))
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "there is no key number " + std::to_string(key));
  return static_cast<c10::DispatchKey>(key);
}

pl_key ToKey(c10::DispatchKey key) { return static_cast<pl_key>(key); }

c10::DispatchKeySet ToSet(std::span<const pl_key> keys) {
  c10::DispatchKeySet set;
  for (pl_key key : keys) set = set | c10::DispatchKeySet(FromKey(key));
  return set;
}

std::vector<pl_key> FromSet(c10::DispatchKeySet set) {
  std::vector<pl_key> keys;
  for (c10::DispatchKey key : set) keys.push_back(ToKey(key));
  return keys;
}

}  // namespace plumbline::torch_backend
