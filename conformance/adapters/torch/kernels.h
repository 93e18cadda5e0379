// Host kernels as libtorch kernels, boxed or typed.
//
//   MadeKernel made = MakeBoxedKernel(host);                                  // makeFromBoxedFunctor
//   MadeKernel made = FindSignature(PL_SIGNATURE_tensor_int).kernel(host);    // a C++ function of that type
//   results = FindSignature(id).call(op, arguments);                          // op.typed<...>().call(...)
//
// A kernel's last copy, wherever libtorch keeps it, gives up the host's context. What the host fails with passes
// through libtorch as abi::HostError. Threads: any.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KERNELS_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KERNELS_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/adapters/torch/torch_version.h"
#include "conformance/adapters/torch/types.h"
#include "spec/abi/host_kernel.h"

namespace plumbline::torch_backend {

class Backend;

// What a host kernel needs to be called, shared by all copies of one registration.
struct HostState {
  Backend* backend;
  abi::HostKernel host;
  std::string operator_name;  // typed kernels only: libtorch tells a boxed one whom it serves
};
using Host = std::shared_ptr<const HostState>;

// In both forms in which libtorch takes a kernel: one for torch::Library, one for c10::Dispatcher.
struct MadeKernel {
  std::optional<torch::CppFunction> for_library;
  c10::KernelFunction for_dispatcher;
  Optional<c10::impl::CppSignature> signature;
  std::unique_ptr<c10::FunctionSchema> inferred_schema;
};

MadeKernel MakeBoxedKernel(Host host);
MadeKernel MakeFallthroughKernel();
MadeKernel MakeBoxedNoopKernel();

// Calls the host; used by every kernel above and below.
std::vector<Value> CallHost(const HostState& host, const std::string& operator_name, const c10::OperatorHandle* op,
                            c10::DispatchKeySet keys, std::span<const Value> arguments);

// One entry of the signature catalogue, instantiated.
struct Signature {
  MadeKernel (*kernel)(Host host);
  MadeKernel (*noop)();
  MadeKernel (*noop_redispatch)(const c10::OperatorHandle& op, c10::DispatchKeySet below);
  std::vector<Value> (*call)(const c10::OperatorHandle& op, std::span<const Value> arguments);
  std::vector<Value> (*redispatch)(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                                   std::span<const Value> arguments);
  void (*call_many)(const c10::OperatorHandle& op, std::span<const Value> arguments, std::uint64_t times);
};

const Signature& FindSignature(std::uint32_t id);

// The catalogue is instantiated in parts, one a translation unit, so that it compiles in parallel.
inline constexpr std::uint32_t kSignatureParts = 2;
template <std::uint32_t part>
const Signature* FindSignatureInPart(std::uint32_t id);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_KERNELS_H_
