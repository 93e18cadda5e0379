// Operators by name: readers probe without a lock, one writer at a time changes the table in place.
//
// Open addressing with linear probing. A reader runs inside a read section; what a writer takes out (an entry, or the
// whole array when it grows) is freed only after Synchronize, so that a reader never meets freed memory.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_NAME_TABLE_H_
#define PLUMBLINE_REFERENCE_REGISTRY_NAME_TABLE_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "reference/registry/operator_entry.h"

namespace plumbline::reference {

// Eight bytes a round; the last, partial round reads them overlapping or byte by byte.
inline std::uint64_t HashName(std::string_view name) {
  const char* at = name.data();
  std::size_t left = name.size();
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ left;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (left > 0 && name.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, name.data() + name.size() - 8, 8);
    mix(word);
  } else if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    mix(word);
  }
  return hash;
}

class NameTable {
 public:
  struct Array {
    std::size_t mask;
    std::unique_ptr<std::atomic<OperatorEntry*>[]> at;
  };

  NameTable() : array_(MakeArray(64)) {}
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;
  ~NameTable() { delete array_.load(std::memory_order_relaxed); }

  // Inside a read section or under the writers' lock.
  OperatorEntry* Find(std::string_view name, std::uint64_t hash) const {
    const Array* array = array_.load(std::memory_order_acquire);
    for (std::size_t i = hash & array->mask;; i = (i + 1) & array->mask) {
      OperatorEntry* entry = array->at[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry != Gone() && entry->hash() == hash && entry->name() == name) return entry;
    }
  }

  // Under the writers' lock. Returns the array that was replaced, to be deleted after Synchronize, or null.
  Array* Insert(OperatorEntry* entry) {
    Array* replaced = nullptr;
    if (4 * (used_ + 1) > 3 * (array_.load(std::memory_order_relaxed)->mask + 1)) replaced = Rebuild();
    Put(array_.load(std::memory_order_relaxed), entry);
    ++used_;
    ++live_;
    return replaced;
  }
  void Erase(OperatorEntry* entry) {
    Array* array = array_.load(std::memory_order_relaxed);
    for (std::size_t i = entry->hash() & array->mask;; i = (i + 1) & array->mask) {
      if (array->at[i].load(std::memory_order_relaxed) != entry) continue;
      array->at[i].store(Gone(), std::memory_order_release);
      --live_;
      return;
    }
  }

 private:
  static OperatorEntry* Gone() { return reinterpret_cast<OperatorEntry*>(std::uintptr_t{1}); }
  static Array* MakeArray(std::size_t size) {
    return new Array{size - 1, std::make_unique<std::atomic<OperatorEntry*>[]>(size)};
  }
  static void Put(Array* array, OperatorEntry* entry) {
    std::size_t i = entry->hash() & array->mask;
    while (array->at[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & array->mask;
    array->at[i].store(entry, std::memory_order_release);
  }
  Array* Rebuild() {
    Array* old = array_.load(std::memory_order_relaxed);
    std::size_t size = 64;
    while (size < 3 * (live_ + 1)) size *= 2;
    Array* fresh = MakeArray(size);
    for (std::size_t i = 0; i <= old->mask; ++i) {
      OperatorEntry* entry = old->at[i].load(std::memory_order_relaxed);
      if (entry != nullptr && entry != Gone()) Put(fresh, entry);
    }
    used_ = live_;
    array_.store(fresh, std::memory_order_release);
    return old;
  }

  std::atomic<Array*> array_;
  std::size_t used_ = 0, live_ = 0;  // cells that are not null; of them, entries
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_NAME_TABLE_H_
