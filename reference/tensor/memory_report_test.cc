#include "reference/tensor/memory_report.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "reference/keys/error.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {
namespace {

using testing::HasSubstr;

const KeyTable& Table() { return *KeyTable::ForRelease("pytorch-1.13"); }
Tensor Floats(IntSpan sizes) { return Tensor::Empty(sizes, DType::kFloat32, DeviceType::kCpu, Table()); }

class MemoryReport : public testing::Test {
 protected:
  void SetUp() override { RecordTensors(true); }
  void TearDown() override { RecordTensors(false); }
};

TEST_F(MemoryReport, NamesWhoHoldsWhat) {
  RecordTensors(false);
  const Tensor before = Floats({25});
  RecordTensors(true);
  Tensor small = Floats({2, 3});
  Tensor weight;
  {
    const RecordedAs name("encoder");
    weight = Floats({1000, 1000});
  }
  const Tensor column = weight.View({1000}, {1000}, 0);
  float outside[4];
  const Tensor blob = Tensor::FromBlob(outside, {4}, {1}, DType::kFloat32, DeviceType::kCpu, {}, Table());
  auto report = ReportMemory();
  ASSERT_EQ(report.size(), 1u);
  const DeviceMemory& cpu = report[0];
  EXPECT_EQ(cpu.statistics.live_bytes, 100 + 24 + 4'000'000);
  EXPECT_EQ(cpu.unnamed_bytes, 100);
  ASSERT_EQ(cpu.holders.size(), 3u);
  EXPECT_EQ(cpu.holders[0].bytes, 4'000'000);
  EXPECT_EQ(cpu.holders[0].storage, &column.storage().version());
  ASSERT_EQ(cpu.holders[0].tensors.size(), 2u);
  EXPECT_EQ(cpu.holders[0].tensors[0].name, "encoder");
  EXPECT_EQ(cpu.holders[0].tensors[0].sizes, (DimVector{1000, 1000}));
  EXPECT_EQ(cpu.holders[0].tensors[1].name, "");
  EXPECT_EQ(cpu.holders[1].bytes, 24);
  EXPECT_FALSE(cpu.holders[2].allocated);
  const std::string text = Print(report);
  EXPECT_THAT(text, HasSubstr("cpu: 3.8 MiB in 3 blocks"));
  EXPECT_THAT(text, HasSubstr("     3.8 MiB  float32 [1000, 1000] (encoder), float32 [1000]\n"));
  EXPECT_THAT(text, HasSubstr("        16 B  float32 [4], memory from outside\n"));
  EXPECT_THAT(text, HasSubstr("       100 B  not recorded"));

  // A view alone holds all of it; what is resized shows its new shape; what is gone is gone.
  weight = Tensor();
  small.Resize({10});
  report = ReportMemory();
  ASSERT_EQ(report[0].holders[0].tensors.size(), 1u);
  EXPECT_EQ(report[0].holders[0].bytes, 4'000'000);
  EXPECT_EQ(report[0].holders[1].tensors[0].sizes, DimVector{10});
  EXPECT_EQ(report[0].holders[1].bytes, 40);
}

TEST_F(MemoryReport, WithoutBeingAskedThereAreOnlyCounts) {
  RecordTensors(false);
  const Tensor a = Floats({8});
  const auto report = ReportMemory();
  EXPECT_EQ(report[0].holders.size(), 0u);
  EXPECT_EQ(report[0].unnamed_bytes, 32);
}

TEST_F(MemoryReport, TensorsOfOtherThreadsComeAndGoMeanwhile) {
  std::atomic<bool> stop{false};
  const auto work = [&] {
    while (!stop) {
      const Tensor a = Floats({4}), b = a.View({2}, {1}, 0);
      const Tensor c = Floats({2});
      c.Resize({2, 2, 2, 2, 2, 2});
    }
  };
  std::thread one(work), two(work);
  for (int i = 0; i < 300; ++i) {
    const auto report = ReportMemory();
    for (const MemoryHolder& holder : report[0].holders) {
      for (const auto& shape : holder.tensors) EXPECT_LE(shape.sizes.size(), 6u);
    }
  }
  stop = true;
  one.join();
  two.join();
  EXPECT_EQ(ReportMemory()[0].holders.size(), 0u);
}

// A device of a plug-in: its memory is the heap's, and it has 1000 bytes.
class ToyMemory : public Allocator {
 public:
  ToyMemory() : Allocator({DeviceType::kPrivateUse1, 1}) {}
  bool emptied = false;
  void EmptyCache() override { emptied = true; }

 private:
  void* AllocateBlock(std::size_t bytes) override { return bytes > 1000 ? nullptr : std::malloc(bytes); }
  void FreeBlock(void* block, std::size_t) override { std::free(block); }
};

TEST_F(MemoryReport, DevicesOfPlugInsAreCountedAlike) {
  ToyMemory memory;
  const Device device(DeviceType::kPrivateUse1, 1);
  EXPECT_THROW(AllocatorFor(device), DispatchError);
  SetAllocator(device, &memory);
  {
    const Tensor a = Tensor::Empty({100}, DType::kInt16, device, Table());
    EXPECT_EQ(a.keys(), Table().SetOfNames({"PrivateUse1", "AutogradPrivateUse1"}));
    const auto report = ReportMemory();
    ASSERT_EQ(report.size(), 2u);
    EXPECT_EQ(report[1].device, device);
    EXPECT_EQ(report[1].statistics.live_bytes, 200);
    EXPECT_EQ(report[1].holders[0].bytes, 200);
    EXPECT_THAT(Print(report), HasSubstr("privateuseone:1: 200 B in 1 blocks, 200 B at most"));
    try {
      Tensor::Empty({501}, DType::kInt16, device, Table());
      ADD_FAILURE();
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), ErrorClass::kOverflow);
      EXPECT_THAT(error.what(), HasSubstr("No memory for 1002 bytes on privateuseone:1; 200 bytes are in use there"));
    }
    // Taken away while tensors live: theirs is freed to it all the same.
    SetAllocator(device, nullptr);
  }
  EXPECT_EQ(memory.statistics().live_bytes, 0);
  EXPECT_EQ(memory.statistics().peak_bytes, 200);
  memory.ResetPeak();
  EXPECT_EQ(memory.statistics().peak_bytes, 0);
}

}  // namespace
}  // namespace plumbline::reference
