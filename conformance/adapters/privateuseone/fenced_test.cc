#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "memory.h"

namespace fenced {
namespace {

const c10::Device kFirst(kType, 0), kSecond(kType, 1);

at::Tensor Ours(std::initializer_list<float> values, c10::Device device = kFirst) {
  return at::tensor(std::vector<float>(values)).to(device);
}

std::vector<float> Values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).to(at::kFloat).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(MemoryTest, IsCounted) {
  const Counts before = CountsOf(0);
  {
    const at::Tensor a = at::empty({10}, at::TensorOptions(kFirst));
    EXPECT_EQ(CountsOf(0).allocations, before.allocations + 1);
    EXPECT_EQ(CountsOf(0).blocks, before.blocks + 1);
    EXPECT_EQ(CountsOf(0).bytes, before.bytes + 40);
    a.resize_({20});
    EXPECT_EQ(CountsOf(0).bytes, before.bytes + 80);
  }
  EXPECT_EQ(CountsOf(0).blocks, before.blocks);
  EXPECT_EQ(CountsOf(0).bytes, before.bytes);
  EXPECT_NE(ErrorOf([] { CountsOf(kDevices); }), "");
}

TEST(MemoryTest, BelongsToTheDeviceThatWasAskedFor) {
  const Counts before = CountsOf(1);
  const at::Tensor a = Ours({1, 2}, kSecond);
  EXPECT_EQ(a.device(), kSecond);
  EXPECT_EQ(CountsOf(1).blocks, before.blocks + 1);
  {
    const c10::DeviceGuard guard(kSecond);
    EXPECT_EQ(at::empty({1}, at::TensorOptions(kType)).device(), kSecond);
  }
  EXPECT_EQ(at::empty({1}, at::TensorOptions(kType)).device(), kFirst);
  EXPECT_EQ(a.to(kFirst).device(), kFirst);
  EXPECT_EQ(Values(a.to(kFirst)), (std::vector<float>{1, 2}));
}

TEST(MemoryTest, RefusesWhatNobodyHas) {
  const at::TensorOptions bytes = at::TensorOptions(kFirst).dtype(at::kByte);
  EXPECT_NE(ErrorOf([&] { at::empty({std::numeric_limits<int64_t>::max()}, bytes); }).find("overflowed"),
            std::string::npos);
  const Counts before = CountsOf(0);
  EXPECT_NE(ErrorOf([&] { at::empty({int64_t{1} << 50}, bytes); }).find("has no"), std::string::npos);
  EXPECT_EQ(CountsOf(0).allocations, before.allocations);
  EXPECT_NE(ErrorOf([] { at::empty({1}, at::TensorOptions(c10::Device(kType, kDevices))); }), "");
}

TEST(MemoryDeathTest, IsNotForTheHost) {
  const at::Tensor a = Ours({1, 2});
  EXPECT_EXIT(
      {
        volatile float element = *static_cast<float*>(a.data_ptr());
        (void)element;
      },
      testing::KilledBySignal(SIGSEGV), "");
  EXPECT_EXIT(std::memset(a.data_ptr(), 0, 1), testing::KilledBySignal(SIGSEGV), "");
}

TEST(FallbackTest, ComputesAndComesBack) {
  const at::Tensor a = Ours({0, 1});
  const at::Tensor b = at::cosh(a);
  EXPECT_EQ(b.device(), kFirst);
  EXPECT_EQ(Values(b), Values(at::cosh(a.cpu())));
  EXPECT_EQ(at::cosh(Ours({0}, kSecond)).device(), kSecond);
}

TEST(FallbackTest, WritesWhereItWasTold) {
  at::Tensor a = Ours({0, 1, 2, 3});
  a.slice(0, 1, 3).cosh_();
  EXPECT_EQ(Values(a)[0], 0);
  EXPECT_FLOAT_EQ(Values(a)[1], std::cosh(1.0F));
  EXPECT_EQ(Values(a)[3], 3);
  at::Tensor out = at::empty({0}, a.options());
  EXPECT_TRUE(at::cosh_out(out, a).is_same(out));
  EXPECT_EQ(out.sizes(), a.sizes());
}

TEST(FallbackTest, ShowsOverlap) {
  const at::Tensor a = Ours({1}).expand({3});
  EXPECT_NE(ErrorOf([&] { a.cosh_(); }).find("single memory location"), std::string::npos);
}

TEST(FallbackTest, FindsTensorsInLists) {
  at::Tensor a = Ours({5, 6, 7});
  const at::Tensor at_two = at::tensor(std::vector<int64_t>{2, 0}).to(kFirst);
  EXPECT_EQ(Values(a.index({at_two})), (std::vector<float>{7, 5}));
  a.index_put_({at_two}, Ours({1, 2}));
  EXPECT_EQ(Values(a), (std::vector<float>{2, 6, 1}));
  EXPECT_EQ(Values(at::cat({a, a})), (std::vector<float>{2, 6, 1, 2, 6, 1}));
}

TEST(FallbackTest, WritesBackWhatTheSchemaDoesNotSay) {
  const at::Tensor mean = Ours({0}), variance = Ours({1});
  at::native_batch_norm(Ours({1, 3}).view({2, 1}), {}, {}, mean, variance, /*training=*/true, 0.5, 1e-5);
  EXPECT_EQ(Values(mean), std::vector<float>{1});
}

TEST(FallbackTest, RefusesTwoDevices) {
  EXPECT_NE(ErrorOf([] { at::atan2(Ours({1}), Ours({1}, kSecond)); }).find("same device"), std::string::npos);
}

TEST(FallbackTest, LeavesNothingBehind) {
  const Counts before = CountsOf(0);
  at::cosh(Ours({1, 2, 3}));
  EXPECT_EQ(CountsOf(0).blocks, before.blocks);
}

TEST(CopyTest, WritesThroughAConjugate) {
  const at::Tensor a = at::zeros({1}, at::TensorOptions(kFirst).dtype(at::kComplexFloat));
  a.conj().copy_(at::full({1}, c10::complex<float>(1, 2), at::TensorOptions().dtype(at::kComplexFloat)));
  EXPECT_EQ(a.item<c10::complex<float>>(), (c10::complex<float>(1, -2)));
}

TEST(ViewTest, SharesMemory) {
  const at::Tensor a = Ours({1, 2, 3, 4});
  a.view({2, 2}).t().select(0, 1).fill_(9);
  EXPECT_EQ(Values(a), (std::vector<float>{1, 9, 3, 9}));
}

TEST(ConvolutionTest, GoesBackwards) {
  const at::Tensor image = at::arange(16, at::kFloat).view({1, 1, 4, 4}), kernel = at::ones({1, 1, 2, 2});
  const auto gradient = [&](c10::Device device) {
    at::Tensor weight = kernel.to(device).detach().requires_grad_();
    at::Tensor bias = at::zeros({1}).to(device).requires_grad_();
    at::conv2d(image.to(device), weight, bias).sum().backward();
    return std::pair(Values(weight.grad()), Values(bias.grad()));
  };
  EXPECT_EQ(gradient(kFirst), gradient(at::kCPU));
}

}  // namespace
}  // namespace fenced
