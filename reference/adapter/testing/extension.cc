// A user's library: it registers in the process-wide registry as it is loaded. For tests of --load.
#include <vector>

#include "reference/registry/registry.h"

namespace plumbline::reference {
namespace {

Tensor First(const Tensor& a, const Tensor&) { return a; }
Tensor Other(const Tensor&, const Tensor& b) { return b; }

// Lives as long as the library. Its own class, so that registrations are made in this order.
struct Extension {
  std::vector<Registration> registrations;
  Extension() {
    Registry& registry = Registry::Default();
    registrations.push_back(registry.Define("mine::pick(Tensor a, Tensor b) -> Tensor", "mine.cc:1"));
    registrations.push_back(registry.Impl("mine::pick", "CPU", Kernel::FromFunction<&First>(), "mine.cc:2"));
    registrations.push_back(registry.Impl("mine::pick", "CPU", Kernel::FromFunction<&Other>(), "mine.cc:3"));
    registrations.push_back(registry.Impl("mine::pick", "Autograd", Kernel::Fallthrough(), "mine.cc:4"));
    registrations.push_back(registry.Impl("mine::pick", "PrivateUse1", Kernel::FromFunction<&First>(), "mine.cc:5"));
    registrations.push_back(registry.Impl("mine::undefined", "CPU", Kernel::FromFunction<&First>(), "mine.cc:6"));
  }
} extension;

}  // namespace
}  // namespace plumbline::reference
