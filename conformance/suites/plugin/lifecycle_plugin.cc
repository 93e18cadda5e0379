#include "conformance/suites/lifecycle_plugin.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace plumbline::suites {
namespace {

pl_error* RunKernel(void* context, pl_frame* frame) {
  PluginHost& host = *static_cast<PluginHost*>(context);
  host.running.fetch_add(1);
  while (host.hold) usleep(100);
  pl_value value{};
  value.kind = PL_INT;
  value.as.integer = host.value;
  pl_error* const error = frame->results.push(frame->results.context, &value);
  host.running.fetch_sub(1);
  return error;
}

void DestroyKernel(void* context) { static_cast<PluginHost*>(context)->destroyed.fetch_add(1); }

class Held {
 public:
  ~Held() {
    if (host_ != nullptr && !host_->keep) Release();
  }

  void Register(PluginHost* host) {
    host_ = host;
    const std::string schema = host->operator_name + "(Tensor a, Tensor b) -> int";
    static constexpr char kPlace[] = "plug-in:1";
    const pl_string place{kPlace, sizeof(kPlace) - 1}, name{host->operator_name.data(), host->operator_name.size()};
    if (host->define) {
      Take(host->adapter->define(host->registry, nullptr, {schema.data(), schema.size()}, place, &definition_));
    }
    pl_key key = PL_NO_KEY;
    Take(host->adapter->intern_key(host->registry, {"CPU", 3}, &key));
    pl_kernel kernel{};
    kernel.struct_size = sizeof(kernel);
    kernel.form = PL_KERNEL_BOXED;
    kernel.function = &RunKernel;
    kernel.context = host;
    kernel.destroy = &DestroyKernel;
    kernel.place = place;
    Take(host->adapter->register_kernel(host->registry, nullptr, name, key, &kernel, &kernel_));
  }

  void ReleaseKernel() {
    if (kernel_ != nullptr) Take(host_->adapter->release(std::exchange(kernel_, nullptr)));
  }

  void Release() {
    ReleaseKernel();
    if (definition_ != nullptr) Take(host_->adapter->release(std::exchange(definition_, nullptr)));
  }

 private:
  void Take(pl_error* error) {
    if (error == nullptr) return;
    host_->errors.fetch_add(1);
    error->release(error);
  }

  PluginHost* host_ = nullptr;
  pl_registration *definition_ = nullptr, *kernel_ = nullptr;
};

Held held;

[[maybe_unused]] const bool registered = [] {
  const char* const host = std::getenv(kPluginHostVariable);
  if (host == nullptr) return false;
  held.Register(reinterpret_cast<PluginHost*>(std::strtoull(host, nullptr, 16)));
  return true;
}();

}  // namespace
}  // namespace plumbline::suites

extern "C" {
__attribute__((visibility("default"))) void plumbline_plugin_register(plumbline::suites::PluginHost* host) {
  plumbline::suites::held.Register(host);
}
__attribute__((visibility("default"))) void plumbline_plugin_release_kernel() {
  plumbline::suites::held.ReleaseKernel();
}
__attribute__((visibility("default"))) void plumbline_plugin_release() { plumbline::suites::held.Release(); }
}
