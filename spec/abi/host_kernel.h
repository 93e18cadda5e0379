// Functions that the host registers, as owning C++ objects.
//
//   std::vector<Value<Tensor>> results = Invoke<MyBackend>(kernel.host, {.backend = *this, .operator_name = "demo::f",
//                                                          .keys = keys, .arguments = arguments, .frame = &frame});
//
// A HostKernel is a counted handle to function and context: copy it wherever a call can reach the kernel from; the
// host's `destroy` runs once, when the last copy goes, on whichever thread that is. Threads: any.
#ifndef PLUMBLINE_SPEC_ABI_HOST_KERNEL_H_
#define PLUMBLINE_SPEC_ABI_HOST_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/value.h"

namespace plumbline::abi {

class HostKernel {
 public:
  HostKernel() = default;
  // Takes the context over; it is destroyed even if this throws.
  explicit HostKernel(const pl_kernel& kernel) {
    auto destroy = [release = kernel.destroy](void* context) {
      if (release != nullptr) release(context);
    };
    context_ = std::shared_ptr<void>(kernel.context, destroy);
    function_ = kernel.function;
  }

  explicit operator bool() const { return function_ != nullptr; }
  pl_error* operator()(pl_frame* frame) const { return function_(context_.get(), frame); }

 private:
  pl_kernel_function function_ = nullptr;
  std::shared_ptr<void> context_;
};

// What is registered: a host kernel and what the host says about it.
struct Kernel {
  HostKernel host;              // empty for the forms without a function
  std::uint32_t form = 0;       // PL_KERNEL_*
  std::uint32_t signature = 0;  // PL_SIGNATURE_* where the form is typed
  bool permanent = false;
  std::string place;
};

// The author's type for what a kernel needs to redispatch; nothing if the backend cannot.
struct NoFrame {};
template <class Backend>
struct FrameOf {
  using Type = NoFrame;
};
template <class Backend>
requires requires { typename Backend::Frame; }
struct FrameOf<Backend> {
  using Type = typename Backend::Frame;
};

// What a backend tells a host kernel that it calls.
template <class Backend>
struct Invocation {
  Backend& backend;
  std::string_view operator_name;
  std::span<const pl_key> keys;  // received, lowest priority first
  std::span<const Value<typename Backend::Tensor>> arguments;
  typename FrameOf<Backend>::Type* frame = nullptr;  // what Redispatch gets back
};

// What pl_frame.backend points to.
template <class Backend>
struct FrameLink {
  Backend* backend;
  typename FrameOf<Backend>::Type* frame;
};

// Calls the host's kernel; throws HostError if it fails, and Error if there is none: a kernel without a function, such
// as a fallthrough, is for the backend to pass over.
template <class Backend>
std::vector<Value<typename Backend::Tensor>> Invoke(const HostKernel& kernel, const Invocation<Backend>& invocation) {
  using Tensor = typename Backend::Tensor;
  if (!kernel) {
    throw Error(PL_ERROR_INTERNAL, "the backend called a kernel that has no function, such as a fallthrough, for " +
                                       std::string(invocation.operator_name));
  }
  struct Collected {
    std::vector<Value<Tensor>> results;
    static pl_error* Push(void* context, const pl_value* value) {
      return Catch<Backend>([&] { static_cast<Collected*>(context)->results.push_back(FromC<Tensor>(*value)); });
    }
  } collected;
  const CValues<Tensor> arguments(invocation.arguments);
  FrameLink<Backend> link{&invocation.backend, invocation.frame};
  pl_frame frame{};
  frame.struct_size = sizeof frame;
  frame.registry = reinterpret_cast<pl_registry*>(&invocation.backend);
  frame.operator_name = Borrow(invocation.operator_name);
  frame.keys = pl_key_list{invocation.keys.data(), invocation.keys.size()};
  frame.arguments = arguments.data();
  frame.argument_count = arguments.size();
  frame.results = pl_value_sink{&collected, &Collected::Push};
  frame.backend = &link;
  ThrowIfError(kernel(&frame));
  return std::move(collected.results);
}

// Callbacks of the host when operators come and go.
class HostListener {
 public:
  explicit HostListener(const pl_listener& listener) {
    auto destroy = [release = listener.destroy](void* context) {
      if (release != nullptr) release(context);
    };
    context_ = std::shared_ptr<void>(listener.context, destroy);
    defined_ = listener.defined;
    removed_ = listener.removed;
  }
  void Defined(std::string_view operator_name) const {
    if (defined_ != nullptr) defined_(context_.get(), Borrow(operator_name));
  }
  void Removed(std::string_view operator_name) const {
    if (removed_ != nullptr) removed_(context_.get(), Borrow(operator_name));
  }

 private:
  void (*defined_)(void*, pl_string) = nullptr;
  void (*removed_)(void*, pl_string) = nullptr;
  std::shared_ptr<void> context_;
};

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_HOST_KERNEL_H_
