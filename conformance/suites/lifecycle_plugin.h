// A plug-in of the host's: a library whose kernels, and what registers them, are unloaded with it.
//
//   PluginHost host{.adapter = &adapter, .registry = registry};
//   host.operator_name = "life::f"; host.value = 5;
//   stage.Symbol<PluginRegister>(library, kPluginRegister)(&host);      // defines if `define`, and registers a kernel
//   stage.Symbol<PluginRelease>(library, kPluginRelease)();
//
// What is not released by then, a destructor of the library's statics releases: when it is unloaded, or at the end of
// the process. Where the environment variable kPluginHostVariable holds the address of a PluginHost, an initialiser of
// the library registers. Host and plug-in are built together; the host is not freed before the plug-in has gone.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_PLUGIN_H_
#define PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_PLUGIN_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "spec/abi/abi.h"

namespace plumbline::suites {

struct PluginHost {
  const pl_adapter* adapter = nullptr;
  pl_registry* registry = nullptr;
  std::string operator_name{};
  std::int64_t value = 0;
  bool define = true;  // the operator too
  bool keep = false;   // at the end nothing is released
  std::atomic<bool> hold{false};
  std::atomic<int> running{0}, destroyed{0}, errors{0};  // errors: of the plug-in's own registers and releases
};

using PluginRegister = void(PluginHost* host);
using PluginRelease = void();  // kernel and definition
inline constexpr const char* kPluginRegister = "plumbline_plugin_register";
inline constexpr const char* kPluginReleaseKernel = "plumbline_plugin_release_kernel";
inline constexpr const char* kPluginRelease = "plumbline_plugin_release";
inline constexpr const char* kPluginHostVariable = "PLUMBLINE_LIFECYCLE_HOST";

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_PLUGIN_H_
