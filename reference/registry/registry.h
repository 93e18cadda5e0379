// A registry of operators, kernels, fallbacks and chains: as many as one likes, and one for the whole process.
//
//   Registry registry(KeyTable::ForRelease("pytorch-1.13"));
//   Registration d = registry.Define("demo::add(Tensor a, Tensor b) -> Tensor");
//   Registration k = registry.Impl("demo::add", "CPU", Kernel::FromFunction<&AddCpu>());
//   OperatorRef op = registry.Find("demo::add");          // calls: dispatch/operator.h
//   k.Release();                                          // or when it goes out of scope
//
// Each entry is all or nothing: it throws a DispatchError and leaves no trace, or it is in force, for every call that
// starts after it returned. So is a release. Neither waits for kernels to end; a releasable kernel's callable is
// destroyed by the last of its release and of the calls then in flight, on whichever thread that is. `Drain` waits.
//
// All of it may be called from any thread, from inside kernels, listeners, warning sinks and destructors of callables:
// none of these runs under the registry's lock. A Registration may outlive its registry; it then releases nothing.
// When a Registry is destroyed no call may be running in it.
//
// `place` says where a registration was made, for messages, dumps and logs: by default the caller's file and line.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_H_
#define PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/boxing/kernel.h"
#include "reference/boxing/schema.h"
#include "reference/keys/error.h"
#include "reference/keys/key_table.h"
#include "reference/registry/hooks.h"
#include "reference/registry/operator_entry.h"

namespace plumbline::reference {

class RegistryCore;
struct RegistrationRecord;
struct LibraryRecord;

// "file.cc:12", from a source location or as given.
class Place {
 public:
  Place(std::source_location location = std::source_location::current());  // NOLINT: converts
  Place(std::string text) : text_(std::move(text)) {}                      // NOLINT
  Place(std::string_view text) : text_(text) {}                            // NOLINT
  Place(const char* text) : text_(text) {}                                 // NOLINT
  const std::string& text() const { return text_; }
  std::string Take() && { return std::move(text_); }

 private:
  std::string text_;
};

// Something in force. Movable; destroying it, or assigning to it, releases what it held.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  Registration(Registration&&) noexcept = default;
  Registration& operator=(Registration&& other) noexcept;
  ~Registration();

  void Release();                // once; later calls do nothing
  bool in_force() const;         // false: released, dropped with its library or registry, or empty
  bool replaced_kernel() const;  // an override warning was given for it

 private:
  friend class Registry;
  explicit Registration(std::shared_ptr<RegistrationRecord> record);
  std::shared_ptr<RegistrationRecord> record_;
};

enum class LibraryKind { kDef, kFragment, kImpl };

// A set of registrations of one namespace that go together; "_" is every namespace, for fallbacks only.
//
//   Library library(registry, LibraryKind::kDef, "demo");
//   library.Def("add(Tensor a, Tensor b) -> Tensor");
//   library.Impl("add", "CPU", Kernel::FromFunction<&AddCpu>());
//
// At most one kDef library of a namespace is open at a time. kDef and kFragment libraries define; all may add kernels,
// a kImpl one at its own key unless another is named. Movable; destroying it releases all that was made in it.
class Library {
 public:
  Library(class Registry& registry, LibraryKind kind, std::string_view name_space,
          std::optional<Key> key = std::nullopt, Place place = {});
  Library(Library&&) noexcept = default;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  // These keep their registrations until the library is closed.
  void Def(std::string_view schema, Place place = {});
  void Def(std::string_view schema, Kernel kernel, Place place = {});  // and an Impl at the library's key
  void Impl(std::string_view op, Kernel kernel, Place place = {});
  void Impl(std::string_view op, std::string_view key, Kernel kernel, Place place = {});
  void Fallback(Kernel kernel, Place place = {});

  void Close();
  bool open() const;

 private:
  friend class Registry;
  std::shared_ptr<LibraryRecord> record_;
  class Registry* registry_ = nullptr;
  std::vector<Registration> kept_;
};

// Told when operators get and lose their definition, at first of those that are defined already. Must not throw.
struct Listener {
  std::function<void(std::string_view operator_name)> defined;
  std::function<void(std::string_view operator_name)> removed;
};

struct ChainInfo {
  Key key, served_by;
  std::string place;
};

class Registry {
 public:
  // The release's built-in fallbacks are in force from the start, or those given instead.
  explicit Registry(KeyTableRef keys);
  Registry(KeyTableRef keys, std::span<const StartingFallback> fallbacks);
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;
  ~Registry();

  static Registry& Default();  // of pytorch-1.13; never destroyed

  const KeyTable& keys() const;

  // ---- registrations ----
  // In a library, names may leave its namespace out, and the library's key holds where none is given.
  Registration Define(std::string_view schema, Place place = {}, const Library* library = nullptr);
  // The schema is inferred from the kernel's C++ type; the kernel itself is not registered.
  Registration DefineInferred(std::string_view name, const Signature& signature, Place place = {},
                              const Library* library = nullptr);
  // No key and Undefined mean CompositeImplicitAutograd.
  Registration Impl(std::string_view op, std::optional<Key> key, Kernel kernel, Place place = {},
                    const Library* library = nullptr);
  Registration Impl(std::string_view op, std::string_view key, Kernel kernel, Place place = {},
                    const Library* library = nullptr);
  Registration Fallback(std::optional<Key> key, Kernel kernel, Place place = {}, const Library* library = nullptr);
  Registration Fallback(std::string_view key, Kernel kernel, Place place = {}, const Library* library = nullptr);
  // Where `key` has nothing by any other rule, what serves `served_by` serves it. Cycles are kInvalidArgument.
  Registration DeclareChain(Key key, Key served_by, Place place = {});
  Registration Listen(Listener listener, Place place = {});

  // Override warnings and their like, one line each; null: none. Called outside of all locks.
  void WarnTo(std::function<void(std::string_view)> sink);

  // ---- operators ----
  OperatorRef Find(std::string_view name) const;         // empty if there is none; dangling ones are found
  OperatorRef FindOrThrow(std::string_view name) const;  // kNotFound, with what is near; also for dangling ones
  std::vector<std::string> Operators() const;            // names, sorted
  std::vector<std::string> Dangling() const;             // implemented, not defined
  std::vector<std::string> OperatorsAt(Key key) const;   // with a kernel at exactly that key
  bool HasKernel(std::string_view op, Key key) const;    // at exactly that key, alias keys included; kNotFound
  bool HasComputed(std::string_view op, Key key) const;  // the slot has one; an alias is kInvalidArgument
  bool HasFallback(Key key) const;                       // an alias is kInvalidArgument
  std::vector<ChainInfo> Chains() const;

  // ---- the cache; see registry_core.h ----
  CacheCounters Counters(std::string_view op) const;
  // While on, hits are counted too; calls then take the slow path.
  void CountHits(bool on);
  void Flush();

  // Waits until no call runs a released kernel. kInvalidArgument from inside a releasable kernel.
  void Drain();

  // Observers of calls and registrations; null: none.
  void ObserveCalls(CallObserver* observer);
  bool observed() const;
  // For kernels: which instance runs. The observer of calls hears of it, if there is one.
  void TellInstance(std::string_view op, std::string_view dtype, std::string_view device) const;
  void ObserveRegistrations(RegistrationObserver* observer);

  RegistryCore& core() const { return *core_; }

 private:
  friend class Library;
  std::shared_ptr<RegistryCore> core_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_REGISTRY_H_
