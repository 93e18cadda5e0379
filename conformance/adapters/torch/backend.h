// The PyTorch dispatcher as a backend: libtorch's c10::Dispatcher and torch::Library behind spec/abi.
//
//   plumbline check --backend torch
//
// Everything is handed to libtorch as a user's C++ would: without a library through c10::Dispatcher, with one through
// torch::Library, whose own checks apply. Nothing is checked, repaired or hidden on the way, so what libtorch does
// wrong shows, a crash included. There is one registry, the process's; a Backend is a view of it. A torch::Library
// drops its registrations together, so each registration made in one has a torch::Library of its own.
//
// Threads: as libtorch allows. Ownership: a Registration releases when it is destroyed.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BACKEND_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BACKEND_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/adapters/torch/kernels.h"
#include "conformance/adapters/torch/tensors.h"
#include "conformance/adapters/torch/torch_version.h"
#include "conformance/adapters/torch/types.h"
#include "spec/abi/members.h"

namespace plumbline::torch_backend {

// What a host kernel redispatches through.
struct Frame {
  const std::string& operator_name;
  const c10::OperatorHandle* op;  // null in a typed kernel: libtorch does not tell it
};

// Held either way that libtorch offers.
struct Registration {
  std::unique_ptr<c10::RegistrationHandleRAII> handle;
  std::unique_ptr<torch::Library> library;
};

struct Library {
  std::uint32_t kind = PL_LIBRARY_DEF;  // PL_LIBRARY_*
  std::string name_space;
  Optional<c10::DispatchKey> key;
  std::unique_ptr<torch::Library> own;  // holds the namespace
};

struct Guard {
  std::unique_ptr<c10::impl::IncludeDispatchKeyGuard> include;
  std::unique_ptr<c10::impl::ExcludeDispatchKeyGuard> exclude;
};

class Backend {
 public:
  using Registration = torch_backend::Registration;
  using Library = torch_backend::Library;
  using Guard = torch_backend::Guard;
  using Frame = torch_backend::Frame;
  using Operator = c10::OperatorHandle;
  using Tensor = at::Tensor;
  using Values = std::vector<Value>;
  static constexpr bool kChecksSignatures = true;

  static abi::Description Describe();
  static abi::Error Classify(const std::exception& exception);
  static void Load(std::string_view path);
  explicit Backend(const abi::OpenOptions& options);
  ~Backend();

  pl_key InternKey(std::string_view name);
  Registration Define(Library* library, std::string_view schema, std::string_view place);
  Registration RegisterKernel(Library* library, std::string_view op, std::optional<pl_key> key, abi::Kernel kernel);
  Registration RegisterFallback(Library* library, std::optional<pl_key> key, abi::Kernel kernel);
  Library OpenLibrary(std::uint32_t kind, std::string_view name_space, std::optional<pl_key> key,
                      std::string_view place);
  Registration AddListener(abi::HostListener listener);
  void WarningsTo(std::function<void(std::string_view)> sink);
  Guard EnterGuard(std::uint32_t side, std::span<const pl_key> keys);

  Operator FindOperator(std::string_view op);
  Values CallBoxed(Operator& op, std::span<const Value> arguments);
  Values CallTyped(Operator& op, std::uint32_t signature, std::span<const Value> arguments);
  Values Redispatch(Frame& frame, std::span<const pl_key> keys, std::span<const Value> arguments);
  Values RedispatchTyped(Frame& frame, std::uint32_t signature, std::span<const pl_key> keys,
                         std::span<const Value> arguments);

  Tensor MakeTensor(std::span<const pl_key> keys);
  Tensor MakeUndefinedTensor() { return at::Tensor(); }
  std::vector<pl_key> KeysOf(const Tensor& tensor);
  static std::uint64_t Identity(const Tensor& tensor) { return Types::Identity(tensor); }

  // The process has them anyway.
  static constexpr bool kOperators = true;
  Tensor TensorFromHost(const abi::TensorLayout& layout, std::span<const std::byte> storage) {
    return torch_backend::FromHost(layout, storage);
  }
  abi::TensorInfo InfoOf(const Tensor& tensor) { return torch_backend::InfoOf(tensor); }
  void TensorToHost(const Tensor& tensor, std::span<std::byte> elements) { torch_backend::ToHost(tensor, elements); }
  void StorageToHost(const Tensor& tensor, std::span<std::byte> storage) {
    torch_backend::StorageToHost(tensor, storage);
  }
  DLManagedTensor* ToDlpack(const Tensor& tensor) { return torch_backend::ToDlpack(tensor); }
  Tensor FromDlpack(DLManagedTensor* managed) { return torch_backend::FromDlpack(managed); }

  bool HasKernel(std::string_view op, pl_key key, std::uint32_t query);
  bool HasFallback(pl_key key);
  std::vector<std::string> ListOperators(std::uint32_t which, std::optional<pl_key> key);
  std::string SchemaOf(std::string_view op);
  std::vector<abi::TableRow> DumpTable(std::string_view op);
  std::vector<std::string> DumpRegistrations(std::string_view op);

  void CallMany(Operator& op, std::uint32_t form, std::uint32_t signature, std::span<const Value> arguments,
                std::uint64_t times);
  void FindMany(std::string_view op, std::uint64_t times);

 private:
  class Warnings;

  MadeKernel Make(const abi::Kernel& kernel, const std::string& operator_name, Optional<c10::DispatchKey> key);

  std::unique_ptr<Warnings> warnings_;
};

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_BACKEND_H_
