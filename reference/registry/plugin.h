// How a library registers as it is loaded, so that whoever loads it is told what went wrong.
//
//   const Plugin plugin([](Registry& registry) {                       // at namespace scope of the library
//     std::vector<Registration> made;
//     made.push_back(registry.Impl("aten::neg", "PrivateUse1", Kernel::FromFunction<&Neg>(), "mine.cc"));
//     return made;
//   });
//
//   if (dlopen(path, RTLD_NOW) == nullptr) ...                         // who loads it
//   if (const std::string why = TakeLoadFailure(); !why.empty()) ...
//
// An exception that leaves a static object's constructor ends the process; one that leaves this function is kept for
// the thread that loads, and nothing stays registered. What was registered goes with the library.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_PLUGIN_H_
#define PLUMBLINE_REFERENCE_REGISTRY_PLUGIN_H_

#include <functional>
#include <string>
#include <vector>

#include "reference/registry/registry.h"

namespace plumbline::reference {

class Plugin {
 public:
  // Calls it with Registry::Default().
  explicit Plugin(const std::function<std::vector<Registration>(Registry& registry)>& register_all);
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

 private:
  std::vector<Registration> registrations_;
};

// What the last Plugin that this thread made could not do; empty if it could. Asking forgets it.
std::string TakeLoadFailure();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_PLUGIN_H_
