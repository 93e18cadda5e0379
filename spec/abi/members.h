// Which members a backend class has, and the capabilities that follow: the part of adapter.h that looks at the class.
//
//   static_assert(OffersCallTyped<MyBackend>);
//   constexpr uint64_t bits = Claims<MyBackend>();
//
// Plain data types that authors fill are here too. Compile-time only; no thread rules.
#ifndef PLUMBLINE_SPEC_ABI_MEMBERS_H_
#define PLUMBLINE_SPEC_ABI_MEMBERS_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/host_kernel.h"
#include "spec/abi/value.h"

namespace plumbline::abi {

// ---- what authors fill or are given ----

struct KeyDeclaration {
  std::uint32_t kind = PL_DECLARE_COMPONENT;
  std::string name, after, autograd;  // as in pl_key_declaration
};
struct BuiltinFallback {
  std::string key;
  bool fallthrough = true;
};
struct Description {
  std::string name, version, release;
  std::vector<KeyDeclaration> keys = {};
  bool own_starting_state = false;  // `fallbacks` replaces what the release brings
  std::vector<BuiltinFallback> fallbacks = {};
};
struct OpenOptions {
  bool fresh = false;                     // a registry of its own; only where kFreshRegistry says so
  std::string release;                    // empty: the backend's own
  bool count_hits = false;                // the host will ask for Counters; else hits need not be counted
  std::vector<KeyDeclaration> keys = {};  // added to the release's; only where kDeclaredKeys says so
  bool operators = false;                 // with the ATen operators; only where kOperators says so
};
// As in pl_tensor_layout.
struct TensorLayout {
  std::uint32_t dtype = PL_DTYPE_NONE;
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;
  std::string device;
};
struct TensorInfo {
  TensorLayout layout;
  std::uint64_t storage_bytes = 0, storage = 0, version = 0;  // as in pl_tensor_info
};
// As in pl_memory_figures.
struct MemoryFigures {
  std::uint64_t live_bytes = 0, peak_bytes = 0, kept_bytes = 0, live_blocks = 0;
};
// As in pl_memory_holder.
struct HeldTensor {
  std::uint32_t dtype = PL_DTYPE_NONE;
  std::vector<std::int64_t> sizes;
  std::string name = {};
};
struct MemoryHolder {
  bool foreign = false;
  std::uint64_t storage = 0, bytes = 0;
  std::vector<HeldTensor> tensors = {};
};
struct TableRow {
  pl_key key = 0;
  std::uint32_t rule = 0;  // PL_RULE_*
  bool fallthrough = false;
  std::string place;  // the winner's Kernel::place; empty for built-in ones
};
struct CacheCounters {
  std::uint64_t hits = 0, misses = 0, invalidations = 0;
};

// ---- types that a class may leave out ----

struct NoLibrary {};
template <class B>
struct LibraryOf {
  using Type = NoLibrary;
};
template <class B>
requires requires { typename B::Library; }
struct LibraryOf<B> {
  using Type = typename B::Library;
};

struct NoGuard {};
template <class B>
struct GuardOf {
  using Type = NoGuard;
};
template <class B>
requires requires { typename B::Guard; }
struct GuardOf<B> {
  using Type = typename B::Guard;
};

// ---- members ----

// Arguments as the layer passes them.
template <class B>
struct Probe {
  B& backend;
  typename LibraryOf<B>::Type* library;
  typename B::Operator& op;
  const typename B::Tensor& tensor;
  typename B::Registration& registration;
  typename FrameOf<B>::Type& frame;
  std::string_view text;
  std::optional<pl_key> some_key;
  pl_key key;
  std::span<const pl_key> keys;
  std::span<const Value<typename B::Tensor>> values;
  Kernel kernel;
  HostListener listener;
  std::function<void(std::string_view)> text_sink;
  std::uint32_t number;
  std::uint64_t times;
  const TensorLayout& layout;
  std::span<const std::byte> bytes;
  std::span<std::byte> out;
  DLManagedTensor* managed;
};

template <class X, class B>
concept IsRegistration = std::convertible_to<X, typename B::Registration>;
template <class X, class B>
concept AreValues = std::convertible_to<X, std::vector<Value<typename B::Tensor>>>;
template <class X>
concept AreStrings = std::convertible_to<X, std::vector<std::string>>;

// clang-format off
// OffersX<B>: B has X and it can be called as adapter.h says. NamesX<B>: B has something called X.
#define PLUMBLINE_ABI_MEMBER(Name, ...)                                   \
  template <class B>                                                      \
  concept Offers##Name = requires(B& b, const Probe<B>& p) { __VA_ARGS__; }; \
  template <class B>                                                      \
  concept Names##Name = requires { &B::Name; };

#define PLUMBLINE_ABI_MEMBERS(X)                                                                                    \
  X(InternKey, { b.InternKey(p.text) } -> std::convertible_to<pl_key>)                                              \
  X(Define, { b.Define(p.library, p.text, p.text) } -> IsRegistration<B>)                                           \
  X(RegisterKernel, { b.RegisterKernel(p.library, p.text, p.some_key, p.kernel) } -> IsRegistration<B>)             \
  X(Release, b.Release(p.registration))                                                                             \
  X(FindOperator, { b.FindOperator(p.text) } -> std::convertible_to<typename B::Operator>)                          \
  X(CallBoxed, { b.CallBoxed(p.op, p.values) } -> AreValues<B>)                                                     \
  X(CallTyped, { b.CallTyped(p.op, p.number, p.values) } -> AreValues<B>)                                           \
  X(MakeTensor, { b.MakeTensor(p.keys) } -> std::convertible_to<typename B::Tensor>)                                \
  X(MakeUndefinedTensor, { b.MakeUndefinedTensor() } -> std::convertible_to<typename B::Tensor>)                    \
  X(KeysOf, { b.KeysOf(p.tensor) } -> std::convertible_to<std::vector<pl_key>>)                                     \
  X(Identity, { B::Identity(p.tensor) } -> std::convertible_to<std::uint64_t>)                                      \
  X(RegisterFallback, { b.RegisterFallback(p.library, p.some_key, p.kernel) } -> IsRegistration<B>)                 \
  X(OpenLibrary,                                                                                                    \
    { b.OpenLibrary(p.number, p.text, p.some_key, p.text) } -> std::convertible_to<typename B::Library>)            \
  X(AddListener, { b.AddListener(p.listener) } -> IsRegistration<B>)                                                \
  X(WarningsTo, b.WarningsTo(p.text_sink))                                                                          \
  X(EnterGuard, { b.EnterGuard(p.number, p.keys) } -> std::convertible_to<typename B::Guard>)                       \
  X(DeclareChain, { b.DeclareChain(p.key, p.key) } -> IsRegistration<B>)                                            \
  X(Redispatch, { b.Redispatch(p.frame, p.keys, p.values) } -> AreValues<B>)                                        \
  X(RedispatchTyped, { b.RedispatchTyped(p.frame, p.number, p.keys, p.values) } -> AreValues<B>)                    \
  X(Drain, b.Drain())                                                                                               \
  X(Counters, { b.Counters(p.op) } -> std::convertible_to<CacheCounters>)                                           \
  X(FlushCache, b.FlushCache())                                                                                     \
  X(HasKernel, { b.HasKernel(p.text, p.key, p.number) } -> std::convertible_to<bool>)                               \
  X(HasFallback, { b.HasFallback(p.key) } -> std::convertible_to<bool>)                                             \
  X(ListOperators, { b.ListOperators(p.number, p.some_key) } -> AreStrings)                                         \
  X(SchemaOf, { b.SchemaOf(p.text) } -> std::convertible_to<std::string>)                                           \
  X(DumpTable, { b.DumpTable(p.text) } -> std::convertible_to<std::vector<TableRow>>)                               \
  X(DumpRegistrations, { b.DumpRegistrations(p.text) } -> AreStrings)                                               \
  X(Faults, { B::Faults() } -> AreStrings)                                                                          \
  X(SetFault, B::SetFault(p.text))                                                                                  \
  X(CallMany, b.CallMany(p.op, p.number, p.number, p.values, p.times))                                              \
  X(FindMany, b.FindMany(p.text, p.times))                                                                          \
  X(Load, B::Load(p.text))                                                                                          \
  X(TensorFromHost, { b.TensorFromHost(p.layout, p.bytes) } -> std::convertible_to<typename B::Tensor>)                         \
  X(InfoOf, { b.InfoOf(p.tensor) } -> std::convertible_to<TensorInfo>)                                              \
  X(TensorToHost, b.TensorToHost(p.tensor, p.out))                                                                              \
  X(StorageToHost, b.StorageToHost(p.tensor, p.out))                                                                \
  X(MemoryOf, { b.MemoryOf(p.text) } -> std::convertible_to<MemoryFigures>)                                         \
  X(ResetPeak, b.ResetPeak(p.text))                                                                                 \
  X(EmptyCache, b.EmptyCache(p.text))                                                                               \
  X(RecordTensors, b.RecordTensors(bool{}))                                                                         \
  X(MemoryHolders, { b.MemoryHolders(p.text) } -> std::convertible_to<std::vector<MemoryHolder>>)                   \
  X(ToDlpack, { b.ToDlpack(p.tensor) } -> std::convertible_to<DLManagedTensor*>)                                    \
  X(FromDlpack, { b.FromDlpack(p.managed) } -> std::convertible_to<typename B::Tensor>)

PLUMBLINE_ABI_MEMBERS(PLUMBLINE_ABI_MEMBER)
// clang-format on

template <class B>
inline constexpr bool kLibraryDropsRegistrations = [] {
  if constexpr (requires { B::kLibraryDropsRegistrations; }) return B::kLibraryDropsRegistrations;
  return false;
}();

template <class B>
concept OffersTensors = OffersMakeTensor<B> && OffersMakeUndefinedTensor<B> && OffersKeysOf<B> && OffersIdentity<B>;

// Refuses a member that is there but cannot be called as adapter.h says.
template <class B>
consteval bool CheckMembers() {
#define PLUMBLINE_ABI_CHECK(Name, ...)              \
  static_assert(!Names##Name<B> || Offers##Name<B>, \
                "the backend's " #Name " has other parameters or another result than spec/abi/adapter.h says");
  PLUMBLINE_ABI_MEMBERS(PLUMBLINE_ABI_CHECK)
#undef PLUMBLINE_ABI_CHECK
  return true;
}
#undef PLUMBLINE_ABI_MEMBER
#undef PLUMBLINE_ABI_MEMBERS

// The capability bits of a backend class.
template <class B>
consteval std::uint64_t Claims() {
  std::uint64_t bits = 0;
  const auto claim = [&bits](bool offered, std::uint64_t bit) {
    if (offered) bits |= bit;
  };
  constexpr bool kKernels = OffersDefine<B> && OffersRegisterKernel<B>;
  constexpr bool kCalls = OffersCallBoxed<B> || OffersCallTyped<B>;
  claim(OffersInternKey<B> && kKernels && OffersFindOperator<B> && kCalls && OffersTensors<B>, PL_CAPABILITY(CORE));
  if constexpr (requires { B::kFreshRegistry; }) claim(B::kFreshRegistry, PL_CAPABILITY(FRESH_REGISTRY));
  if constexpr (requires { B::kDeclaredKeys; }) claim(B::kDeclaredKeys, PL_CAPABILITY(DECLARED_KEYS));
  claim(OffersOpenLibrary<B>, PL_CAPABILITY(LIBRARIES));
  claim(OffersAddListener<B>, PL_CAPABILITY(LISTENERS));
  claim(OffersWarningsTo<B>, PL_CAPABILITY(WARNINGS));
  claim(OffersEnterGuard<B>, PL_CAPABILITY(GUARDS));
  claim(OffersRegisterFallback<B>, PL_CAPABILITY(FALLBACKS));
  claim(OffersDeclareChain<B>, PL_CAPABILITY(CHAINS));
  claim(OffersRedispatch<B>, PL_CAPABILITY(REDISPATCH));
  claim(kKernels && OffersCallTyped<B>, PL_CAPABILITY(TYPED));
  claim(kKernels && OffersCallBoxed<B>, PL_CAPABILITY(BOXED));
  claim(OffersDrain<B>, PL_CAPABILITY(DRAIN));
  claim(OffersCounters<B>, PL_CAPABILITY(CACHE_COUNTERS));
  claim(OffersFlushCache<B>, PL_CAPABILITY(CACHE_FLUSH));
  claim(OffersHasKernel<B> && OffersHasFallback<B> && OffersListOperators<B> && OffersSchemaOf<B> && OffersDumpTable<B>,
        PL_CAPABILITY(INTROSPECTION));
  claim(OffersFaults<B> && OffersSetFault<B>, PL_CAPABILITY(FAULTS));
  claim(OffersCallMany<B> && OffersFindMany<B>, PL_CAPABILITY(CALL_MANY));
  claim(OffersLoad<B>, PL_CAPABILITY(LOAD));
  if constexpr (requires { B::kChecksSignatures; }) claim(B::kChecksSignatures, PL_CAPABILITY(SIGNATURE_CHECK));
  claim(OffersTensorFromHost<B> && OffersInfoOf<B> && OffersTensorToHost<B> && OffersStorageToHost<B>,
        PL_CAPABILITY(TENSORS));
  if constexpr (requires { B::kOperators; }) claim(B::kOperators, PL_CAPABILITY(OPERATORS));
  claim(OffersMemoryOf<B> && OffersResetPeak<B> && OffersEmptyCache<B>, PL_CAPABILITY(MEMORY));
  claim(OffersToDlpack<B> && OffersFromDlpack<B>, PL_CAPABILITY(DLPACK));
  return bits;
}

}  // namespace plumbline::abi

#endif  // PLUMBLINE_SPEC_ABI_MEMBERS_H_
