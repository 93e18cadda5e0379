// What calls write: nothing if they are refused, else what the operator gives, rounded to its dtype before it is
// converted.
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "kernels/testing/operator_test.h"

namespace plumbline::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value List(std::vector<Value> values) { return Value(std::move(values)); }

class WrittenTest : public OperatorTest {
 protected:
  Tensor Halves(IntSpan sizes, const std::vector<float>& values) { return To(DType::kFloat16, Floats(sizes, values)); }
  Tensor To(DType dtype, const Tensor& t) {
    return Call("to.dtype", {Value(t), Value(static_cast<int>(dtype)), Value(false), Value(false), Value::None()});
  }
  // With `out` as the last argument, or with self as the first.
  void ExpectUntouched(const char* name, std::vector<Value> arguments, const Tensor& written) {
    const std::uint64_t version = written.version();
    const DimVector sizes(written.sizes());
    const std::vector<double> elements = OperatorTest::List(written);
    ErrorOf(name, std::move(arguments), ErrorClass::kInvalidArgument);
    EXPECT_EQ(written.version(), version) << name;
    EXPECT_EQ(DimVector(written.sizes()), sizes) << name;
    EXPECT_EQ(OperatorTest::List(written), elements) << name;
  }
};

TEST_F(WrittenTest, ARefusedCallLeavesItsResultAsItWas) {
  const Tensor a = Make<int>({2}, {6, 7}), zero = Make<int>({2}, {2, 0}), out = Make<int>({1}, {9});
  ExpectUntouched("floor_divide_.Tensor", {Value(a), Value(zero)}, a);
  for (const char* name : {"floor_divide.out", "remainder.Tensor_out", "fmod.Tensor_out"}) {
    ExpectUntouched(name, {Value(a), Value(zero), Value(out)}, out);
  }
  // 256 is zero in what is computed in.
  const Tensor bytes = Make<std::uint8_t>({1}, {1});
  ExpectUntouched("remainder_.Tensor", {Value(bytes), Value(Make<std::int64_t>({}, {256}))}, bytes);
  const Tensor at = Make<std::int64_t>({2}, {0, 5});
  ExpectUntouched("index_select.out", {Value(a), Value(0), Value(at), Value(out)}, out);
  ExpectUntouched("gather.out", {Value(a), Value(0), Value(at), Value(false), Value(out)}, out);
  ExpectUntouched("scatter.src_out", {Value(a), Value(0), Value(at), Value(a), Value(out)}, out);
  ExpectUntouched("scatter.value_out", {Value(a), Value(0), Value(at), Value(1), Value(out)}, out);
  ExpectUntouched("scatter_add.out", {Value(a), Value(0), Value(at), Value(a), Value(out)}, out);
  ExpectUntouched("index_add.out", {Value(a), Value(0), Value(at), Value(a), Value(1), Value(out)}, out);
  ExpectUntouched("index_put_", {Value(a), kernels::List({Value(at)}), Value(a), Value(true)}, a);
  EXPECT_THAT(OperatorTest::List(Call("floor_divide", {Value(Make<int>({0}, {})), Value(Make<int>({1}, {0}))})),
              testing::IsEmpty());
}

TEST_F(WrittenTest, OutGetsTheSizesOfTheResult) {
  const Tensor a = Floats({3}, {1, 2, 3}), out = Floats({1, 1}, {9});
  EXPECT_TRUE(Call("add.out", {Value(a), Value(a), Value(1), Value(out)}).is_same(out));
  EXPECT_THAT(out.sizes(), ElementsAre(3));
  EXPECT_THAT(OperatorTest::List(out), ElementsAre(2, 4, 6));
  const Tensor meta = Meta(Floats({1}, {9}));
  Call("add.out", {Value(Meta(a)), Value(Meta(a)), Value(1), Value(meta)});
  EXPECT_THAT(meta.sizes(), ElementsAre(3));
}

// As PyTorch does, [OPER-023]: where something is broadcast, the strides of sizes of 1 count too.
TEST_F(WrittenTest, ABroadcastResultLiesAsTheStridesOfItsInputsSay) {
  std::vector<float> zeros(30);
  const Tensor a = Floats({30}, zeros).View({1, 1, 15}, {1, 16, 1}, 0);
  const Tensor b = Floats({30}, zeros).View({1, 2, 15}, {0, 15, 1}, 0);
  const Tensor out = Floats({1}, {9});
  Call("mul.out", {Value(a), Value(b), Value(out)});
  EXPECT_THAT(out.sizes(), ElementsAre(1, 2, 15));
  EXPECT_THAT(out.strides(), ElementsAre(1, 1, 2));
  EXPECT_THAT(Call("mul.Tensor", {Value(b), Value(b)}).strides(), ElementsAre(30, 15, 1)) << "nothing is broadcast";
  const Tensor rows = Floats({15}, {zeros.begin(), zeros.begin() + 15}).View({1, 1, 15}, {15, 15, 1}, 0);
  EXPECT_THAT(Call("mul.Tensor", {Value(rows), Value(b)}).strides(), ElementsAre(30, 15, 1));
}

TEST_F(WrittenTest, SixteenBitsAreRoundedToBeforeAnotherDtype) {
  const Tensor a = Halves({1}, {1.908203125F}), b = Halves({1}, {2.09375F});
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBFloat16}) {
    const Tensor out = Tensor::Empty({1}, dtype, DeviceType::kCpu, keys());
    EXPECT_THAT(OperatorTest::List(Call("add.out", {Value(a), Value(b), Value(1), Value(out)})), ElementsAre(4));
  }
  const Tensor wide = Make<double>({1}, {0});
  EXPECT_THAT(OperatorTest::List(Call("sqrt.out", {Value(Halves({1}, {1.8466796875F})), Value(wide)})),
              ElementsAre(1.359375));
  EXPECT_THAT(OperatorTest::List(Call("exp.out", {Value(Make<std::int8_t>({1}, {127})), Value(wide)})),
              ElementsAre(HUGE_VAL))
      << "the result is of float32";
}

TEST_F(WrittenTest, ScansAndProductsConvertFirst) {
  const Value to_bool = Value(static_cast<int>(DType::kBool));
  const Tensor flags = Make<bool>({2}, {false, false});
  Call("cumsum.out", {Value(Make<std::int8_t>({2}, {-25, 25})), Value(0), to_bool, Value(flags)});
  EXPECT_THAT(OperatorTest::List(flags), ElementsAre(1, 1));
  EXPECT_THAT(OperatorTest::List(Call("prod.dim_int", {Value(Floats({1}, {0.5})), Value(0), Value(false), to_bool})),
              ElementsAre(1));
}

TEST_F(WrittenTest, SumsAtAnIndexAreRoundedOnce) {
  const Tensor self = Halves({1}, {-0.00055074691772460938F}), ones = Halves({2}, {1, 1});
  const Tensor twice = Make<std::int64_t>({2}, {0, 0});
  for (const Tensor& sum :
       {Call("scatter_add", {Value(self), Value(0), Value(twice), Value(ones)}),
        Call("index_add", {Value(self), Value(0), Value(twice), Value(ones), Value(1)}),
        Call("index_put", {Value(self), kernels::List({Value(twice)}), Value(ones), Value(true)})}) {
    EXPECT_THAT(OperatorTest::List(sum), ElementsAre(1.9990234375));
  }
}

TEST_F(WrittenTest, WhatIsTheSameEverywhereMayOverlap) {
  const auto expanded = [&](std::int64_t n) { return Floats({1}, {0}).View({n}, {0}, 0); };
  EXPECT_THAT(OperatorTest::List(Call("fill_.Scalar", {Value(expanded(4)), Value(2)})), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(OperatorTest::List(Call("zero_", {Value(expanded(0))})), testing::IsEmpty());
  EXPECT_THAT(OperatorTest::List(Call("zero_", {Value(expanded(2))})), ElementsAre(0, 0));
  EXPECT_THAT(Call("resize_", {Value(expanded(4)), Ints({4}), Value::None()}).strides(), ElementsAre(0));
  EXPECT_THAT(ErrorOf("add_.Scalar", {Value(expanded(4)), Value(1), Value(1)}, ErrorClass::kInvalidArgument),
              HasSubstr("same place"));
}

TEST_F(WrittenTest, RunningStatisticsCountOnMetaToo) {
  const Tensor mean = Meta(Floats({1}, {0})), var = Meta(Floats({1}, {1}));
  const std::uint64_t version = mean.version();
  const Value none = Value::None();
  Call("batch_norm", {Value(Meta(Floats({2, 1}, {1, 3}))), none, none, Value(mean), Value(var), Value(true), Value(0.1),
                      Value(0.0), Value(true)});
  EXPECT_EQ(mean.version(), version + 1);
}

}  // namespace
}  // namespace plumbline::kernels
