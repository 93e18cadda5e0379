// A plug-in whose globals hold what it registers in the process-wide registry. For tests of teardown; built several
// times.
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reference/dispatch/operator.h"

namespace plumbline::reference {
namespace {

std::int64_t Answer(const Tensor&) { return PLUMBLINE_PLUGIN_ANSWER; }

struct Globals {
  std::vector<Registration> registrations;
  std::optional<Library> library;
  std::optional<Operator> found;

  Globals() {
    Registry& registry = Registry::Default();
    library.emplace(registry, LibraryKind::kFragment, "plugin");
    library->Impl("f", "CPU", Kernel::From([](const Tensor& a) { return Answer(a); }));
    registrations.push_back(registry.Define(PLUMBLINE_PLUGIN_OWN "(Tensor a) -> int"));
    registrations.push_back(registry.Impl(PLUMBLINE_PLUGIN_OWN, "CPU", Kernel::FromFunction<&Answer>()));
    found = Operator::Find(registry, PLUMBLINE_PLUGIN_OWN);
  }
} globals;

}  // namespace
}  // namespace plumbline::reference

extern "C" {
// A typed call from here of the operator that the host defined.
__attribute__((visibility("default"))) std::int64_t plumbline_plugin_call(plumbline::reference::KeySet keys) {
  using namespace plumbline::reference;
  return Operator::Find(Registry::Default(), "plugin::f").typed<std::int64_t(const Tensor&)>().call(Tensor::Make(keys));
}
// The globals move into something that nobody frees.
__attribute__((visibility("default"))) void plumbline_plugin_leak() {
  using namespace plumbline::reference;
  static std::vector<Globals*>& leaked = *new std::vector<Globals*>;
  leaked.push_back(new Globals(std::move(globals)));
}
}
