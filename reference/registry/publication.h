// How what calls read is replaced while they read it: the whole of it, as a template over what it is built on.
//
//   using Core = Publication<Membarrier>;                                // registry/reclaim.h
//
//   // A call                                                            // A writer, who holds the registry's lock
//   word = Core::Find<KernelContext>(mark, published, select);           Core::Publish(published, next);
//   ... runs the kernel of `word` ...                                    ... lets go of the lock ...
//   if (counted && Core::EndUse(kernel->references)) delete kernel;      Core::Reclaim(marks, free_old, kernels, drop);
//
// The policy says what an atomic is, what the two fences are, and how a writer waits. The reference runs
// Publication<Membarrier>, and Publication<Fences> where membarrier(2) is missing; the programs in reference/relacy run
// the same lines under a checker that tries all that the C++ memory model allows, and show that it finds each mistake
// named below. `./dev mutants` shows that no line is here for nothing.
//
// ---- The parts
//
//   mark       one word a thread; 1 while the thread is in a *read section*
//   published  the pointer to an operator's current table. A table is immutable, but for slots that go from unresolved
//              to resolved under the lock while it is the current one
//   slot       a word of a table: a kernel's address, and how to call it
//   uses       of a releasable kernel: one for its registration, one for each call that runs it
//
// A section is: mark, load the table, load the slot, count if the kernel is releasable, unmark. It holds no user code,
// no lock and no wait. The kernel runs after it. A writer makes the old table unreachable (Publish), lets go of the
// lock, waits until no section can hold the old one (Synchronize), frees it, and only then ends the registration's use
// of the kernel (Reclaim).
//
// ---- No call sees a freed table
//
// [F] Of a section and a Synchronize, one sees the other: *either* the section loads what was published before the
//     Synchronize began, or later, *or* the Synchronize reads the section's mark, 1 or what came after it.
//     Both sides store, fence, load: the section its mark, then the table; the writer the table, then the marks.
//     - Fences: both fences are seq_cst, so one comes before the other in their single order, and the side whose fence
//       is the later one reads what the other stored. The order of the loads themselves adds nothing. A seq_cst store
//       of the mark in place of the fence is not enough by the standard: a later load that is not seq_cst may be taken
//       before it.
//     - Membarrier: the writer has every thread run a full fence at some point within the system call. If a section's
//       mark comes before that point in its thread, the writer reads it; if it comes after, so does its load of the
//       table. The section pays only for a compiler's fence, so that the mark is stored first in the machine's code
//       too.
//     Without the reader's fence or the writer's, both may read the old values, and the writer frees what is read.
// [R] The writer waits until it has read 0 from each mark. That 0 was stored with release after all that the section
//     read, and is read with acquire: what the section did happens before the free. With either relaxed, the free may
//     overtake the last reads of the section.
// [P] A table is published with release and loaded with acquire: what is in it happens before what a section reads of
//     it. With either relaxed, a section may read a table's memory as it was before the table was made.
// [T] A thread is in the writers' list before its first section begins; list and visits have one lock. So a writer who
//     does not visit it holds that lock earlier, and the thread's sections load what was published before.
//
// ---- No call sees a freed kernel
//
// [K] A kernel is made and entered in the registry before any table that can hold it is published, since each change of
//     an operator's kernels replaces its table. So [P] covers kernels, and slots need no order of their own: a slot
//     that is filled late holds nothing younger than its table.
// [C] A section counts the kernel while it is in it; the registration's own use ends after Synchronize. So the count is
//     at least one when a section raises it, and whoever lowers it to zero is the last: no section can find the kernel
//     again, for no reachable table holds it. Counted after the section, or the registration's use ended before
//     Synchronize, a call could raise a count that was zero.
// [L] Uses end with release, and the last one with acquire: all calls of a kernel happen before its destruction. To
//     raise the count takes no order, as for any reference count: the kernel is held already.
// Permanent kernels are not counted; they are freed with the registry, which calls must not outlive.
//
// ---- Mask and slot are of one moment
//
// Both are in the table, and a section loads the table once. Were it loaded twice, or the mask published by itself, a
// call could pass over a key by one table's mask and look for its kernel in another's slots.
//
// ---- A change that has returned is seen
//
// The table is stored before the writer returns, so for a call that starts later in the order of the program's own
// synchronisation an older table is not there to read. A slot is filled only while its table is the current one, which
// takes the lock; so no old answer is entered after a change.
//
// ---- Writers do not wait for user code
//
// They wait for marks only, and no mark is 1 while a kernel runs, so a kernel may register and release. A thread that
// calls without pause is seen at 0 by chance, as most of its time is outside sections; there is no bound, but each look
// is another chance. Synchronize within a section would wait for itself, and a call from a signal handler that
// interrupts a section would end it: both are not allowed.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_PUBLICATION_H_
#define PLUMBLINE_REFERENCE_REGISTRY_PUBLICATION_H_

#include <atomic>
#include <cstdint>

namespace plumbline::reference {

enum SlotForm : std::uintptr_t {
  kDirect = 0,    // typed as the view says, permanent
  kCounted = 1,   // typed as the view says, releasable: runs under a count
  kIndirect = 2,  // anything else; no address: not resolved, or not to be called
};
inline constexpr std::uintptr_t kSlotFormBits = 3;

template <class Policy>
struct Publication {
  template <class T>
  using Atomic = typename Policy::template Atomic<T>;
  using Mark = typename Policy::Mark;
  using Slot = Atomic<std::uintptr_t>;
  using Uses = Atomic<std::int64_t>;

  // ---- calls ----

  static void BeginRead(Mark& mark) {
    mark.store(1, std::memory_order_relaxed);
    Policy::ReaderFence();  // [F]
  }
  static void EndRead(Mark& mark) {
    mark.store(0, std::memory_order_release);  // [R]
  }

  // Within a section, for what Publish published.
  template <class T>
  static T* Load(const Atomic<T*>& published) {
    return published.load(std::memory_order_acquire);  // [P]
  }
  static std::uintptr_t LoadSlot(const Slot& slot) {
    return slot.load(std::memory_order_relaxed);  // [K]
  }
  // Within a section or under the lock: it is in force. [C]
  static void BeginUse(Uses& uses) { uses.fetch_add(1, std::memory_order_relaxed); }
  // True: it was the last use, and the caller destroys the kernel.
  [[nodiscard]] static bool EndUse(Uses& uses) {
    return uses.fetch_sub(1, std::memory_order_acq_rel) == 1;  // [L]
  }

  // A whole section: the word of the slot that `select` takes from the table. A kernel of the form kCounted is in use.
  template <class Kernel, class Table, class Select>
  [[gnu::always_inline]] static std::uintptr_t Find(Mark& mark, const Atomic<Table*>& published, Select&& select) {
    BeginRead(mark);
    const Table* const table = Load(published);
    const std::uintptr_t word = LoadSlot(select(*table));
    if ((word & kSlotFormBits) == kDirect) [[likely]] {
      EndRead(mark);
      return word;
    }
    if ((word & kCounted) != 0) BeginUse(reinterpret_cast<const Kernel*>(word & ~kSlotFormBits)->references);
    EndRead(mark);
    return word;
  }

  // ---- writers ----

  // Under the lock; the slot's table is the current one.
  static void FillSlot(Slot& slot, std::uintptr_t word) {
    slot.store(word, std::memory_order_relaxed);  // [K]
  }
  // Under the lock.
  template <class T>
  static void Publish(Atomic<T*>& published, T* next) {
    published.store(next, std::memory_order_release);  // [P]
  }

  // Returns when no section can hold what was published before. `visit` gives its argument each thread's mark. [T]
  template <class Visit>
  static void Synchronize(Visit&& visit) {
    Policy::WriterFence();  // [F]
    visit([](const Mark& mark) {
      while (mark.load(std::memory_order_acquire) != 0) Policy::Wait();  // [R]
    });
  }
  // Without the lock. `free` frees what no new section can reach; then the registrations' uses of `kernels` end.
  template <class Visit, class Free, class Kernels, class Drop>
  static void Reclaim(Visit&& visit, Free&& free, const Kernels& kernels, Drop&& drop) {
    Synchronize(visit);
    free();
    for (const auto& kernel : kernels) drop(kernel);  // [C]
  }
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_PUBLICATION_H_
