// One operator, as the registry keeps it, small enough for a checker: kernels of which the newest answers, a published
// table with one slot, the lock, and the list of threads. What calls and writers do to it, they do through `Core`,
// which is a Publication or a wrong variant of it. `World` gives memory, plain variables and mutexes: relacy's, or
// ordinary ones for the sanitizers.
//
//   OperatorModel<Core, World, 2> op;             // for two threads
//   auto* first = op.Register(1, Life::kReleasable);
//   op.Enter(thread);
//   op.Call(thread) == 1;
//   op.Release(first);
//
// Any of its threads; made and destroyed while none runs.
#ifndef PLUMBLINE_REFERENCE_RELACY_OPERATOR_MODEL_H_
#define PLUMBLINE_REFERENCE_RELACY_OPERATOR_MODEL_H_

#include <cstdint>

#include "reference/registry/publication.h"

namespace plumbline::reference {

enum class Life { kPermanent, kReleasable };

template <class Core, class World, int kThreads>
class OperatorModel {
 public:
  struct KernelModel {
    KernelModel(int given, Life life) : permanent(life == Life::kPermanent), references(1) { value.set(given); }
    ~KernelModel() { value.set(-1); }  // a race with whoever reads it at the same time
    typename World::template Var<int> value;
    const bool permanent;
    mutable typename Core::Uses references;
  };

  OperatorModel() : cold_(nullptr), published_(&cold_) {
    for (auto& mark : marks_) mark = World::template New<typename Core::Mark>(0u);
  }
  OperatorModel(const OperatorModel&) = delete;
  OperatorModel& operator=(const OperatorModel&) = delete;
  ~OperatorModel() {
    TableModel* const table = published_.load(std::memory_order_relaxed);
    if (table != &cold_) World::Delete(table);
    for (int i = 0; i < count_; ++i) World::Delete(kernels_[i]);
    for (auto& mark : marks_) World::Delete(mark);
  }

  // As a thread does before its first call.
  void Enter(int thread) {
    threads_.lock();
    known_[thread] = true;
    threads_.unlock();
  }

  KernelModel* Register(int value, Life life) {
    KernelModel* const kernel = World::template New<KernelModel>(value, life);
    lock_.lock();
    kernels_[count_++] = kernel;
    TableModel* const old = Withdraw();
    lock_.unlock();
    Reclaim(old, nullptr);
    return kernel;
  }

  void Release(KernelModel* kernel) {
    lock_.lock();
    int at = 0;
    while (kernels_[at] != kernel) ++at;
    for (--count_; at < count_; ++at) kernels_[at] = kernels_[at + 1];
    TableModel* const old = Withdraw();
    lock_.unlock();
    Reclaim(old, kernel);
  }

  // What the newest kernel gives; 0 if there is none.
  int Call(int thread) {
    int promised = 0;  // by the table; 0: it answers nothing
    const std::uintptr_t word = Core::template Find<KernelModel>(
        *marks_[thread], published_, [&](const TableModel& table) -> const typename Core::Slot& {
          promised = table.newest.get();
          return table.slot;
        });
    KernelModel* kernel = Of(word);
    bool counted = (word & kCounted) != 0;
    if (kernel == nullptr) {
      promised = 0;
      lock_.lock();
      kernel = count_ == 0 ? nullptr : kernels_[count_ - 1];
      if (kernel != nullptr) {
        TableModel* table = published_.load(std::memory_order_relaxed);
        if (table == &cold_) Core::Publish(published_, table = World::template New<TableModel>(kernel));
        Core::FillSlot(table->slot, Word(kernel));
        counted = !kernel->permanent;
        if (counted) Core::BeginUse(kernel->references);
      }
      lock_.unlock();
      if (kernel == nullptr) return 0;
    }
    const int value = kernel->value.get();
    World::Check(promised == 0 || promised == value);
    if (counted) EndUse(kernel);
    return value;
  }

 private:
  struct TableModel {
    explicit TableModel(KernelModel* kernel) : slot(std::uintptr_t{kIndirect}) {
      newest.set(kernel == nullptr ? 0 : kernel->value.get());
    }
    ~TableModel() { newest.set(-1); }
    typename World::template Var<int> newest;  // as masks are: fixed with the table
    typename Core::Slot slot;
  };

  static KernelModel* Of(std::uintptr_t word) { return reinterpret_cast<KernelModel*>(word & ~kSlotFormBits); }
  static std::uintptr_t Word(KernelModel* kernel) {
    return reinterpret_cast<std::uintptr_t>(kernel) | (kernel->permanent ? kDirect : kCounted);
  }
  static void EndUse(KernelModel* kernel) {
    if (Core::EndUse(kernel->references)) World::Delete(kernel);
  }

  TableModel* Withdraw() {
    TableModel* const old = published_.load(std::memory_order_relaxed);
    if (old == &cold_) return nullptr;
    Core::Publish(published_, &cold_);
    return old;
  }

  struct Released {
    KernelModel* kernel;
    KernelModel* const* begin() const { return &kernel; }
    KernelModel* const* end() const { return &kernel + (kernel != nullptr); }
  };
  void Reclaim(TableModel* old, KernelModel* kernel) {
    if (old == nullptr && kernel == nullptr) return;
    Core::Reclaim(
        [this](auto&& each) {
          threads_.lock();
          for (int i = 0; i < kThreads; ++i) {
            if (known_[i]) each(*marks_[i]);
          }
          threads_.unlock();
        },
        [old] {
          if (old != nullptr) World::Delete(old);
        },
        Released{kernel}, &EndUse);
  }

  TableModel cold_;
  typename Core::template Atomic<TableModel*> published_;
  typename Core::Mark* marks_[kThreads];
  typename World::Mutex threads_;
  bool known_[kThreads] = {};  // [threads_]
  typename World::Mutex lock_;
  KernelModel* kernels_[4] = {};  // oldest first [lock_]
  int count_ = 0;                 // [lock_]
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_RELACY_OPERATOR_MODEL_H_
