// Steps on the model and on any backend: PLUMBLINE_FUZZ_BACKEND is its name or the path of its shared object, by
// default `template`, which claims nothing, so that each input is refused.
//
//   PLUMBLINE_FUZZ_BACKEND=./libmine.so build/fuzz/fuzzers/steps_on_backend
//
// Property: as steps_differential, for what the backend claims; what takes more is no input. A backend that is compiled
// with -fsanitize=fuzzer-no-link guides the search.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "conformance/harness/backend_file.h"
#include "fuzz/input/differential.h"
#include "fuzz/input/steps_from_bytes.h"
#include "fuzz/targets/property.h"

namespace plumbline::fuzz {
namespace {

[[noreturn]] void Unusable(const std::string& why) {
  std::fprintf(stderr, "PLUMBLINE_FUZZ_BACKEND: %s\n", why.c_str());
  std::_Exit(2);
}

const Subject& LoadedSubject() {
  static const Subject subject([] {
    const char* const wanted = std::getenv("PLUMBLINE_FUZZ_BACKEND");
    const harness::OrError<std::string> path = harness::FindBackend(wanted != nullptr ? wanted : "template");
    if (!path.ok()) Unusable(path.error());
    if (const auto wrong = harness::CheckSharedObject(*path)) Unusable(*wrong);
    void* const object = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) Unusable(dlerror());
    const auto get = reinterpret_cast<pl_get_adapter_function>(dlsym(object, PL_GET_ADAPTER_SYMBOL));
    if (get == nullptr) Unusable(*path + " exports no " PL_GET_ADAPTER_SYMBOL);
    return get(PL_ABI_MAJOR, PL_ABI_MINOR);
  }());
  if (!subject.facts().problems.empty()) Unusable(subject.facts().problems.front());
  return subject;
}

}  // namespace
}  // namespace plumbline::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline::fuzz;
  const Subject& subject = LoadedSubject();
  ByteReader bytes(data, size);
  return RequireAgreement(subject, StepsFromBytes(bytes, {subject.facts().release})) ? 0 : -1;
}
