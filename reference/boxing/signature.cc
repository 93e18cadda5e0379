#include "reference/boxing/signature.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace plumbline::reference {

std::string Signature::Name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled(), nullptr, nullptr, &status),
                                                    &std::free);
  return status == 0 ? text.get() : mangled();
}

}  // namespace plumbline::reference
