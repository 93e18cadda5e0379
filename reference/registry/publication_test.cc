// The steps of the publication core, one by one, and all of them at once by real threads: of use under the sanitizers.
#include "reference/registry/publication.h"

#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "reference/registry/reclaim.h"
#include "reference/relacy/operator_model.h"

namespace plumbline::reference {
namespace {

using testing::ElementsAre;

struct TestKernel {
  mutable std::atomic<std::int64_t> references{1};
};
struct TestTable {
  std::atomic<std::uintptr_t> slots[2] = {kIndirect, kIndirect};
};

template <class Policy>
class PublicationTest : public testing::Test {
 protected:
  using Core = Publication<Policy>;
  std::uintptr_t Find() {
    return Core::template Find<TestKernel>(
        mark_, published_, [this](const TestTable& table) -> const auto& {
          mark_inside_ = mark_.load();
          return table.slots[1];
        });
  }
  std::uintptr_t Word(SlotForm form) { return reinterpret_cast<std::uintptr_t>(&kernel_) | form; }

  TestKernel kernel_;
  TestTable table_;
  std::atomic<const TestTable*> published_{&table_};
  std::atomic<std::uint32_t> mark_{0};
  std::uint32_t mark_inside_ = 0;
};
using Policies = testing::Types<Membarrier, Fences>;
TYPED_TEST_SUITE(PublicationTest, Policies);

TYPED_TEST(PublicationTest, FindGivesTheSelectedSlotWithinAMark) {
  TestFixture::Core::FillSlot(this->table_.slots[1], this->Word(kDirect));
  EXPECT_EQ(this->Find(), this->Word(kDirect));
  EXPECT_EQ(this->mark_inside_, 1u);
  EXPECT_EQ(this->mark_, 0u);
  EXPECT_EQ(this->kernel_.references, 1);
}

TYPED_TEST(PublicationTest, FindCountsReleasableKernelsOnly) {
  TestFixture::Core::FillSlot(this->table_.slots[1], this->Word(kCounted));
  EXPECT_EQ(this->Find(), this->Word(kCounted));
  EXPECT_EQ(this->mark_, 0u);
  EXPECT_EQ(this->kernel_.references, 2);
  TestFixture::Core::FillSlot(this->table_.slots[1], this->Word(kIndirect));
  EXPECT_EQ(this->Find(), this->Word(kIndirect));
  EXPECT_EQ(this->mark_, 0u);
  EXPECT_EQ(this->kernel_.references, 2);
}

TYPED_TEST(PublicationTest, FindReadsWhatWasPublishedLast) {
  TestTable next;
  next.slots[1] = this->Word(kDirect);
  EXPECT_EQ(this->Find(), std::uintptr_t{kIndirect});
  TestFixture::Core::template Publish<const TestTable>(this->published_, &next);
  EXPECT_EQ(this->Find(), this->Word(kDirect));
}

TYPED_TEST(PublicationTest, TheLastUseIsTold) {
  TestFixture::Core::BeginUse(this->kernel_.references);
  TestFixture::Core::BeginUse(this->kernel_.references);
  EXPECT_FALSE(TestFixture::Core::EndUse(this->kernel_.references));
  EXPECT_FALSE(TestFixture::Core::EndUse(this->kernel_.references));
  EXPECT_TRUE(TestFixture::Core::EndUse(this->kernel_.references));
}

TYPED_TEST(PublicationTest, ReclaimWaitsForEachSectionThenFreesThenDrops) {
  std::atomic<std::uint32_t> marks[2] = {0, 0};
  std::atomic<bool> over{false};
  std::vector<std::string> steps;
  TestFixture::Core::BeginRead(marks[1]);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    over = true;
    TestFixture::Core::EndRead(marks[1]);
  });
  const std::vector<std::string> kernels = {"drop a", "drop b"};
  TestFixture::Core::Reclaim(
      [&](auto each) {
        for (auto& mark : marks) each(mark);
        steps.push_back(over ? "waited" : "did not wait");
      },
      [&] { steps.push_back("free"); }, kernels, [&](const std::string& kernel) { steps.push_back(kernel); });
  reader.join();
  EXPECT_THAT(steps, ElementsAre("waited", "free", "drop a", "drop b"));
}

struct OrdinaryWorld {
  template <class T>
  class Var {
   public:
    T get() const { return value_; }
    void set(T value) { value_ = value; }

   private:
    T value_;
  };
  using Mutex = std::mutex;
  static inline std::atomic<std::int64_t> alive{0};
  template <class T, class... A>
  static T* New(A... arguments) {
    ++alive;
    return new T(arguments...);
  }
  template <class T>
  static void Delete(T* object) {
    --alive;
    delete object;
  }
  static void Check(bool good) {
    if (!good) ++failures;
  }
  static inline std::atomic<std::int64_t> failures{0};
};

// Two threads call while a third registers and releases.
TYPED_TEST(PublicationTest, HoldsUnderThreads) {
  OrdinaryWorld::failures = 0;
  {
    OperatorModel<typename TestFixture::Core, OrdinaryWorld, 3> op;
    for (int i = 0; i < 3; ++i) op.Enter(i);
    op.Register(1, Life::kPermanent);
    std::atomic<int> newest{1};
    std::atomic<bool> done{false};
    std::vector<std::thread> readers;
    for (int reader = 1; reader < 3; ++reader) {
      readers.emplace_back([&, reader] {
        int last = 1;
        while (!done.load(std::memory_order_relaxed)) {
          const int value = op.Call(reader);
          // Releases bring back the first kernel; no other is older than what was called before.
          OrdinaryWorld::Check(value == 1 || (value >= last && value <= newest.load(std::memory_order_relaxed)));
          if (value != 1) last = value;
        }
      });
    }
    for (int i = 2; i < 10000; ++i) {
      newest.store(i, std::memory_order_relaxed);
      auto* const kernel = op.Register(i, Life::kReleasable);
      OrdinaryWorld::Check(op.Call(0) == i);
      op.Release(kernel);
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_EQ(OrdinaryWorld::failures, 0);
  EXPECT_EQ(OrdinaryWorld::alive, 0);
}

}  // namespace
}  // namespace plumbline::reference
