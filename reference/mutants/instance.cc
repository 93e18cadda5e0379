// The publication core as the reference uses it, for mutate.py: mutants of the same LLVM code as this are the same.
#include <span>

#include "reference/registry/reclaim.h"

namespace plumbline::reference {

struct InstanceKernel {
  mutable std::atomic<std::int64_t> references;
};
struct InstanceTable {
  std::atomic<std::uintptr_t> slots[64];
};

template <class Policy>
struct Instance {
  using Core = Publication<Policy>;
  static std::uintptr_t Find(std::atomic<std::uint32_t>& mark, const std::atomic<InstanceTable*>& published, int at) {
    return Core::template Find<InstanceKernel>(
        mark, published, [at](const InstanceTable& table) -> const auto& { return table.slots[at]; });
  }
  static InstanceTable* Load(const std::atomic<InstanceTable*>& published) { return Core::Load(published); }
  static void Publish(std::atomic<InstanceTable*>& published, InstanceTable* table) { Core::Publish(published, table); }
  static void Reclaim(std::span<std::atomic<std::uint32_t>> marks, void (*free)(),
                      std::span<InstanceKernel* const> kernels, void (*drop)(InstanceKernel*)) {
    Core::Reclaim(
        [marks](auto&& each) {
          for (auto& mark : marks) each(mark);
        },
        free, kernels, drop);
  }
};

template struct Publication<Membarrier>;
template struct Publication<Fences>;
template struct Instance<Membarrier>;
template struct Instance<Fences>;

}  // namespace plumbline::reference
