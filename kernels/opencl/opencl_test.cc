// The device from inside: its memory, its queue, its errors. What its operators compute is checked by the suites.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/opencl/error.h"
#include "kernels/opencl/kernels.h"
#include "kernels/opencl/memory.h"
#include "kernels/opencl/runtime.h"
#include "kernels/testing/operator_test.h"
#include "reference/tensor/dlpack.h"

namespace plumbline::kernels::opencl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class OpenClTest : public OperatorTest {
 protected:
  OpenClTest() : own_(RegisterOpenClKernels(registry_)) { SetAllocator(Memory::Get().device(), &Memory::Get()); }

  Value On(const char* device, const Tensor& t) {
    return Value(Call("_to_copy", {Value(t), Value::None(), Value::None(), Value(device), Value::None(), Value(false),
                                   Value::None()}));
  }
  Tensor ToDevice(const Tensor& t) { return On("privateuseone:0", t).ToTensor(); }
  Tensor ToHost(const Tensor& t) { return On("cpu", t).ToTensor(); }
  Tensor Sum(const Tensor& a, const Tensor& b) { return Call("add.Tensor", {Value(a), Value(b), Value(1)}); }
  std::vector<float> Read(const Tensor& t) {
    const Tensor host = ToHost(t);
    return std::vector<float>(host.data<float>(), host.data<float>() + host.numel());
  }

  std::vector<Registration> own_;
};

// Holds up the queue until it is opened; by itself it opens after so long that whoever waited for it is seen.
class Gate {
 public:
  Gate() {
    Runtime& runtime = Runtime::Get();
    cl_int status = CL_SUCCESS;
    event_ = clCreateUserEvent(runtime.context(), &status);
    Check(status, "to make an event");
    Check(clEnqueueBarrierWithWaitList(runtime.queue(), 1, &event_, nullptr), "to wait for an event");
    keeper_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, std::chrono::seconds(20), [&] { return asked_; });
      open_ = true;
      clSetUserEventStatus(event_, CL_COMPLETE);
    });
  }
  ~Gate() {
    Open();
    if (soon_.joinable()) soon_.join();
    keeper_.join();
    clReleaseEvent(event_);
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    wake_.notify_one();
  }
  // Meanwhile others find it shut.
  void OpenSoon() {
    soon_ = std::thread([this] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Open();
    });
  }
  bool open() const { return open_; }

 private:
  cl_event event_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool asked_ = false;
  std::atomic<bool> open_ = false;
  std::thread keeper_, soon_;
};

TEST_F(OpenClTest, AKernelIsEnqueuedAndACopyWaits) {
  const Tensor a = ToDevice(Floats({2}, {1, 2}));
  Read(Sum(a, a));  // builds the program
  Gate gate;
  Tensor sum = Sum(a, a);
  for (int i = 0; i < 10; ++i) sum = Sum(sum, a);
  EXPECT_FALSE(gate.open()) << "they came back only when the queue had run them";
  gate.OpenSoon();
  const std::vector<float> read = Read(sum);
  EXPECT_TRUE(gate.open()) << "the copy came back before the kernels had run";
  EXPECT_THAT(read, ElementsAre(12, 24));
}

TEST_F(OpenClTest, ItemAndSynchronizeWait) {
  const Tensor a = ToDevice(Floats({1}, {3}));
  Read(Sum(a, a));
  for (const bool item : {true, false}) {
    Gate gate;
    const Tensor sum = Sum(a, a);
    gate.OpenSoon();
    if (item) {
      EXPECT_EQ(CallAll("item", {Value(sum)})[0].ToFloat(), 6);
    } else {
      AllocatorFor(sum.device()).Synchronize();
    }
    EXPECT_TRUE(gate.open());
  }
}

TEST_F(OpenClTest, ABufferThatIsFreedLivesUntilItsCommandsAreDone) {
  const Tensor a = ToDevice(Floats({4}, {1, 2, 3, 4}));
  Gate gate;
  Tensor last = Sum(a, a);
  for (int i = 0; i < 100; ++i) last = Sum(last, a);  // each frees the one before
  gate.Open();
  EXPECT_THAT(Read(last), ElementsAre(102, 204, 306, 408));
}

TEST_F(OpenClTest, ViewsWithOffsetsAndStrides) {
  const Tensor a = ToDevice(Floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const Tensor column = Call("select.int", {Value(a), Value(1), Value(2)});
  EXPECT_EQ(column.storage_offset(), 2);
  EXPECT_THAT(Read(column), ElementsAre(2, 6, 10));
  const Tensor inner = a.View({2, 2}, {4, 2}, 5);
  EXPECT_THAT(Read(Sum(inner, inner)), ElementsAre(10, 14, 18, 22));
  Call("fill_.Scalar", {Value(inner), Value(-1)});
  EXPECT_THAT(Read(a), ElementsAre(0, 1, 2, 3, 4, -1, 6, -1, 8, -1, 10, -1));
  // Host tensors with gaps, both ways.
  const Tensor wide = Floats({2, 4}, {1, 0, 2, 0, 3, 0, 4, 0});
  const Tensor gaps = wide.View({2, 2}, {4, 2}, 0);
  EXPECT_THAT(Read(ToDevice(gaps)), ElementsAre(1, 2, 3, 4));
  Call("copy_", {Value(gaps), Value(column.View({2, 1}, {4, 1}, 2)), Value(false)});
  EXPECT_THAT(List(wide), ElementsAre(2, 0, 2, 0, 6, 0, 6, 0)) << "broadcast, converted, into gaps";
}

TEST_F(OpenClTest, AStorageMayBeginInsideOfABlock) {
  const Tensor a = ToDevice(Floats({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  const Tensor column = reference::FromDLPack(reference::ToDLPack(a.View({3}, {4}, 2)), keys());
  EXPECT_NE(column.storage().data(), a.storage().data());
  EXPECT_THAT(Read(Sum(column, column)), ElementsAre(4, 12, 20));
  Call("zero_", {Value(column)});
  EXPECT_THAT(Read(a), ElementsAre(0, 1, 0, 3, 4, 5, 0, 7, 8, 9, 0, 11));
}

TEST_F(OpenClTest, NumbersAreConvertedOnce) {
  const Tensor whole = ToDevice(Make<std::int64_t>({1}, {0})), flag = ToDevice(Make<bool>({1}, {false}));
  Call("fill_.Scalar", {Value(whole), Value(16777217.5)});
  EXPECT_THAT(List(ToHost(whole)), ElementsAre(16777217));
  Call("fill_.Scalar", {Value(flag), Value(0.25)});
  EXPECT_THAT(List(ToHost(flag)), ElementsAre(1));
  // Just above the middle of two floats: by way of a double it would be at the middle, and go to the even one.
  const Tensor most = Make<std::int64_t>({}, {(std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1});
  const Tensor sum = Call("add.Tensor", {Value(ToDevice(Floats({1}, {0}))), Value(most), Value(1)});
  EXPECT_THAT(Read(sum), ElementsAre(0x1.000002p60f)) << "a tensor of no dimensions on the CPU is a number";
}

TEST_F(OpenClTest, AWriteCountsOnce) {
  const Tensor a = ToDevice(Floats({2}, {1, 2})), host = Floats({2, 2}, {0, 0, 0, 0});
  const Tensor column = host.View({2}, {2}, 0);
  for (const auto& [to, from] : {std::pair(a, column), std::pair(column, a), std::pair(a, ToDevice(column))}) {
    const std::uint64_t before = to.version();
    Call("copy_", {Value(to), Value(from), Value(false)});
    EXPECT_EQ(to.version(), before + 1);
  }
  // Composites, which call copy_ and fill_ on the way.
  const std::uint64_t before = a.version();
  Call("clone.out", {Value(ToDevice(column)), Value::None(), Value(a)});
  EXPECT_EQ(a.version(), before + 1);
  Call("full.out", {Ints({2}), Value(7), Value(a)});
  EXPECT_EQ(a.version(), before + 2);
  EXPECT_THAT(Read(a), ElementsAre(7, 7));
}

TEST_F(OpenClTest, MemoryIsCounted) {
  Memory& memory = Memory::Get();
  const AllocatorStatistics before = memory.statistics();
  memory.ResetPeak();
  {
    const Tensor a = Tensor::Empty({256}, DType::kFloat32, memory.device(), keys());
    EXPECT_EQ(memory.statistics().live_bytes, before.live_bytes + 1024);
    EXPECT_EQ(memory.statistics().live_blocks, before.live_blocks + 1);
  }
  EXPECT_EQ(memory.statistics().live_bytes, before.live_bytes);
  EXPECT_EQ(memory.statistics().peak_bytes, before.live_bytes + 1024);
}

TEST_F(OpenClTest, AddressesAreOfOneBlockEach) {
  Memory& memory = Memory::Get();
  const Tensor a = Tensor::Empty({5000}, DType::kFloat32, memory.device(), keys()), b = ToDevice(Floats({1}, {1}));
  EXPECT_NE(memory.Find(a.data()).buffer, memory.Find(b.data()).buffer);
  const Place inside = memory.Find(static_cast<const char*>(a.data()) + 20000 - 4);
  EXPECT_EQ(inside.buffer, memory.Find(a.data()).buffer);
  EXPECT_EQ(inside.offset, 19996u);
  int local = 0;
  EXPECT_THROW(memory.Find(&local), DispatchError);
}

TEST_F(OpenClTest, TheCpuCannotReadIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the driver has threads
  const Tensor a = ToDevice(Floats({1}, {1}));
  EXPECT_DEATH({ [[maybe_unused]] const float x = *static_cast<volatile float*>(a.data()); }, "");
}

TEST_F(OpenClTest, MemoryThatThereIsNotIsAnOverflow) {
  try {
    Tensor::Empty({std::int64_t{1} << 45}, DType::kFloat32, Memory::Get().device(), keys());
    FAIL() << "128 TiB were given";
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kOverflow);
    EXPECT_THAT(error.what(), HasSubstr("140737488355328 bytes on privateuseone:0"));
  }
}

TEST_F(OpenClTest, ADTypeThatTheDeviceLacksIsToldAsThat) {
  const Tensor wide = ToDevice(Make<double>({2}, {1, 2}));
  EXPECT_EQ(ErrorOf("add.Tensor", {Value(wide), Value(wide), Value(1)}, ErrorClass::kNoDtype),
            "'add' is not implemented for float64 on privateuseone:0");
  EXPECT_THAT(List(ToHost(wide)), ElementsAre(1, 2)) << "copies are of any dtype";
}

TEST_F(OpenClTest, AResultThatCannotBeConvertedIsRefusedBeforeItIsResized) {
  const Tensor a = ToDevice(Floats({2, 2}, {1, 2, 3, 4})), wide = ToDevice(Make<double>({1}, {7}));
  const std::uint64_t before = wide.version();
  ErrorOf("add.out", {Value(a), Value(a), Value(1), Value(wide)}, ErrorClass::kNoDtype);
  ErrorOf("mm.out", {Value(a), Value(a), Value(wide)}, ErrorClass::kNoDtype);
  ErrorOf("sum.IntList_out", {Value(a), Ints({0}), Value(false), Value::None(), Value(wide)}, ErrorClass::kNoDtype);
  ErrorOf("cat.out", {Value(std::vector<Value>{Value(a)}), Value(0), Value(wide)}, ErrorClass::kNoDtype);
  EXPECT_THAT(wide.sizes(), ElementsAre(1));
  EXPECT_EQ(wide.version(), before);
}

TEST_F(OpenClTest, AnOperatorThatTheDeviceLacksIsToldAsThat) {
  const Tensor a = ToDevice(Floats({2}, {1, 2}));
  ErrorOf("tanh", {Value(a)}, ErrorClass::kNoKernel);
  // A composite of the table that computes on the CPU.
  EXPECT_THAT(ErrorOf("logsumexp", {Value(a), Ints({0}), Value(false)}, ErrorClass::kNoKernel),
              AllOf(HasSubstr("aten::logsumexp"), HasSubstr("privateuseone:0"), HasSubstr("PrivateUse1")));
  // One that is made of other operators works where these do.
  const Tensor m = ToDevice(Floats({2, 2}, {1, 2, 3, 4}));
  EXPECT_THAT(Read(Call("matmul", {Value(m), Value(m)})), ElementsAre(7, 10, 15, 22));
}

TEST_F(OpenClTest, AProgramThatDoesNotBuildGivesItsLog) {
  try {
    Runtime::Get().Build("mine", "__kernel void f(__global int* a) { a[0] = nonesuch; }", "-DX=1");
    FAIL() << "it was built";
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kInternal);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("'mine'"), HasSubstr("-DX=1"), HasSubstr("nonesuch"), HasSubstr("BUILD")));
  }
}

TEST_F(OpenClTest, ThreadsShareTheQueue) {
  const Tensor a = ToDevice(Floats({2}, {1, 2}));
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> read(4);
  for (std::size_t t = 0; t < read.size(); ++t) {
    threads.emplace_back([&, t] {
      Tensor sum = a;
      for (std::size_t i = 0; i < 50 + t; ++i) sum = Sum(sum, a);
      read[t] = Read(sum);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < read.size(); ++t) {
    const auto n = static_cast<float>(51 + t);
    EXPECT_THAT(read[t], ElementsAre(n, 2 * n));
  }
}

TEST(ErrorTest, WhatIsNotThereIsAnOverflow) {
  EXPECT_NO_THROW(Check(CL_SUCCESS, "to try"));
  for (const auto& [status, expected] : {std::pair(CL_OUT_OF_HOST_MEMORY, ErrorClass::kOverflow),
                                         std::pair(CL_INVALID_KERNEL_ARGS, ErrorClass::kInternal)}) {
    try {
      Check(status, "to try");
      FAIL();
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), expected);
      EXPECT_THAT(error.what(), AllOf(HasSubstr("to try"), HasSubstr("CL_"), HasSubstr(std::to_string(status))));
    }
  }
}

}  // namespace
}  // namespace plumbline::kernels::opencl
