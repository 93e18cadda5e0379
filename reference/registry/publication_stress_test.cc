// Threads that call one operator without pause, typed, boxed and by redispatch, while another registers and releases
// kernels for it: each call must give what was in force at some moment of it, each kernel's callable must be destroyed
// once and not while it runs, and at the end nothing is left. Short by default; PLUMBLINE_STRESS=full makes twenty
// million calls against two hundred thousand changes for each number of readers. PLUMBLINE_NO_MEMBARRIER tests the
// other fences.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "reference/dispatch/operator.h"
#include "reference/registry/reclaim.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {
namespace {

constexpr std::int64_t kBase = -1;  // what the kernel gives that always stays

struct Tally {
  std::atomic<std::int64_t> made{0}, destroyed{0}, run_dead{0}, destroyed_twice{0};
};

// A kernel's callable: knows whether it lives. What it points to stays, so that a late call is seen and not just fatal.
struct Life {
  std::atomic<int> alive{1};
  Tally& tally;
  explicit Life(Tally& of) : tally(of) { ++tally.made; }
};
class Callable {
 public:
  Callable(Life& life, std::int64_t value) : life_(&life), value_(value) {}
  Callable(Callable&& other) noexcept : life_(std::exchange(other.life_, nullptr)), value_(other.value_) {}
  ~Callable() {
    if (life_ == nullptr) return;
    ++life_->tally.destroyed;
    if (life_->alive.exchange(0) == 0) ++life_->tally.destroyed_twice;
  }
  std::int64_t operator()(const Tensor&) const { return Run(); }
  std::int64_t Run() const {
    Life& life = *life_;
    if (life.alive.load(std::memory_order_relaxed) == 0) ++life.tally.run_dead;
    const std::int64_t value = value_;
    if (life.alive.load(std::memory_order_relaxed) == 0) ++life.tally.run_dead;
    return value;
  }

 private:
  Life* life_;
  std::int64_t value_;
};
struct BoxedCallable : Callable {
  using Callable::Callable;
  void operator()(BoxedCall& call) const {
    const std::int64_t value = Run();
    call.stack.Drop(1);
    call.stack.Push(Value(value));
  }
};

struct Sizes {
  std::int64_t calls, changes;
};
Sizes SizesNow() {
  const char* const full = std::getenv("PLUMBLINE_STRESS");
  if (full != nullptr && std::string_view(full) == "full") return {20'000'000, 200'000};
  return {1'000'000, 10'000};
}

class StressTest : public testing::TestWithParam<int> {
 protected:
  // After change 2 n + 1 kernel n is in force, after 2 n + 2 the base alone. Changes up to `done` had returned when the
  // call began, and none after `begun` had begun when it ended.
  static bool InForce(std::int64_t value, std::int64_t done, std::int64_t begun) {
    if (value == kBase) return begun > done || done % 2 == 0;
    return done <= 2 * value + 1 && 2 * value + 1 <= begun;
  }

  void Read(int reader) {
    const TypedOperator<std::int64_t(const Tensor&)> typed = op_->typed<std::int64_t(const Tensor&)>();
    const KeySet keys = registry_.keys().SetOfNames({"CPU", "AutogradCPU"});
    const KeySet plain = registry_.keys().SetOfNames({"CPU"});
    const Tensor tensor = Tensor::Make(keys);
    Stack stack;
    std::int64_t wrong = 0, errors = 0, calls = 0, served = 0;
    for (; !over_.load(std::memory_order_relaxed); ++calls) {
      const std::int64_t done = done_.load(std::memory_order_acquire);
      std::int64_t value = 0;
      bool below = false;  // what is registered at the autograd key is passed by
      try {
        switch ((calls + reader) % 8) {
          case 5:
            stack.Push(Value(tensor));
            op_->CallBoxed(stack);
            value = stack.Pop().ToInt();
            break;
          case 6:
            below = true;
            value = typed.redispatch(plain, tensor);
            break;
          default:
            value = typed.call(tensor);
        }
      } catch (const DispatchError&) {
        ++errors;
        continue;
      }
      const std::int64_t begun = begun_.load(std::memory_order_acquire);
      served += value != kBase;
      if (!below || value != kBase) wrong += !InForce(value, done, begun) || (below && value % 2 != 0);
      if ((calls & 1023) == 0) calls_.fetch_add(1024, std::memory_order_relaxed);
    }
    wrong_ += wrong;
    errors_ += errors;
    served_ += served;
    all_calls_ += calls;
    if (thread_state.kernels_running != 0) ++wrong_;
  }

  void Write(const Sizes& sizes) {
    const auto let_readers_call = [this] {
      const std::int64_t before = calls_.load(std::memory_order_relaxed);
      while (calls_.load(std::memory_order_relaxed) == before) std::this_thread::yield();
    };
    let_readers_call();
    for (std::int64_t n = 0; 2 * n < sizes.changes || calls_.load(std::memory_order_relaxed) < sizes.calls; ++n) {
      if (lives_.size() <= static_cast<std::size_t>(n)) lives_.push_back(std::make_unique<Life>(tally_));
      Life& life = *lives_.back();
      const char* const key = n % 2 == 0 ? "CPU" : "AutogradCPU";  // at the second, the mask changes with the slot
      begun_.store(2 * n + 1, std::memory_order_release);
      Registration registration = registry_.Impl(
          "demo::f", key, n % 8 < 6 ? Kernel::From(Callable(life, n)) : Kernel::FromBoxed(BoxedCallable(life, n)), "w");
      done_.store(2 * n + 1, std::memory_order_release);
      if (n < 16) let_readers_call();  // also where threads share one processor
      begun_.store(2 * n + 2, std::memory_order_release);
      registration.Release();
      done_.store(2 * n + 2, std::memory_order_release);
      changes_ = 2 * n + 2;
    }
    over_ = true;
  }

  Registry registry_{KeyTable::ForRelease("pytorch-1.13")};
  std::unique_ptr<Operator> op_;
  std::atomic<std::int64_t> begun_{0}, done_{0}, calls_{0}, wrong_{0}, errors_{0}, served_{0}, all_calls_{0};
  std::atomic<bool> over_{false};
  std::int64_t changes_ = 0;
  Tally tally_;
  std::vector<std::unique_ptr<Life>> lives_;
};

std::int64_t Base(const Tensor&) { return kBase; }

TEST_P(StressTest, EachCallGivesWhatWasInForce) {
  EXPECT_EQ(asymmetric, std::getenv("PLUMBLINE_NO_MEMBARRIER") == nullptr);
  const Registration definition = registry_.Define("demo::f(Tensor a) -> int", "d");
  const Registration base = registry_.Impl("demo::f", "CPU", Kernel::FromFunction<&Base>().Permanent(), "b");
  op_ = std::make_unique<Operator>(Operator::Find(registry_, "demo::f"));
  std::vector<std::thread> readers;
  for (int reader = 0; reader < GetParam(); ++reader) readers.emplace_back([this, reader] { Read(reader); });
  Write(SizesNow());
  for (std::thread& reader : readers) reader.join();
  registry_.Drain();
  EXPECT_EQ(wrong_, 0);
  EXPECT_EQ(errors_, 0);
  EXPECT_GT(served_, 0) << "no call met a kernel of the writer";
  EXPECT_EQ(tally_.destroyed, tally_.made);
  EXPECT_EQ(tally_.destroyed_twice, 0);
  EXPECT_EQ(tally_.run_dead, 0);
  std::cout << (asymmetric ? "membarrier" : "fences") << ", " << GetParam() << " readers: " << all_calls_ << " calls, "
            << changes_ << " changes, " << served_ << " calls of a kernel that came and went\n";
}

INSTANTIATE_TEST_SUITE_P(Readers, StressTest, testing::Values(1, 2));

}  // namespace
}  // namespace plumbline::reference
