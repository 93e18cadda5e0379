#include "conformance/adapters/torch/keys.h"

#include <functional>
#include <map>

#include "spec/abi/error.h"

namespace plumbline::torch_backend {

namespace {

// By libtorch's own printer: its parser does not know every key (QuantizedHIP), and knows names that are no keys.
std::map<std::string, c10::DispatchKey, std::less<>> AllKeys() {
  std::map<std::string, c10::DispatchKey, std::less<>> keys;
  const auto add = [&](c10::DispatchKey key) { keys.emplace(c10::toString(key), key); };
  add(c10::DispatchKey::Undefined);
  for (c10::DispatchKey key : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) add(key);
  for (pl_key key = ToKey(c10::DispatchKey::StartOfAliasKeys); key <= ToKey(c10::DispatchKey::EndOfAliasKeys); ++key)
    add(FromKey(key));
  // Other names that the enumeration has.
  keys.emplace("CatchAll", c10::DispatchKey::CatchAll);
  keys.emplace("DefaultBackend", c10::DispatchKey::DefaultBackend);
  keys.emplace("Autocast", c10::DispatchKey::Autocast);
  keys.emplace("PrivateUse1_PreAutograd", c10::DispatchKey::PrivateUse1_PreAutograd);
  keys.emplace("PrivateUse2_PreAutograd", c10::DispatchKey::PrivateUse2_PreAutograd);
  keys.emplace("PrivateUse3_PreAutograd", c10::DispatchKey::PrivateUse3_PreAutograd);
  return keys;
}

}  // namespace

c10::DispatchKey ParseKey(std::string_view name) {
  static const std::map<std::string, c10::DispatchKey, std::less<>> keys = AllKeys();
  const auto found = keys.find(name);
  if (found == keys.end())
    throw abi::Error(PL_ERROR_NOT_FOUND, "libtorch has no dispatch key called '" + std::string(name) + "'");
  return found->second;
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
