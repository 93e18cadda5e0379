// Wrong variants of registry/publication.h, each of which some program has to fail under relacy. Prints for each what
// failed, where, and in which execution; exit status 1 if one passes.
//
//   wrong_variants_test [VARIANT]
//
// With the name of a variant: just that one, and how it fails, step by step.

#include <string_view>
#include <vector>

#include "reference/relacy/programs.h"

namespace plumbline::reference {
namespace {

// ---- steps in a wrong order ----

enum class Steps {
  kRight,
  kUnmarksEarly,      // before the slot is loaded
  kCountsLate,        // after the section
  kLoadsTwoTables,    // one for the mask, one for the slot
  kFreesFirst,        // before Synchronize
  kEndsUseFirst,      // the registration's use of the kernel, before Synchronize
  kSkipsTheLastMark,  // in Synchronize
};
Steps steps_now = Steps::kRight;

struct WrongSteps : Publication<RelacyPolicy> {
  using Base = Publication<RelacyPolicy>;
  template <class Kernel>
  static void Count(std::uintptr_t word) {
    if ((word & kCounted) != 0) BeginUse(reinterpret_cast<const Kernel*>(word & ~kSlotFormBits)->references);
  }
  template <class Kernel, class Table, class Select>
  static std::uintptr_t Find(Mark& mark, const Atomic<Table*>& published, Select&& select) {
    BeginRead(mark);
    const Table* table = Load(published);
    if (steps_now == Steps::kUnmarksEarly) EndRead(mark);
    const Slot* slot = &select(*table);
    if (steps_now == Steps::kLoadsTwoTables) slot = &Load(published)->slot;
    const std::uintptr_t word = LoadSlot(*slot);
    if (steps_now != Steps::kCountsLate) Count<Kernel>(word);
    if (steps_now != Steps::kUnmarksEarly) EndRead(mark);
    if (steps_now == Steps::kCountsLate) Count<Kernel>(word);
    return word;
  }
  template <class Visit, class Free, class Kernels, class Drop>
  static void Reclaim(Visit&& visit, Free&& free, const Kernels& kernels, Drop&& drop) {
    if (steps_now == Steps::kFreesFirst) free();
    if (steps_now == Steps::kEndsUseFirst) {
      for (const auto& kernel : kernels) drop(kernel);
    }
    int left = steps_now == Steps::kSkipsTheLastMark ? 1 : 100;
    Synchronize([&](auto&& each) {
      visit([&](const Mark& mark) {
        if (left-- > 0) each(mark);
      });
    });
    if (steps_now != Steps::kFreesFirst) free();
    if (steps_now != Steps::kEndsUseFirst) {
      for (const auto& kernel : kernels) drop(kernel);
    }
  }
};

struct Variant {
  const char* name;
  RelacySettings settings;
  Steps steps = Steps::kRight;
};

const std::vector<Variant>& WrongVariants() {
  using enum std::memory_order;
  constexpr Fence kFences = Fence::kFences;
  // With fences: relacy's system-wide fence orders more than membarrier(2) does, also what other threads do after it.
  const auto changed = [](Role role, Access access, std::memory_order from, std::memory_order to) {
    RelacySettings changed = {.fence = Fence::kFences};
    changed.change = {role, access, from, to};
    return changed;
  };
  static const std::vector<Variant> variants = {
      {"no membarrier", {.writer_fence = false}},
      {"no fence of the writer", {.fence = kFences, .writer_fence = false}},
      {"no fence of the reader", {.fence = kFences, .reader_fence = false}},
      {"a seq_cst mark in place of the reader's fence",
       {.fence = kFences, .reader_fence = false, .change = {{Role::kMark, Access::kStore, relaxed, seq_cst}}}},
      {"publishes relaxed", changed(Role::kPointer, Access::kStore, release, relaxed)},
      {"loads the table relaxed", changed(Role::kPointer, Access::kLoad, acquire, relaxed)},
      {"unmarks relaxed", changed(Role::kMark, Access::kStore, release, relaxed)},
      {"reads the marks relaxed", changed(Role::kMark, Access::kLoad, acquire, relaxed)},
      {"ends a use without release", changed(Role::kUses, Access::kEndUse, acq_rel, acquire)},
      {"ends a use without acquire", changed(Role::kUses, Access::kEndUse, acq_rel, release)},
      {"unmarks before it loads the slot", {}, Steps::kUnmarksEarly},
      {"unmarks before it loads the slot, fences", {.fence = kFences}, Steps::kUnmarksEarly},
      {"counts after the section", {}, Steps::kCountsLate},
      {"mask and slot of two tables", {}, Steps::kLoadsTwoTables},
      {"frees before it synchronizes", {}, Steps::kFreesFirst},
      {"frees before it synchronizes, fences", {.fence = kFences}, Steps::kFreesFirst},
      {"ends the registration's use before it synchronizes", {}, Steps::kEndsUseFirst},
      {"does not wait for one of the threads", {}, Steps::kSkipsTheLastMark},
  };
  return variants;
}

template <int kThreads>
bool Fails(const Variant& variant, std::ostream* steps) {
  for (const Program program : kPrograms) {
    const Outcome outcome = RunUnderRelacy<WrongSteps, kThreads>(program, 20'000, steps);
    if (outcome.good) continue;
    std::cout << "ok    " << variant.name << ": " << outcome.what << " in " << Name(program) << ", " << kThreads
              << " threads, execution " << outcome.executions << std::endl;
    return true;
  }
  return false;
}

int Main(const char* only) {
  bool known = only == nullptr, passed = false;
  for (const Variant& variant : WrongVariants()) {
    if (only != nullptr && std::string_view(variant.name) != only) continue;
    known = true;
    settings = variant.settings;
    steps_now = variant.steps;
    std::ostream* const steps = only != nullptr ? &std::cout : nullptr;
    if (Fails<2>(variant, steps) || Fails<3>(variant, steps)) continue;
    std::cout << "FAIL  " << variant.name << ": no program fails" << std::endl;
    passed = true;
  }
  if (known) return passed ? 1 : 0;
  std::cerr << "wrong_variants_test: there is no variant '" << only << "'\n";
  return 2;
}

}  // namespace
}  // namespace plumbline::reference

int main(int argc, char** argv) { return plumbline::reference::Main(argc > 1 ? argv[1] : nullptr); }
