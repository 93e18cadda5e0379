// Tensors of more than 2^31 elements: indices, sizes and offsets are of 64 bits throughout. Each test needs some GiB,
// and says that it was skipped where they are not free.
#include <gmock/gmock.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/register.h"
#include "kernels/testing/operator_test.h"

namespace plumbline::kernels {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kElements = (std::int64_t{1} << 31) + 7;

std::int64_t FreeBytes() {
  std::ifstream memory("/proc/meminfo");
  std::string word;
  for (std::int64_t kilobytes = 0; memory >> word;) {
    if (word == "MemAvailable:" && memory >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

class LargeTest : public OperatorTest {
 protected:
  // In GiB, at the same time.
  static bool Lacks(std::int64_t needed) { return FreeBytes() < (needed + 1) * kGiB; }
  // Zeros, but for the values at these places.
  Tensor Bytes(std::vector<std::pair<std::int64_t, std::int8_t>> values) {
    const Tensor t = Tensor::Empty({kElements}, DType::kInt8, DeviceType::kCpu, keys());
    Call("zero_", {Value(t)});
    for (const auto& [place, value] : values) t.data<std::int8_t>()[place] = value;
    return t;
  }
  std::int64_t Whole(const Tensor& t) { return static_cast<std::int64_t>(List(t).front()); }
};

#define PLUMBLINE_NEEDS_GIB(n) \
  if (Lacks(n)) GTEST_SKIP() << "needs " << (n) << " GiB of free memory"

TEST_F(LargeTest, ElementwiseReachesTheLastElement) {
  PLUMBLINE_NEEDS_GIB(6);
  const Tensor a = Bytes({{0, 1}, {kElements - 1, 5}}), b = Bytes({{kElements - 1, 7}, {kElements - 2, 3}});
  const Tensor c = Call("add.Tensor", {Value(a), Value(b), Value(2)});
  EXPECT_EQ(c.data<std::int8_t>()[0], 1);
  EXPECT_EQ(c.data<std::int8_t>()[kElements - 2], 6);
  EXPECT_EQ(c.data<std::int8_t>()[kElements - 1], 19);
  Call("neg_", {Value(c)});
  EXPECT_EQ(c.data<std::int8_t>()[kElements - 1], -19);
}

TEST_F(LargeTest, ReductionsCountBeyond32Bits) {
  PLUMBLINE_NEEDS_GIB(3);
  const Tensor a = Tensor::Empty({kElements}, DType::kInt8, DeviceType::kCpu, keys());
  Call("fill_.Scalar", {Value(a), Value(1)});
  a.data<std::int8_t>()[kElements - 2] = 9;
  EXPECT_EQ(Whole(Call("sum", {Value(a), Value::None()})), kElements + 8);
  EXPECT_EQ(Whole(Call("argmax", {Value(a), Value::None(), Value(false)})), kElements - 2);
  EXPECT_EQ(Whole(Call("max", {Value(a)})), 9);
  EXPECT_EQ(Whole(Call("count_nonzero.dim_IntList", {Value(a), Ints({0})})), kElements);
}

TEST_F(LargeTest, ViewsBeginBeyond32Bits) {
  PLUMBLINE_NEEDS_GIB(3);
  const Tensor a = Bytes({{kElements - 3, 1}, {kElements - 2, 2}, {kElements - 1, 3}});
  const Tensor end = Call("slice.Tensor", {Value(a), Value(0), Value(kElements - 3), Value(kElements), Value(1)});
  EXPECT_EQ(end.storage_offset(), kElements - 3);
  EXPECT_THAT(List(end), testing::ElementsAre(1, 2, 3));
  EXPECT_EQ(Whole(Call("select.int", {Value(a), Value(0), Value(-1)})), 3);
  // Two rows whose distance is beyond 32 bits.
  const Tensor rows = a.View({2, 2}, {kElements - 2, 1}, 0);
  Call("fill_.Scalar", {Value(rows), Value(4)});
  EXPECT_THAT(List(end), testing::ElementsAre(1, 4, 4));
}

TEST_F(LargeTest, IndicesReachBeyond32Bits) {
  PLUMBLINE_NEEDS_GIB(6);
  const Tensor a = Bytes({{kElements - 1, 3}});
  const Tensor index = Make<std::int64_t>({2}, {kElements - 1, 0});
  EXPECT_THAT(List(Call("index_select", {Value(a), Value(0), Value(index)})), testing::ElementsAre(3, 0));
  EXPECT_THAT(List(Call("gather", {Value(a), Value(0), Value(index), Value(false)})), testing::ElementsAre(3, 0));
  Call("scatter_.value", {Value(a), Value(0), Value(index), Value(6)});
  EXPECT_EQ(a.data<std::int8_t>()[kElements - 1], 6);
  EXPECT_EQ(
      Whole(Call("nonzero", {Value(Call("slice.Tensor", {Value(a), Value(0), Value(1), Value(kElements), Value(1)}))})),
      kElements - 2);
}

TEST_F(LargeTest, CopiesAndJoinsAreWhole) {
  PLUMBLINE_NEEDS_GIB(6);
  const Tensor a = Bytes({{kElements - 1, 3}});
  const Tensor tail = Make<std::int8_t>({2}, {7, 8});
  const Tensor joined = Call("cat", {Value(std::vector<Value>{Value(a), Value(tail)}), Value(0)});
  EXPECT_EQ(joined.numel(), kElements + 2);
  EXPECT_EQ(joined.data<std::int8_t>()[kElements - 1], 3);
  EXPECT_EQ(joined.data<std::int8_t>()[kElements + 1], 8);
  // Across the strides of a transposed matrix.
  const Tensor wide = a.View({2, kElements / 2}, {kElements / 2, 1}, 1);
  const Tensor turned = Call("transpose.int", {Value(wide), Value(0), Value(1)});
  const Tensor copy = Call("clone", {Value(turned), Value(0)});
  EXPECT_EQ(copy.data<std::int8_t>()[2 * (kElements / 2) - 1], 3);
}

TEST_F(LargeTest, FloatsAreComputedToTheEnd) {
  PLUMBLINE_NEEDS_GIB(10);
  const Tensor a = Tensor::Empty({kElements}, DType::kFloat32, DeviceType::kCpu, keys());
  Call("fill_.Scalar", {Value(a), Value(0.5)});
  a.data<float>()[kElements - 1] = 2.5F;
  Call("exp_", {Value(a)});
  EXPECT_FLOAT_EQ(a.data<float>()[kElements - 1], 12.182494F);
  EXPECT_FLOAT_EQ(a.data<float>()[kElements - 2], 1.6487213F);
  Call("fill_.Scalar", {Value(a), Value(1)});
  EXPECT_EQ(List(Call("sum", {Value(a), Value(7)})).front(), static_cast<double>(kElements));
  EXPECT_EQ(List(Call("mean", {Value(a), Value::None()})).front(), 1);
}

}  // namespace
}  // namespace plumbline::kernels
