// A dispatcher in a few lines, for the tests of adapter.h and as the subject of the tables in skew/.
//
// Three keys, "Low" < "Mid" < "High"; the highest key of a call that has a kernel or a fallback answers. It has every
// member that adapter.h knows, each in its simplest form. Not installed, not a model of anything.
//
// One mutex per registry guards the state; kernels run outside it.
#ifndef PLUMBLINE_SPEC_ABI_TESTING_TOY_BACKEND_H_
#define PLUMBLINE_SPEC_ABI_TESTING_TOY_BACKEND_H_

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/abi/adapter.h"
#include "spec/abi/testing/toy_table.h"

namespace plumbline::abi::testing {

// An exception of the toy's own, which Classify knows.
struct ToyFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs a function once, when it goes.
class Undo {
 public:
  explicit Undo(std::function<void()> undo) : undo_(std::move(undo)) {}
  Undo(Undo&& other) noexcept : undo_(std::exchange(other.undo_, nullptr)) {}
  ~Undo() {
    if (undo_) undo_();
  }

 private:
  std::function<void()> undo_;
};

class ToyBackend {
 public:
  struct ToyTensor {
    std::vector<pl_key> keys;
  };
  struct Entry {
    Kernel kernel;
    std::function<std::vector<Value<std::shared_ptr<ToyTensor>>>(std::span<const Value<std::shared_ptr<ToyTensor>>>,
                                                                 const std::vector<pl_key>&, const std::string&)>
        run;
  };
  struct ToyOperator {
    std::string name, schema;
    std::map<pl_key, std::vector<std::shared_ptr<Entry>>> kernels;
    CacheCounters counters;
  };

  using Registration = Undo;
  using Library = Undo;
  using Guard = Undo;
  using Operator = std::shared_ptr<ToyOperator>;
  using Tensor = std::shared_ptr<ToyTensor>;
  using V = Value<Tensor>;
  using Values = std::vector<V>;
  struct Frame {
    std::string operator_name;
  };
  template <class Kind>
  using Type = StandardType<Tensor, Kind>;

  static constexpr bool kFreshRegistry = true;
  static constexpr bool kChecksSignatures = true;
  static constexpr bool kDeclaredKeys = true;
  static constexpr bool kOperators = true;

  static Description Describe() {
    return {.name = "toy",
            .version = "1",
            .release = "pytorch-1.13",
            .keys = {{PL_DECLARE_MODE, "Mid", "Low", ""}},
            .own_starting_state = true,
            .fallbacks = {{"High", true}}};
  }
  static Error Classify(const std::exception& exception) {
    const bool own = dynamic_cast<const ToyFailure*>(&exception) != nullptr;
    return Error(own ? PL_ERROR_INTERNAL : PL_ERROR_UNCLASSIFIED, exception.what(), own ? "toy_backend.h" : "");
  }

  explicit ToyBackend(const OpenOptions& options) {
    if (!options.release.empty() && options.release != "pytorch-1.13")
      throw Error(PL_ERROR_NOT_FOUND, "no release " + options.release);
    for (const KeyDeclaration& key : options.keys) names_.push_back(key.name + " after " + key.after);
  }

  pl_key InternKey(std::string_view name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) throw Error(PL_ERROR_NOT_FOUND, "no key " + std::string(name));
    return static_cast<pl_key>(found - names_.begin());
  }

  Registration Define(Library*, std::string_view schema, std::string_view) {
    if (schema == "throw toy") throw ToyFailure("the toy failed");
    if (schema == "throw other") throw std::logic_error("something else failed");
    if (schema == "throw int") throw 7;
    const std::string name(schema.substr(0, schema.find('(')));
    std::lock_guard lock(mutex_);
    Operator& op = operators_[name];
    if (op == nullptr) op = std::make_shared<ToyOperator>();
    if (!op->schema.empty()) throw Error(PL_ERROR_DUPLICATE, name + " is defined twice", "toy_backend.h");
    op->name = name;
    op->schema = schema;
    Tell(name, &HostListener::Defined);
    return Undo([this, op] {
      std::lock_guard undo_lock(mutex_);
      op->schema.clear();
      Tell(op->name, &HostListener::Removed);
    });
  }

  Registration RegisterKernel(Library*, std::string_view name, std::optional<pl_key> key, Kernel kernel) {
    if (name == "refuse") throw Error(PL_ERROR_INVALID_ARGUMENT, "refused");
    std::lock_guard lock(mutex_);
    Operator& op = operators_[std::string(name)];
    if (op == nullptr) op = std::make_shared<ToyOperator>();
    op->name = name;
    auto& stack = op->kernels[key.value_or(0)];
    if (!stack.empty() && warn_) warn_("kernel of " + op->name + " overridden");
    const std::shared_ptr<Entry> entry = MakeEntry(std::move(kernel));
    stack.push_back(entry);
    return Undo([this, op, entry, key] {
      std::lock_guard undo_lock(mutex_);
      std::erase(op->kernels[key.value_or(0)], entry);
    });
  }
  Registration RegisterFallback(Library*, std::optional<pl_key> key, Kernel kernel) {
    const std::shared_ptr<Entry> entry = MakeEntry(std::move(kernel));
    std::lock_guard lock(mutex_);
    fallbacks_[key.value()] = entry;
    return Undo([this, key] {
      std::lock_guard undo_lock(mutex_);
      fallbacks_.erase(key.value());
    });
  }
  Registration DeclareChain(pl_key key, pl_key served_by) {
    std::lock_guard lock(mutex_);
    if (key == served_by) throw Error(PL_ERROR_INVALID_ARGUMENT, "a chain from a key to itself");
    chains_[key] = served_by;
    return Undo([this, key] {
      std::lock_guard undo_lock(mutex_);
      chains_.erase(key);
    });
  }
  Registration AddListener(HostListener listener) {
    std::lock_guard lock(mutex_);
    const auto own = std::make_shared<HostListener>(std::move(listener));
    listeners_.push_back(own);
    return Undo([this, own] {
      std::lock_guard undo_lock(mutex_);
      std::erase(listeners_, own);
    });
  }
  void Release(Registration&) { ++Record().released; }

  Library OpenLibrary(std::uint32_t kind, std::string_view name_space, std::optional<pl_key>, std::string_view) {
    const std::string own(name_space);
    std::lock_guard lock(mutex_);
    if (kind == PL_LIBRARY_DEF && !namespaces_.insert(own).second)
      throw Error(PL_ERROR_DUPLICATE, "two DEF libraries of " + own);
    return Undo([this, own] {
      std::lock_guard undo_lock(mutex_);
      namespaces_.erase(own);
    });
  }

  Operator FindOperator(std::string_view name) {
    std::lock_guard lock(mutex_);
    const auto found = operators_.find(std::string(name));
    if (found == operators_.end() || found->second->schema.empty())
      throw Error(PL_ERROR_NOT_FOUND, "no operator " + std::string(name));
    return found->second;
  }

  Values CallBoxed(Operator& op, std::span<const V> arguments) { return Dispatch(*op, arguments, KeysOf(arguments)); }
  Values CallTyped(Operator& op, std::uint32_t signature, std::span<const V> arguments) {
    return VisitSignature(signature, [&](auto own) {
      return CallAs<Typed<ToyBackend, decltype(own)>>(
          op, arguments, static_cast<typename Typed<ToyBackend, decltype(own)>::Function*>(nullptr));
    });
  }
  Values Redispatch(Frame& frame, std::span<const pl_key> keys, std::span<const V> arguments) {
    Operator op = FindOperator(frame.operator_name);
    return Dispatch(*op, arguments, {keys.begin(), keys.end()});
  }
  Values RedispatchTyped(Frame& frame, std::uint32_t, std::span<const pl_key> keys, std::span<const V> arguments) {
    return Redispatch(frame, keys, arguments);
  }
  void CallMany(Operator& op, std::uint32_t form, std::uint32_t signature, std::span<const V> arguments,
                std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i)
      form == PL_CALL_TYPED ? CallTyped(op, signature, arguments) : CallBoxed(op, arguments);
  }
  void FindMany(std::string_view name, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) FindOperator(name);
  }

  Tensor MakeTensor(std::span<const pl_key> keys) {
    return std::make_shared<ToyTensor>(ToyTensor{{keys.begin(), keys.end()}});
  }
  Tensor MakeUndefinedTensor() { return nullptr; }
  std::vector<pl_key> KeysOf(const Tensor& tensor) { return tensor == nullptr ? std::vector<pl_key>() : tensor->keys; }
  static std::uint64_t Identity(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.get()); }

  void WarningsTo(std::function<void(std::string_view)> sink) { warn_ = std::move(sink); }
  Guard EnterGuard(std::uint32_t side, std::span<const pl_key> keys) {
    auto& of_side = ThreadKeys()[side];
    of_side.insert(of_side.end(), keys.begin(), keys.end());
    return Undo([&of_side, count = keys.size()] { of_side.resize(of_side.size() - count); });
  }
  void Drain() {}
  CacheCounters Counters(Operator& op) { return op->counters; }
  void FlushCache() {
    for (auto& [name, op] : operators_) op->counters.invalidations += 1;
  }

  bool HasKernel(std::string_view name, pl_key key, std::uint32_t) { return !Find(name).kernels[key].empty(); }
  bool HasFallback(pl_key key) { return fallbacks_.contains(key); }
  std::vector<std::string> ListOperators(std::uint32_t, std::optional<pl_key>) {
    std::vector<std::string> names;
    for (const auto& [name, op] : operators_) names.push_back(name);
    return names;
  }
  std::string SchemaOf(std::string_view name) { return Find(name).schema; }
  std::vector<TableRow> DumpTable(std::string_view name) {
    std::vector<TableRow> rows;
    for (const auto& [key, stack] : Find(name).kernels) {
      if (stack.empty()) continue;
      rows.push_back(
          {key, PL_RULE_KERNEL, stack.back()->kernel.form == PL_KERNEL_FALLTHROUGH, stack.back()->kernel.place});
    }
    return rows;
  }
  std::vector<std::string> DumpRegistrations(std::string_view name) { return {"operator " + Find(name).name}; }

  static std::vector<std::string> Faults() { return {"wrong_answer"}; }
  static void SetFault(std::string_view name) { Record().fault = name; }
  static void Load(std::string_view path) { Record().loaded = path; }

  // Its tensors have no data; spec/abi/tensors_test.cc has a class whose tensors do, and memory_test.cc one that tells
  // of its memory.
  Tensor TensorFromHost(const TensorLayout&, std::span<const std::byte>) { return MakeTensor({}); }
  TensorInfo InfoOf(const Tensor&) { return {}; }
  void TensorToHost(const Tensor&, std::span<std::byte>) {}
  void StorageToHost(const Tensor&, std::span<std::byte>) {}
  MemoryFigures MemoryOf(std::string_view) { return {}; }
  void ResetPeak(std::string_view) {}
  void EmptyCache(std::string_view) {}
  void RecordTensors(bool) {}
  std::vector<MemoryHolder> MemoryHolders(std::string_view) { return {}; }
  DLManagedTensor* ToDlpack(const Tensor&) { return nullptr; }
  Tensor FromDlpack(DLManagedTensor*) { return MakeTensor({}); }

 private:
  static std::array<std::vector<pl_key>, 2>& ThreadKeys() {
    thread_local std::array<std::vector<pl_key>, 2> keys;
    return keys;
  }
  ToyOperator& Find(std::string_view name) { return *FindOperator(name); }
  void Tell(const std::string& name, void (HostListener::*what)(std::string_view) const) {
    for (const auto& listener : listeners_) ((*listener).*what)(name);
  }

  std::shared_ptr<Entry> MakeEntry(Kernel kernel) {
    auto entry = std::make_shared<Entry>();
    if (kernel.form == PL_KERNEL_TYPED) {
      VisitSignature(kernel.signature, [&](auto signature) {
        using T = Typed<ToyBackend, decltype(signature)>;
        MakeTyped<T>(*entry, kernel.host, static_cast<typename T::Function*>(nullptr));
      });
    } else if (kernel.form == PL_KERNEL_BOXED) {
      entry->run = [this, host = kernel.host](std::span<const V> arguments, const std::vector<pl_key>& keys,
                                              const std::string& name) {
        Frame frame{name};
        return Invoke<ToyBackend>(host, {*this, name, keys, arguments, &frame});
      };
    }
    entry->kernel = std::move(kernel);
    return entry;
  }
  // Goes through the C++ signature on purpose, although the toy could pass the values on.
  template <class T, class Return, class... Argument>
  void MakeTyped(Entry& entry, HostKernel host, Return (*)(Argument...)) {
    entry.run = [this, host](std::span<const V> arguments, const std::vector<pl_key>& keys, const std::string& name) {
      return T::Call(
          [&](Argument... argument) -> Return {
            Frame frame{name};
            const Values packed = T::PackArguments(argument...);
            return T::UnpackReturns(Invoke<ToyBackend>(host, {*this, name, keys, packed, &frame}), argument...);
          },
          arguments);
    };
  }
  template <class T, class Return, class... Argument>
  Values CallAs(Operator& op, std::span<const V> arguments, Return (*)(Argument...)) {
    return T::Call(
        [&](Argument... argument) -> Return {
          const Values packed = T::PackArguments(argument...);
          return T::UnpackReturns(CallBoxed(op, packed), argument...);
        },
        arguments);
  }

  std::vector<pl_key> KeysOf(std::span<const V> arguments) {
    std::set<pl_key> keys(ThreadKeys()[PL_GUARD_INCLUDE].begin(), ThreadKeys()[PL_GUARD_INCLUDE].end());
    const std::function<void(std::span<const V>)> collect = [&](std::span<const V> values) {
      for (const V& value : values) {
        if (value.is_list()) collect(value.list());
        if (value.is_tensor()) {
          for (pl_key key : KeysOf(value.tensor())) keys.insert(key);
        }
      }
    };
    collect(arguments);
    for (pl_key key : ThreadKeys()[PL_GUARD_EXCLUDE]) keys.erase(key);
    return {keys.begin(), keys.end()};
  }

  Values Dispatch(ToyOperator& op, std::span<const V> arguments, const std::vector<pl_key>& keys) {
    std::shared_ptr<Entry> chosen;
    {
      std::lock_guard lock(mutex_);
      op.counters.misses += 1;
      for (auto key = keys.rbegin(); key != keys.rend() && chosen == nullptr; ++key) chosen = At(op, *key);
    }
    if (keys.empty()) throw Error(PL_ERROR_NO_KEY, op.name + ": no key");
    if (chosen == nullptr) throw Error(PL_ERROR_NO_KERNEL, op.name + ": no kernel");
    return chosen->run ? chosen->run(arguments, keys, op.name) : Values();
  }
  std::shared_ptr<Entry> At(ToyOperator& op, pl_key key) {
    const auto& stack = op.kernels[key];
    if (!stack.empty() && stack.back()->kernel.form != PL_KERNEL_FALLTHROUGH) return stack.back();
    if (const auto fallback = fallbacks_.find(key); fallback != fallbacks_.end()) return fallback->second;
    if (const auto chain = chains_.find(key); chain != chains_.end()) return At(op, chain->second);
    return nullptr;
  }

  std::vector<std::string> names_ = {"Low", "Mid", "High"};
  std::recursive_mutex mutex_;
  std::map<std::string, Operator> operators_;
  std::map<pl_key, std::shared_ptr<Entry>> fallbacks_;
  std::map<pl_key, pl_key> chains_;
  std::set<std::string> namespaces_;
  std::vector<std::shared_ptr<HostListener>> listeners_;
  std::function<void(std::string_view)> warn_;
};

}  // namespace plumbline::abi::testing

#endif  // PLUMBLINE_SPEC_ABI_TESTING_TOY_BACKEND_H_
