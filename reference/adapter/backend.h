// The reference behind the public table: each entry is one call of the reference's own interface, and nothing more.
//
//   PLUMBLINE_ADAPTER(plumbline::reference::adapter::Backend);
//
// Built twice: as backend `reference`, and with the library that has switchable faults as `broken`. Members and their
// rules are those of spec/abi/adapter.h; one object per registry, any thread.
#ifndef PLUMBLINE_REFERENCE_ADAPTER_BACKEND_H_
#define PLUMBLINE_REFERENCE_ADAPTER_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/adapter/types.h"
#include "reference/dispatch/operator.h"
#include "reference/keys/thread_state.h"
#include "reference/registry/registry.h"
#include "spec/abi/adapter.h"

namespace plumbline::reference::adapter {

#ifdef PLUMBLINE_WITH_FAULTS
// Of the kernel that this thread registers, for the fault kernel_is_seen_before_its_state.
extern thread_local std::shared_ptr<std::atomic<bool>> kernel_state_is_there;
#endif

#ifdef PLUMBLINE_WITH_OPERATORS
// The ATen operators with their kernels, for as long as what is given back lives. Defined by the library that the
// backend is linked with.
std::vector<Registration> RegisterOperators(Registry& registry);
#endif

class Backend {
 public:
  using Registration = reference::Registration;
  using Library = reference::Library;
  using Operator = reference::Operator;
  using Tensor = reference::Tensor;
  struct Guard {
    std::unique_ptr<IncludeGuard> include;
    std::unique_ptr<ExcludeGuard> exclude;
  };
  struct Frame {  // the operator whose kernel runs
    OperatorEntry& op;
  };
  template <class Kind>
  using Type = adapter::Type<Kind>;

  static constexpr bool kFreshRegistry = true;
  static constexpr bool kDeclaredKeys = true;
  static constexpr bool kChecksSignatures = true;
  static constexpr bool kLibraryDropsRegistrations = true;
#ifdef PLUMBLINE_WITH_OPERATORS
  static constexpr bool kOperators = true;
#endif

  static abi::Description Describe();
  static abi::Error Classify(const std::exception& exception);
  static void Load(std::string_view path);  // a library that registers in Registry::Default() as it is loaded
  explicit Backend(const abi::OpenOptions& options);

  pl_key InternKey(std::string_view name);

  Registration Define(Library* library, std::string_view schema, std::string_view place);
  Registration RegisterKernel(Library* library, std::string_view op, std::optional<pl_key> key, abi::Kernel kernel);
  Registration RegisterFallback(Library* library, std::optional<pl_key> key, abi::Kernel kernel);
  Registration AddListener(abi::HostListener listener);
  Registration DeclareChain(pl_key key, pl_key served_by);
  void Release(Registration& registration) { registration.Release(); }
  Library OpenLibrary(std::uint32_t kind, std::string_view name_space, std::optional<pl_key> key,
                      std::string_view place);
  void WarningsTo(std::function<void(std::string_view)> sink);

  Operator FindOperator(std::string_view name);
  HostValues CallBoxed(Operator& op, std::span<const HostValue> arguments);
  HostValues CallTyped(Operator& op, std::uint32_t signature, std::span<const HostValue> arguments);
  HostValues Redispatch(Frame& frame, std::span<const pl_key> keys, std::span<const HostValue> arguments);
  HostValues RedispatchTyped(Frame& frame, std::uint32_t signature, std::span<const pl_key> keys,
                             std::span<const HostValue> arguments);
  Guard EnterGuard(std::uint32_t side, std::span<const pl_key> keys);

  Tensor MakeTensor(std::span<const pl_key> keys);
  Tensor MakeUndefinedTensor();
  std::vector<pl_key> KeysOf(const Tensor& tensor);
  static std::uint64_t Identity(const Tensor& tensor);

  // tensors.cc
  Tensor TensorFromHost(const abi::TensorLayout& layout, std::span<const std::byte> storage);
  abi::TensorInfo InfoOf(const Tensor& tensor);
  void TensorToHost(const Tensor& tensor, std::span<std::byte> elements);
  void StorageToHost(const Tensor& tensor, std::span<std::byte> storage);

  // memory.cc
  abi::MemoryFigures MemoryOf(std::string_view device);
  void ResetPeak(std::string_view device);
  void EmptyCache(std::string_view device);
  void RecordTensors(bool on);
  std::vector<abi::MemoryHolder> MemoryHolders(std::string_view device);
  DLManagedTensor* ToDlpack(const Tensor& tensor);
  Tensor FromDlpack(DLManagedTensor* managed);

  void Drain() { registry_->Drain(); }
  abi::CacheCounters Counters(Operator& op);
  void FlushCache() { registry_->Flush(); }

  bool HasKernel(std::string_view op, pl_key key, std::uint32_t query);
  bool HasFallback(pl_key key);
  std::vector<std::string> ListOperators(std::uint32_t which, std::optional<pl_key> key);
  std::string SchemaOf(std::string_view op);
  std::vector<abi::TableRow> DumpTable(std::string_view op);
  std::vector<std::string> DumpRegistrations(std::string_view op);

  void CallMany(Operator& op, std::uint32_t form, std::uint32_t signature, std::span<const HostValue> arguments,
                std::uint64_t times);
  void FindMany(std::string_view name, std::uint64_t times);

#ifdef PLUMBLINE_WITH_FAULTS
  static std::vector<std::string> Faults();
  static void SetFault(std::string_view name);
#endif

  // ---- for the kernels ----
  HostValues Invoke(const abi::HostKernel& kernel, OperatorEntry& op, KeySet keys,
                    std::span<const HostValue> arguments);

 private:
  Key ToKey(pl_key key) const;  // throws INVALID_ARGUMENT for a number that no key has
  std::optional<Key> ToKey(std::optional<pl_key> key) const;
  KeySet ToSet(std::span<const pl_key> keys) const;
  std::vector<pl_key> FromSet(KeySet keys) const;

  // kernels.cc, noop.cc
  Kernel MakeKernel(const abi::Kernel& kernel, std::string_view op, std::optional<Key> key);
  Kernel MakeTyped(const abi::Kernel& kernel);
  Kernel MakeNoop(const abi::Kernel& kernel, std::string_view op, std::optional<Key> key);

  std::unique_ptr<Registry> own_;  // null: the process-wide one
  Registry* registry_;
  std::vector<Registration> operators_;
};

}  // namespace plumbline::reference::adapter

#endif  // PLUMBLINE_REFERENCE_ADAPTER_BACKEND_H_
