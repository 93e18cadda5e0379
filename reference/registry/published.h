// What the call path reads: an operator's published table, and the view of it that calls of one signature use.
//
// A table is immutable, but for slots that go from unresolved to resolved, under the registry's lock, while the table
// is the current one: that changes no answer, so it needs no new snapshot. Everything else that changes (a kernel, a
// fallback, a fallthrough, a chain) makes a new table, and masks and slots always come from one and the same table. Why
// that is safe while calls read it: publication.h.
//
// A slot is a word: the address of the kernel's context, and in its low bits how to call it (SlotForm). Of the three,
// only kDirect is called inline without further ado. So whatever needs care costs the ordinary call a single test.
//
// A view exists for each C++ signature that the operator is called with, and one for boxed calls. In a view of another
// signature than the kernel's, and where the kernel is boxed, slots are kIndirect: the slow path boxes the arguments.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_PUBLISHED_H_
#define PLUMBLINE_REFERENCE_REGISTRY_PUBLISHED_H_

#include <atomic>
#include <cstdint>

#include "reference/boxing/kernel.h"
#include "reference/keys/key_table.h"
#include "reference/registry/publication.h"

namespace plumbline::reference {

class OperatorEntry;

struct Table {
  std::uint64_t masks[KeySet::kComponents + 1];  // keys that do not fall through, by component position
  Rows rows;                             // as the key table's, but offsets count words from the start of this object
  std::atomic<std::uintptr_t> slots[1];  // as many as the key table has

  static Table* Make(const KeyTable& keys);  // all slots unresolved, all masks full
  static void Delete(Table* table);
  static constexpr std::uint32_t kSlotsAt = (KeySet::kComponents + 1) + 64;

  // The mask for a set, by its highest component.
  KeySet Mask(KeySet set) const { return KeySet::FromWord(set.bits() & masks[set.component_position()]); }
  // The slot that a set selects, as a word of this object.
  const std::atomic<std::uintptr_t>& At(KeySet set, std::uint32_t component) const {
    const Row& row = rows[set.functionality_position()];
    return reinterpret_cast<const std::atomic<std::uintptr_t>*>(this)[(component & row.mask) + row.offset];
  }
  const std::atomic<std::uintptr_t>& At(KeySet set) const {
    return At(set, static_cast<std::uint32_t>(set.component_position()));
  }
};
static_assert(sizeof(Table) == (Table::kSlotsAt + 1) * sizeof(std::uint64_t));

struct View {
  // That of the registry's key table while calls may take the inline path, else 0, which is no thread's number.
  std::atomic<std::uint32_t> number{0};
  std::atomic<Table*> table{nullptr};
  const Signature* signature = nullptr;  // null: boxed
  OperatorEntry* op = nullptr;
};

inline const KernelContext* ContextOf(std::uintptr_t slot) {
  return reinterpret_cast<const KernelContext*>(slot & ~kSlotFormBits);
}

// Ends one use of a releasable kernel; the last use destroys it.
void DropKernel(const KernelContext* kernel);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_PUBLISHED_H_
