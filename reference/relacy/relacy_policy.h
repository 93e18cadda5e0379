// What registry/publication.h is built on, for relacy: a checker that runs a small program in many orders and lets each
// load return any value that the C++ memory model allows, old ones too.
//
//   settings = {.fence = Fence::kMembarrier};
//   using Core = Publication<RelacyPolicy>;
//
// `settings` also says what to leave out or weaken, for programs that show what then goes wrong. RelacyWorld is what an
// OperatorModel is made of; its objects live within one run of rl::simulate. Compile with -fno-sized-deallocation, and
// with -fno-lifetime-dse: relacy marks what is destroyed, for later accesses to find, and the compiler takes that for a
// dead store.
#ifndef PLUMBLINE_REFERENCE_RELACY_RELACY_POLICY_H_
#define PLUMBLINE_REFERENCE_RELACY_RELACY_POLICY_H_

#include <atomic>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <type_traits>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop
// Its macros change the meaning of plain C++; RL_NEW_PROXY and RL_DELETE_PROXY, `$` and RL_ASSERT stay.
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno

namespace plumbline::reference {

enum class Fence { kMembarrier, kFences };
enum class Role { kPointer, kMark, kSlot, kUses, kOther };
enum class Access { kLoad, kStore, kEndUse };

struct RelacySettings {
  Fence fence = Fence::kMembarrier;
  bool reader_fence = true, writer_fence = true;
  // An order of one kind of access that is replaced by another.
  struct Change {
    Role role;
    Access access;
    std::memory_order from, to;
  };
  std::optional<Change> change = std::nullopt;
};
inline RelacySettings settings;

template <class T>
constexpr Role RoleOf() {
  if (std::is_pointer_v<T>) return Role::kPointer;
  if (std::is_same_v<T, std::uint32_t>) return Role::kMark;
  if (std::is_same_v<T, std::uintptr_t>) return Role::kSlot;
  return std::is_same_v<T, std::int64_t> ? Role::kUses : Role::kOther;
}

inline rl::memory_order OrderOf(Role role, Access access, std::memory_order order) {
  const auto& change = settings.change;
  if (change && change->role == role && change->access == access && change->from == order) order = change->to;
  switch (order) {
    case std::memory_order_relaxed:
      return rl::mo_relaxed;
    case std::memory_order_consume:
      return rl::mo_consume;
    case std::memory_order_acquire:
      return rl::mo_acquire;
    case std::memory_order_release:
      return rl::mo_release;
    case std::memory_order_acq_rel:
      return rl::mo_acq_rel;
    default:
      return rl::mo_seq_cst;
  }
}

// As std::atomic.
template <class T>
class RelacyAtomic {
 public:
  explicit RelacyAtomic(T value) : value_(value) {}
  T load(std::memory_order order) const { return value_.load(OrderOf(RoleOf<T>(), Access::kLoad, order), $); }
  void store(T value, std::memory_order order) { value_.store(value, OrderOf(RoleOf<T>(), Access::kStore, order), $); }
  T fetch_add(T value, std::memory_order order) {
    return value_.fetch_add(value, OrderOf(Role::kOther, Access::kLoad, order), $);
  }
  T fetch_sub(T value, std::memory_order order) {
    return value_.fetch_sub(value, OrderOf(RoleOf<T>(), Access::kEndUse, order), $);
  }

 private:
  rl::atomic<T> value_;
};

// Relacy tells of memory that is used after it was freed, read while it is written, freed twice or never.
struct RelacyWorld {
  template <class T>
  class Var {
   public:
    T get() const { return var_($); }
    void set(T value) { var_($) = value; }

   private:
    rl::var<T> var_;
  };
  class Mutex {
   public:
    void lock() { mutex_.lock($); }
    void unlock() { mutex_.unlock($); }

   private:
    rl::mutex mutex_;
  };
  template <class T, class... A>
  static T* New(A... arguments) {
    return RL_NEW_PROXY T(arguments...);
  }
  template <class T>
  static void Delete(T* object) {
    RL_DELETE_PROXY object;
  }
  static void Check(bool good) { RL_ASSERT(good); }
};

struct RelacyPolicy {
  template <class T>
  using Atomic = RelacyAtomic<T>;
  using Mark = RelacyAtomic<std::uint32_t>;
  static void ReaderFence() {
    if (settings.fence == Fence::kFences && settings.reader_fence) rl::atomic_thread_fence(rl::mo_seq_cst, $);
  }
  static void WriterFence() {
    if (!settings.writer_fence) return;
    if (settings.fence == Fence::kFences) {
      rl::atomic_thread_fence(rl::mo_seq_cst, $);
    } else {
      rl::systemwide_fence($);
    }
  }
  static void Wait() { rl::yield(1, $); }
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_RELACY_RELACY_POLICY_H_
