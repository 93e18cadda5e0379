#include "reference/tensor/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace plumbline::reference {
namespace {

const KeyTable& Table() { return *KeyTable::ForRelease("pytorch-1.13"); }

template <class T>
Tensor Of(IntSpan sizes, const std::vector<T>& values) {
  const Tensor tensor = Tensor::Empty(sizes, DTypeOf<T>, DeviceType::kCpu, Table());
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

Tensor Counting(IntSpan sizes) {
  const Tensor tensor = Tensor::Empty(sizes, DType::kInt64, DeviceType::kCpu, Table());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<std::int64_t>()[i] = i;
  return tensor;
}

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Print, LooksAsPyTorchDoes) {
  EXPECT_EQ(Print(Of<float>({2, 2}, {1, 0.5, 2, 0.25})), "tensor([[1.0000, 0.5000],\n        [2.0000, 0.2500]])");
  EXPECT_EQ(Print(Of<float>({3}, {1, 2, -3})), "tensor([ 1.,  2., -3.])");
  EXPECT_EQ(Print(Of<float>({}, {7})), "tensor(7.)");
  EXPECT_EQ(Print(Of<float>({2}, {1e-5f, 1})), "tensor([1.0000e-05, 1.0000e+00])");
  EXPECT_EQ(Print(Of<float>({1}, {0.5e-4f})), "tensor([5.0000e-05])");
  EXPECT_EQ(Print(Of<float>({2}, {1e9f, 0})), "tensor([1.0000e+09, 0.0000e+00])");
  EXPECT_EQ(Print(Of<float>({3}, {1.5f, kInf, -NAN})), "tensor([1.5000,    inf,    nan])");
  EXPECT_EQ(Print(Of<std::int64_t>({2}, {1, -20})), "tensor([  1, -20])");
  EXPECT_EQ(Print(Of<bool>({2}, {true, false})), "tensor([ True, False])");
  EXPECT_EQ(Print(Counting({2, 1, 2})), "tensor([[[0, 1]],\n\n        [[2, 3]]])");
  EXPECT_EQ(Print(Counting({30})),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])");
}

TEST(Print, NamesWhatTheNumbersDoNotShow) {
  EXPECT_EQ(Print(Of<double>({1}, {1})), "tensor([1.], dtype=float64)");
  EXPECT_EQ(Print(Of<BFloat16>({1}, {BFloat16(0.1f)})), "tensor([0.1001], dtype=bfloat16)");
  EXPECT_EQ(Print(Of<std::uint8_t>({1}, {255})), "tensor([255], dtype=uint8)");
  EXPECT_EQ(Print(Of<float>({0}, {})), "tensor([])");
  EXPECT_EQ(Print(Of<std::int64_t>({0, 3}, {})), "tensor([], size=[0, 3], dtype=int64)");
  EXPECT_EQ(Print(Tensor::Empty({2}, DType::kFloat32, DeviceType::kMeta, Table())),
            "tensor(..., device='meta', size=[2])");
  EXPECT_EQ(Print(Tensor()), "undefined tensor");
  EXPECT_EQ(Print(Tensor::Make(KeySet())), "tensor of dispatch keys alone");
}

TEST(Print, ShowsTheEdgesOfLargeOnes) {
  EXPECT_EQ(Print(Counting({1001})), "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  EXPECT_EQ(Print(Counting({2, 600})),
            "tensor([[   0,    1,    2,  ...,  597,  598,  599],\n"
            "        [ 600,  601,  602,  ..., 1197, 1198, 1199]])");
  const std::string cube = Print(Counting({7, 20, 10}));
  EXPECT_NE(cube.find("\n\n        ...,\n\n"), std::string::npos) << cube;
  EXPECT_EQ(std::string(cube).find("  30,"), std::string::npos) << cube;
}

TEST(Print, FollowsStrides) {
  EXPECT_EQ(Print(Counting({6}).View({2, 2}, {1, 3}, 1)), "tensor([[1, 4],\n        [2, 5]])");
}

}  // namespace
}  // namespace plumbline::reference
