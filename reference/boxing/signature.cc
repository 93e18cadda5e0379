#include "reference/boxing/signature.h"

#include <cxxabi.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "reference/keys/fork_mutex.h"

namespace plumbline::reference {
namespace {

struct Schemas {
  ForkMutex mutex{ForkRank::kTables};
  std::map<std::string, Schema, std::less<>> all;
};
Schemas& schemas = *new Schemas;  // made as the library is loaded: it is used under other locks

}  // namespace

const Schema& internal::SharedSchema(const char* mangled, Schema schema) {
  const std::lock_guard lock(schemas.mutex);
  return schemas.all.try_emplace(mangled, std::move(schema)).first->second;
}

std::string Signature::Name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled(), nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 ? text.get() : mangled();
}

}  // namespace plumbline::reference
