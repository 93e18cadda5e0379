// Operators end to end: through the dispatcher, on CPU and meta, in all their variants.
#include "kernels/register.h"

#include <gmock/gmock.h>
#include <time.h>

#include <cmath>
#include <vector>

#include "kernels/random.h"
#include "kernels/testing/operator_test.h"
#include "reference/registry/hooks.h"
#include "reference/registry/operator_entry.h"

namespace plumbline::kernels {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(OperatorTest, BroadcastsAndPromotes) {
  const Tensor a = Floats({2, 1}, {1, 2}), b = Make<std::int64_t>({3}, {10, 20, 30});
  const Tensor sum = Call("add.Tensor", {Value(a), Value(b), Value(2)});
  EXPECT_EQ(sum.dtype(), DType::kFloat32);
  EXPECT_THAT(sum.sizes(), ElementsAre(2, 3));
  EXPECT_THAT(List(sum), ElementsAre(21, 41, 61, 22, 42, 62));
  EXPECT_EQ(Call("add.Scalar", {Value(b), Value(1.5), Value(1)}).dtype(), DType::kFloat32);
  EXPECT_EQ(Call("div.Tensor", {Value(b), Value(b)}).dtype(), DType::kFloat32);
  EXPECT_THAT(List(Call("div.Tensor_mode", {Value(b), Value(Make<std::int64_t>({}, {-7})), Value("floor")})),
              ElementsAre(-2, -3, -5));
  const Tensor half = Tensor::Empty({3}, DType::kFloat16, DeviceType::kCpu, keys());
  EXPECT_EQ(Call("mul.Tensor", {Value(half), Value(Floats({}, {2}))}).dtype(), DType::kFloat16);
  EXPECT_EQ(Call("lt.Tensor", {Value(a), Value(b)}).dtype(), DType::kBool);
}

TEST_F(OperatorTest, VariantsWriteWhatTheyAreGiven) {
  const Tensor a = Floats({3}, {1, 2, 3}), b = Floats({3}, {4, 5, 6});
  const std::uint64_t version = a.version();
  EXPECT_TRUE(Call("add_.Tensor", {Value(a), Value(b), Value(1)}).is_same(a));
  EXPECT_THAT(List(a), ElementsAre(5, 7, 9));
  EXPECT_EQ(a.version(), version + 1);
  const Tensor out = Make<double>({0}, {});
  EXPECT_TRUE(Call("add.out", {Value(a), Value(b), Value(1), Value(out)}).is_same(out));
  EXPECT_THAT(List(out), ElementsAre(9, 12, 15));
  EXPECT_THAT(ErrorOf("add_.Tensor", {Value(a), Value(Floats({2, 3}, {1, 1, 1, 1, 1, 1})), Value(1)},
                      ErrorClass::kInvalidArgument),
              testing::AllOf(HasSubstr("aten::add_.Tensor"), HasSubstr("[3]"), HasSubstr("[2, 3]")));
  ErrorOf("add_.Tensor", {Value(Make<int>({3}, {1, 2, 3})), Value(b), Value(1)}, ErrorClass::kInvalidArgument);
  const Tensor whole = Floats({4}, {1, 2, 3, 4});
  const Tensor first = whole.View({3}, {1}, 0), second = whole.View({3}, {1}, 1);
  EXPECT_THAT(ErrorOf("add_.Tensor", {Value(first), Value(second), Value(1)}, ErrorClass::kInvalidArgument),
              HasSubstr("overlap"));
  EXPECT_THAT(
      ErrorOf("add_.Tensor", {Value(whole.View({3}, {0}, 0)), Value(b), Value(1)}, ErrorClass::kInvalidArgument),
      HasSubstr("same place"));
  EXPECT_THAT(List(Call("cumsum_", {Value(whole), Value(0), Value::None()})), ElementsAre(1, 3, 6, 10));
}

// The dtype is the second level: keys do not tell it, the kernel does.
TEST_F(OperatorTest, TheTraceTellsTheInstance) {
  struct Heard : CallObserver {
    void OnCall(const CallEvent& event) override { calls.emplace_back(event.op->name()); }
    void OnInstance(const InstanceEvent& event) override {
      instances.push_back(std::string(event.op) + " " + std::string(event.dtype) + " " + std::string(event.device));
      depths.push_back(event.depth);
    }
    std::vector<std::string> calls, instances;
    std::vector<std::uint32_t> depths;
  } heard;
  registry_.ObserveCalls(&heard);
  const Tensor a = Floats({2}, {1, 2}), b = Make<double>({2}, {3, 4});
  Call("add.Tensor", {Value(a), Value(a), Value(1)});
  Call("add.Tensor", {Value(a), Value(b), Value(1)});
  Call("neg", {Value(Meta(b))});
  ErrorOf("neg", {Value(Make<bool>({1}, {true}))}, ErrorClass::kNoDtype);
  registry_.ObserveCalls(nullptr);
  Call("neg", {Value(a)});
  EXPECT_THAT(heard.instances,
              ElementsAre("aten::add.Tensor float32 cpu", "aten::add.Tensor float64 cpu", "aten::neg float64 meta"));
  EXPECT_THAT(heard.depths, testing::Each(1u));
  EXPECT_THAT(heard.calls, ElementsAre("aten::add.Tensor", "aten::add.Tensor", "aten::neg", "aten::neg"));
}

TEST_F(OperatorTest, ADTypeWithoutKernelIsAnErrorOfItsOwn) {
  const Tensor flags = Make<bool>({2, 2}, {true, false, true, true});
  EXPECT_THAT(ErrorOf("mm", {Value(flags), Value(flags)}, ErrorClass::kNoDtype),
              "'mm' is not implemented for bool on cpu");
  EXPECT_THAT(ErrorOf("mm", {Value(Meta(flags)), Value(Meta(flags))}, ErrorClass::kNoDtype), HasSubstr("on meta"));
  ErrorOf("sub.Tensor", {Value(flags), Value(flags), Value(1)}, ErrorClass::kNoDtype);
}

TEST_F(OperatorTest, TensorsOfOneCallAreOnOneDevice) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4}), meta = Meta(a);
  const Tensor at = Make<std::int64_t>({2}, {0, 1}), flags = Make<bool>({2, 2}, {true, false, true, true});
  const Value no = Value::None();
  const std::vector<std::pair<const char*, std::vector<Value>>> calls = {
      {"mm", {Value(a), Value(meta)}},
      {"matmul", {Value(meta), Value(a)}},
      {"linear", {Value(a), Value(meta), no}},
      {"add.Tensor", {Value(a), Value(meta), Value(1)}},
      {"embedding", {Value(meta), Value(at), Value(-1), Value(false), Value(false)}},
      {"index.Tensor", {Value(meta), Value(std::vector<Value>{Value(at)})}},
      {"gather", {Value(a), Value(0), Value(Meta(Make<std::int64_t>({1, 2}, {0, 1}))), Value(false)}},
      {"masked_fill.Scalar", {Value(meta), Value(flags), Value(1)}},
      {"masked_select", {Value(a), Value(Meta(flags))}},
      {"mse_loss", {Value(a), Value(meta), Value(1)}},
      {"cat", {Value(std::vector<Value>{Value(a), Value(meta)}), Value(0)}},
      {"add.out", {Value(a), Value(a), Value(1), Value(meta)}},
  };
  for (const auto& [name, arguments] : calls) {
    EXPECT_THAT(ErrorOf(name, arguments, ErrorClass::kInvalidArgument),
                testing::AllOf(HasSubstr("one device"), HasSubstr("cpu"), HasSubstr("meta")))
        << name;
  }
  const Tensor sum = Call("add.Tensor", {Value(meta), Value(Floats({}, {1})), Value(1)});
  EXPECT_EQ(sum.device().type, DeviceType::kMeta) << "a CPU tensor of no dimensions is like a Scalar";
}

TEST_F(OperatorTest, MemoryFormatsThatThereAreNot) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4});
  for (const int number : {-1, 4, 1 << 20}) {
    EXPECT_THAT(ErrorOf("clone", {Value(a), Value(number)}, ErrorClass::kInvalidArgument),
                testing::AllOf(HasSubstr("'memory_format'"), HasSubstr(std::to_string(number))));
  }
}

TEST_F(OperatorTest, IntegersDividedByZero) {
  const Tensor a = Make<int>({2}, {1, 2});
  EXPECT_THAT(ErrorOf("remainder.Tensor", {Value(a), Value(Make<int>({2}, {1, 0}))}, ErrorClass::kInvalidArgument),
              HasSubstr("zero"));
}

TEST_F(OperatorTest, Reductions) {
  const Tensor a = Floats({2, 3}, {1, 5, 3, 4, 2, 6});
  EXPECT_THAT(List(Call("sum", {Value(a), Value::None()})), ElementsAre(21));
  EXPECT_THAT(List(Call("sum.dim_IntList", {Value(a), Ints({0}), Value(true), Value::None()})), ElementsAre(5, 7, 9));
  EXPECT_THAT(List(Call("mean.dim", {Value(a), Ints({-1}), Value(false), Value::None()})), ElementsAre(3, 4));
  EXPECT_THAT(List(Call("argmax", {Value(a), Value(1), Value(false)})), ElementsAre(1, 2));
  EXPECT_THAT(List(Call("var.correction", {Value(a), Ints({1}), Value(1), Value(false)})), ElementsAre(4, 4));
  EXPECT_THAT(List(Call("norm.ScalarOpt_dim", {Value(Floats({2}, {3, 4})), Value(2), Ints({0}), Value(false)})),
              ElementsAre(5));
  EXPECT_THAT(List(Call("any.dim", {Value(Floats({2, 2}, {0, 0, 0.5, 0})), Value(1), Value(false)})),
              ElementsAre(0, 1));
  EXPECT_THAT(List(Call("cumsum", {Value(a), Value(0), Value::None()})), ElementsAre(1, 5, 3, 5, 7, 9));
  std::vector<Value> both = CallAll("max.dim", {Value(a), Value(0), Value(false)});
  EXPECT_THAT(List(both[0].ToTensor()), ElementsAre(4, 5, 6));
  EXPECT_THAT(List(both[1].ToTensor()), ElementsAre(1, 0, 1));
  EXPECT_NEAR(List(Call("logsumexp", {Value(Floats({2}, {1000, 1000})), Ints({0}), Value(false)}))[0],
              1000 + std::log(2.0), 1e-4);
  const Tensor ints = Make<std::uint8_t>({3}, {200, 100, 50});
  EXPECT_EQ(Call("sum", {Value(ints), Value::None()}).dtype(), DType::kInt64);
  EXPECT_THAT(List(Call("sum", {Value(ints), Value::None()})), ElementsAre(350));
  ErrorOf("amax", {Value(Floats({0, 2}, {})), Ints({0}), Value(false)}, ErrorClass::kInvalidArgument);
}

TEST_F(OperatorTest, ReductionsOfAnyShapeGiveExactSumsOfIntegers) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{5, 300, 7}, {1000, 33}, {3, 4097}, {2, 3, 1500}, {200000}}) {
    const Tensor a = Tensor::Empty(sizes, DType::kFloat32, DeviceType::kCpu, keys());
    for (std::int64_t i = 0; i < a.numel(); ++i) a.data<float>()[i] = static_cast<float>((i * 7919) % 31 - 15);
    for (std::int64_t dim = 0; dim < a.dim(); ++dim) {
      std::int64_t inner = 1;
      for (std::int64_t d = dim + 1; d < a.dim(); ++d) inner *= a.size(d);
      const std::vector<double> sums =
          List(Call("sum.dim_IntList", {Value(a), Ints({static_cast<int>(dim)}), Value(false), Value::None()}));
      for (std::size_t r = 0; r < sums.size(); ++r) {
        double expected = 0;
        const auto at = static_cast<std::int64_t>(r);
        for (std::int64_t k = 0; k < a.size(dim); ++k) {
          expected += a.data<float>()[(at / inner * a.size(dim) + k) * inner + at % inner];
        }
        ASSERT_EQ(sums[r], expected) << dim << " " << r;
      }
      const std::vector<double> soft = List(Call("softmax.int", {Value(a), Value(dim), Value::None()}));
      const Tensor totals = Call("sum.dim_IntList", {Value(Call("softmax.int", {Value(a), Value(dim), Value::None()})),
                                                     Ints({static_cast<int>(dim)}), Value(false), Value::None()});
      for (const double total : List(totals)) ASSERT_NEAR(total, 1, 1e-5);
      const std::vector<double> logs = List(Call("log_softmax.int", {Value(a), Value(dim), Value::None()}));
      for (std::size_t i = 0; i < soft.size(); i += 101) ASSERT_NEAR(std::log(soft[i]), logs[i], 1e-4);
    }
  }
}

TEST_F(OperatorTest, Products) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = Floats({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_THAT(List(Call("mm", {Value(a), Value(b)})), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(List(Call("mm", {Value(Call("t", {Value(b)})), Value(Call("t", {Value(a)}))})),
              ElementsAre(4, 10, 5, 11));
  EXPECT_THAT(List(Call("matmul", {Value(a), Value(Floats({3}, {1, 1, 1}))})), ElementsAre(6, 15));
  EXPECT_THAT(List(Call("addmm", {Value(Floats({2}, {1, 2})), Value(a), Value(b), Value(2), Value(1)})),
              ElementsAre(6, 9, 12, 15));
  EXPECT_THAT(List(Call("linear", {Value(a), Value(Call("t", {Value(b)})), Value(Floats({2}, {1, 1}))})),
              ElementsAre(5, 6, 11, 12));
  EXPECT_THAT(ErrorOf("mm", {Value(a), Value(a)}, ErrorClass::kInvalidArgument),
              testing::AllOf(HasSubstr("'mat2'"), HasSubstr("[2, 3]")));
  // Against plain loops, with integers that are exact in any order: BLAS, any strides, batches, integers and halves.
  for (const std::int64_t n : {7, 9, 65}) {
    const Tensor x = Tensor::Empty({3, n, n + 1}, DType::kFloat32, DeviceType::kCpu, keys());
    const Tensor y = Tensor::Empty({3, n + 1, n + 2}, DType::kFloat32, DeviceType::kCpu, keys());
    for (std::int64_t i = 0; i < x.numel(); ++i) x.data<float>()[i] = static_cast<float>(i % 7 - 3);
    for (std::int64_t i = 0; i < y.numel(); ++i) y.data<float>()[i] = static_cast<float>(i % 5 - 2);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kInt32}) {
      const auto to = [&](const Tensor& t) {
        return Call("to.dtype", {Value(t), Value(static_cast<int>(dtype)), Value(false), Value(false), Value::None()});
      };
      const std::vector<double> got = List(Call("matmul", {Value(to(x)), Value(to(y))}));
      std::size_t at = 0;
      for (std::int64_t z = 0; z < 3; ++z) {
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n + 2; ++j) {
            double expected = 0;
            for (std::int64_t k = 0; k <= n; ++k) {
              expected += x.data<float>()[(z * n + i) * (n + 1) + k] * y.data<float>()[(z * (n + 1) + k) * (n + 2) + j];
            }
            ASSERT_EQ(got[at++], expected) << n << " " << Spelling(dtype);
          }
        }
      }
    }
  }
}

TEST_F(OperatorTest, ViewsShareAndSayWhenTheyCannot) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor t = Call("transpose.int", {Value(a), Value(0), Value(1)});
  EXPECT_TRUE(t.is_alias_of(a));
  EXPECT_THAT(t.strides(), ElementsAre(1, 3));
  EXPECT_THAT(ErrorOf("view", {Value(t), Ints({6})}, ErrorClass::kInvalidArgument), HasSubstr("reshape"));
  EXPECT_THAT(List(Call("reshape", {Value(t), Ints({-1})})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(List(Call("select.int", {Value(a), Value(1), Value(-1)})), ElementsAre(3, 6));
  EXPECT_THAT(List(Call("slice.Tensor", {Value(a), Value(1), Value(0), Value::None(), Value(2)})),
              ElementsAre(1, 3, 4, 6));
  EXPECT_THAT(List(Call("diagonal", {Value(a), Value(1), Value(0), Value(1)})), ElementsAre(2, 6));
  EXPECT_THAT(List(Call("contiguous", {Value(t), Value(0)})), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(CallAll("chunk", {Value(a), Value(2), Value(1)})[0].ToList().size(), 2u);
  EXPECT_THAT(List(Call("cat", {Value(std::vector<Value>{Value(a), Value(a)}), Value(1)})),
              ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6));
  EXPECT_THAT(List(Call("flip", {Value(a), Ints({1})})), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(List(Call("repeat", {Value(Floats({2}, {1, 2})), Ints({2, 2})})), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(List(Call("constant_pad_nd", {Value(Floats({2}, {1, 2})), Ints({1, 1}), Value(9)})),
              ElementsAre(9, 1, 2, 9));
}

TEST_F(OperatorTest, Indexing) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor index = Make<std::int64_t>({2}, {2, 0});
  EXPECT_THAT(List(Call("index_select", {Value(a), Value(1), Value(index)})), ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(List(Call("gather", {Value(a), Value(1), Value(Make<std::int64_t>({2, 1}, {2, 1})), Value(false)})),
              ElementsAre(3, 5));
  EXPECT_THAT(List(Call("scatter_add", {Value(Floats({3}, {0, 0, 0})), Value(0),
                                        Value(Make<std::int64_t>({3}, {1, 1, 2})), Value(Floats({3}, {1, 2, 3}))})),
              ElementsAre(0, 3, 3));
  EXPECT_THAT(
      ErrorOf("index_select", {Value(a), Value(1), Value(Make<std::int64_t>({1}, {3}))}, ErrorClass::kInvalidArgument),
      HasSubstr("index 3"));
  EXPECT_THAT(List(Call("where.self",
                        {Value(Make<bool>({2}, {true, false})), Value(Floats({2}, {1, 2})), Value(Floats({1}, {9}))})),
              ElementsAre(1, 9));
  EXPECT_THAT(
      List(Call("masked_fill.Scalar", {Value(Floats({2}, {1, 2})), Value(Make<bool>({2}, {true, false})), Value(7)})),
      ElementsAre(7, 2));
  EXPECT_THAT(List(Call("nonzero", {Value(Floats({2, 2}, {0, 1, 1, 0}))})), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(List(Call("triu", {Value(a), Value(1)})), ElementsAre(0, 2, 3, 0, 0, 6));
  EXPECT_THAT(
      List(
          CallAll("sort.stable", {Value(Floats({3}, {2, NAN, 1})), Value(true), Value(0), Value(false)})[1].ToTensor()),
      ElementsAre(2, 0, 1));
  EXPECT_THAT(List(CallAll("topk", {Value(a), Value(1), Value(1), Value(true), Value(true)})[0].ToTensor()),
              ElementsAre(3, 6));
}

TEST_F(OperatorTest, FactoriesChooseADevice) {
  const Value none = Value::None();
  EXPECT_THAT(List(Call("arange", {Value(3), none, none, none, none})), ElementsAre(0, 1, 2));
  EXPECT_EQ(Call("arange", {Value(3), none, none, none, none}).dtype(), DType::kInt64);
  EXPECT_EQ(Call("full", {Ints({2}), Value(1.5), none, none, Value("meta"), none}).device().type, DeviceType::kMeta);
  EXPECT_THAT(List(Call("eye.m", {Value(2), Value(2), none, none, none, none})), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(List(Call("linspace", {Value(0), Value(1), Value(3), none, none, none, none})), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(List(Call("zeros_like", {Value(Floats({2}, {1, 2})), none, none, none, none, none})), ElementsAre(0, 0));
  const std::vector<Value> huge = {Value(std::int64_t{1} << 62), Value(4)};
  ErrorOf("empty.memory_format", {Value(huge), none, none, none, none, none}, ErrorClass::kOverflow);
  EXPECT_EQ(CallAll("item", {Value(Floats({1}, {2.5}))})[0].ToFloat(), 2.5);
}

TEST_F(OperatorTest, MetaGivesShapesStridesAndDTypes) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), t = a.View({3, 2}, {1, 3}, 0);
  for (const Tensor& x : {a, t}) {
    for (const char* name : {"exp", "neg", "isnan"}) {
      const Tensor real = Call(name, {Value(x)}), meta = Call(name, {Value(Meta(x))});
      EXPECT_EQ(meta.device().type, DeviceType::kMeta);
      EXPECT_EQ(DimVector(real.strides()), DimVector(meta.strides())) << name;
      EXPECT_EQ(DimVector(x.strides()), DimVector(meta.strides())) << name;
      EXPECT_EQ(real.dtype(), meta.dtype());
    }
  }
  EXPECT_THAT(Call("mm", {Value(Meta(a)), Value(Meta(t))}).sizes(), ElementsAre(2, 2));
  EXPECT_THAT(Call("sum.dim_IntList", {Value(Meta(a)), Ints({1}), Value(true), Value::None()}).sizes(),
              ElementsAre(2, 1));
}

TEST_F(OperatorTest, LayerNorm) {
  const Tensor a = Floats({2, 2}, {1, 3, -2, 2});
  const std::vector<double> out = List(Call("layer_norm", {Value(a), Ints({2}), Value(Floats({2}, {2, 2})),
                                                           Value(Floats({2}, {1, 0})), Value(0.0), Value(true)}));
  EXPECT_THAT(out, ElementsAre(-1, 2, -1, 2));
}

TEST_F(OperatorTest, IndicesOfSomeDimensions) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor last = Make<std::int64_t>({2}, {-1, 0});
  const auto list = [](std::vector<Value> values) { return Value(std::move(values)); };
  EXPECT_THAT(List(Call("index.Tensor", {Value(a), list({Value::None(), Value(last)})})), ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(List(Call("index.Tensor", {Value(a), list({Value(last), Value(last)})})), ElementsAre(6, 1));
  EXPECT_THAT(List(Call("index.Tensor", {Value(a), list({Value(Make<bool>({2}, {false, true}))})})),
              ElementsAre(4, 5, 6));
  EXPECT_THAT(List(Call("index_put", {Value(a), list({Value(Make<std::int64_t>({2}, {0, 0}))}),
                                      Value(Floats({1}, {10})), Value(true)})),
              ElementsAre(21, 22, 23, 4, 5, 6));
}

TEST_F(OperatorTest, ConvolutionAndPooling) {
  const Value one = Ints({1}), zero = Ints({0});
  const Tensor x = Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), w = Floats({1, 1, 2, 2}, {1, 0, 0, 1});
  EXPECT_THAT(List(Call("conv2d", {Value(x), Value(w), Value(Floats({1}, {1})), one, zero, one, Value(1)})),
              ElementsAre(7, 9, 13, 15));
  EXPECT_THAT(List(Call("conv2d", {Value(x), Value(w), Value::None(), Ints({2}), one, one, Value(1)})),
              ElementsAre(1, 3, 7, 14));
  EXPECT_THAT(List(Call("max_pool2d", {Value(x), Ints({2}), one, zero, one, Value(false)})), ElementsAre(5, 6, 8, 9));
  EXPECT_THAT(List(Call("avg_pool2d", {Value(x), Ints({2}), one, zero, Value(false), Value(true), Value::None()})),
              ElementsAre(3, 4, 6, 7));
  EXPECT_THAT(List(Call("adaptive_avg_pool2d", {Value(x), Ints({1, 1})})), ElementsAre(5));
  const Value none = Value::None();
  const std::vector<double> norm = List(Call("batch_norm", {Value(Floats({2, 1, 1}, {1, 3})), none, none, none, none,
                                                            Value(true), Value(0.1), Value(0.0), Value(true)}));
  EXPECT_THAT(norm, ElementsAre(-1, 1));
}

TEST_F(OperatorTest, Losses) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4}), y = Floats({2, 2}, {1, 0, 0, 0});
  EXPECT_THAT(List(Call("mse_loss", {Value(x), Value(y), Value(2)})), ElementsAre(29));
  EXPECT_THAT(List(Call("l1_loss", {Value(x), Value(y), Value(1)})), ElementsAre(2.25));
  EXPECT_THAT(List(Call("smooth_l1_loss", {Value(x), Value(y), Value(0), Value(1.0)})), ElementsAre(0, 1.5, 2.5, 3.5));
  const Tensor target = Make<std::int64_t>({2}, {1, -100});
  EXPECT_THAT(List(Call("nll_loss", {Value(x), Value(target), Value::None(), Value(1), Value(-100)})), ElementsAre(-2));
  EXPECT_NEAR(
      List(Call("cross_entropy_loss", {Value(x), Value(target), Value::None(), Value(1), Value(-100), Value(0.0)}))[0],
      std::log1p(std::exp(-1.0)), 1e-6);
  EXPECT_NEAR(List(Call("binary_cross_entropy_with_logits",
                        {Value(Floats({1}, {0})), Value(Floats({1}, {1})), Value::None(), Value::None(), Value(1)}))[0],
              std::log(2.0), 1e-6);
}

TEST_F(OperatorTest, RandomNumbersRepeatWithTheSeed) {
  const Value none = Value::None();
  SetSeed(7);
  const std::vector<double> first = List(Call("rand", {Ints({1000}), none, none, none, none}));
  const std::vector<double> more = List(Call("rand", {Ints({1000}), none, none, none, none}));
  SetSeed(7);
  EXPECT_EQ(List(Call("rand", {Ints({1000}), none, none, none, none})), first);
  EXPECT_NE(first, more);
  double sum = 0;
  for (const double x : first) {
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  for (const double x : List(Call("randint.low", {Value(-2), Value(3), Ints({500}), none, none, none, none}))) {
    ASSERT_GE(x, -2);
    ASSERT_LT(x, 3);
  }
  // Of Philox4x32-10, from its authors' list of known answers.
  const Random128 known = Philox(0, 0);
  EXPECT_THAT(std::vector<std::uint32_t>(known.word, known.word + 4),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST_F(OperatorTest, ASmallSumIsQuick) {
  const Tensor a = Floats({8}, std::vector<float>(8, 1)), b = Floats({8}, std::vector<float>(8, 2));
  using Add = Tensor(const Tensor&, const Tensor&, const Scalar&);
  const TypedOperator<Add> add = Operator::Find(registry_, "aten::add.Tensor").typed<Add>();
  const Scalar one(1);
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  EXPECT_THAT(List(add.call(a, b, one)), testing::Each(3));
  double best = HUGE_VAL;
  for (int round = 0; round < 50; ++round) {
    const double begin = now();
    for (int i = 0; i < 1000; ++i) add.call(a, b, one);
    best = std::min(best, (now() - begin) / 1000);
  }
  RecordProperty("nanoseconds", std::to_string(best));
  std::printf("add of 8 elements, end to end: %.0f ns\n", best);
}

TEST(RegisterTest, EveryOperatorOfTheTableHasAKernel) { EXPECT_THAT(OperatorsWithoutKernel(), testing::IsEmpty()); }

}  // namespace
}  // namespace plumbline::kernels
