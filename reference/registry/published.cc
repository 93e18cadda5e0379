#include "reference/registry/published.h"

#include <algorithm>
#include <new>

#include "reference/faults/faults.h"
#include "reference/registry/reclaim.h"

namespace plumbline::reference {

Table* Table::Make(const KeyTable& keys) {
  const std::size_t slots = static_cast<std::size_t>(keys.slot_count());
  void* memory = ::operator new(sizeof(Table) + (slots - 1) * sizeof(std::atomic<std::uintptr_t>));
  Table* table = static_cast<Table*>(memory);
  std::fill(std::begin(table->masks), std::end(table->masks), ~std::uint64_t{0});
  for (std::size_t i = 0; i < std::size(table->rows); ++i) {
    table->rows[i] = {keys.rows()[i].mask, keys.rows()[i].offset + kSlotsAt};
  }
  for (std::size_t i = 0; i < slots; ++i) new (&table->slots[i]) std::atomic<std::uintptr_t>(kIndirect);
  return table;
}

void Table::Delete(Table* table) { ::operator delete(table); }

void DropKernel(const KernelContext* kernel) {
  if (PLUMBLINE_FAULT(count_is_no_single_step)) {
    const auto uses = kernel->references.load(std::memory_order_relaxed);
    kernel->references.store(uses - 1, std::memory_order_relaxed);
    if (uses != 1) return;
  } else if (PLUMBLINE_FAULT(last_use_is_counted_twice)) {
    kernel->references.fetch_sub(1, std::memory_order_acq_rel);
    if (kernel->references.load(std::memory_order_relaxed) != 0) return;
  } else if (!Core::EndUse(kernel->references)) {
    return;
  }
  const std::shared_ptr<std::atomic<std::int64_t>> undead = kernel->undead;
  delete kernel;
  if (undead == nullptr) return;
  undead->fetch_sub(1, std::memory_order_acq_rel);
  undead->notify_all();
}

}  // namespace plumbline::reference
