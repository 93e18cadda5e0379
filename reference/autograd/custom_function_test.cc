#include "reference/autograd/custom_function.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "reference/autograd/testing/toy_operators.h"

namespace plumbline::reference {
namespace {

using namespace toy;  // NOLINT: whole tests are about it
using testing::ElementsAre;
using testing::HasSubstr;

Gradients One(const Tensor& gradient) {
  Gradients out(1);
  out[0] = Gradient(gradient);
  return out;
}

// 3 x, and what backward does is the test's.
CustomFunction Triple(std::function<Gradients(FunctionContext&, Gradients&)> backward = nullptr) {
  if (backward == nullptr) {
    backward = [](FunctionContext&, Gradients& in) { return One(Mul(in[0].tensor(), Make({1}, {3}))); };
  }
  return {.name = "Triple",
          .forward = [](FunctionContext&,
                        std::span<const Tensor> in) { return std::vector<Tensor>{Mul(in[0], Make({1}, {3}))}; },
          .backward = std::move(backward)};
}

TEST(CustomFunction, HasItsOwnBackward) {
  const Tensor x = Leaf({2}, {1, 2});
  const Tensor y = ApplyFunction(Triple(), {x})[0];
  EXPECT_EQ(GradFn(y)->name(), "Triple");
  EXPECT_THAT(ValuesOf(y), ElementsAre(3, 6));
  Back(Sum(y));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(3, 3));
}

TEST(CustomFunction, ForwardRecordsNothingAndInputsStayAsTheyAre) {
  const Tensor x = Leaf({1}, {1});
  bool mode = true, input = false, inner = true;
  const CustomFunction looks{.name = "Looks",
                             .forward =
                                 [&](FunctionContext&, std::span<const Tensor> in) {
                                   mode = GradMode::IsOn();
                                   input = RequiresGrad(in[0]);
                                   const Tensor out = Exp(in[0]);
                                   inner = RequiresGrad(out);
                                   return std::vector<Tensor>{out};
                                 },
                             .backward = [](FunctionContext&, Gradients& in) { return One(in[0].tensor()); }};
  EXPECT_TRUE(RequiresGrad(ApplyFunction(looks, {x})[0]));
  EXPECT_FALSE(mode);
  EXPECT_TRUE(input);
  EXPECT_FALSE(inner);
  const std::uint64_t next = autograd_state.next_sequence;
  const GradMode off(false);
  EXPECT_FALSE(RequiresGrad(ApplyFunction(looks, {x})[0]));
  EXPECT_EQ(autograd_state.next_sequence, next + 1) << "of a node that is thrown away";
}

TEST(CustomFunction, SavedTensorsComeBackAsTheyWere) {
  const Tensor a = Leaf({1}, {0});
  std::vector<bool> requires_grad;
  std::vector<std::string> from;
  const CustomFunction saves{.name = "Saves",
                             .forward =
                                 [](FunctionContext& context, std::span<const Tensor> in) {
                                   const Tensor result = Exp(in[0]);
                                   context.Save({in[0], result, Mul(in[0], in[0]), Tensor()});
                                   return std::vector<Tensor>{result};
                                 },
                             .backward =
                                 [&](FunctionContext& context, Gradients& in) {
                                   for (std::size_t i = 0; i < 3; ++i) {
                                     const Tensor saved = context.Saved(i).tensor();
                                     requires_grad.push_back(RequiresGrad(saved));
                                     const NodeRef node = GradFn(saved);
                                     from.emplace_back(node ? node->name() : "");
                                   }
                                   EXPECT_FALSE(context.Saved(3).defined());
                                   MessageOf(ErrorClass::kInvalidArgument, [&] { context.Saved(4); });
                                   return One(Mul(in[0].tensor(), context.Saved(1).tensor()));
                                 }};
  const std::int64_t before = Node::Alive();
  { ApplyFunction(saves, {a}); }
  EXPECT_EQ(Node::Alive(), before) << "a saved result makes no cycle";
  const Tensor y = ApplyFunction(saves, {a})[0];
  Back(y);
  EXPECT_THAT(requires_grad, ElementsAre(true, true, false));
  EXPECT_THAT(from, ElementsAre("", "Saves", ""));
  EXPECT_THAT(MessageOf(ErrorClass::kGraphFreed, [&] { Back(y); }), HasSubstr("Saves"));
  const Tensor z = ApplyFunction(saves, {a})[0];
  Write(z, 1);
  MessageOf(ErrorClass::kVersionChanged, [&] { Back(z); });
}

CustomFunction Two(bool materializes, std::vector<bool>& defined) {
  return {.name = "Two",
          .forward =
              [materializes](FunctionContext& context, std::span<const Tensor> in) {
                context.MaterializeGradients(materializes);
                return std::vector<Tensor>{Mul(in[0], in[0]), Mul(in[1], in[1])};
              },
          .backward =
              [&defined](FunctionContext&, Gradients& in) {
                defined = {in[0].defined(), in[1].defined()};
                Gradients out(2);
                out[0] = in[0];
                out[1] = in[1];
                return out;
              }};
}

TEST(CustomFunction, GradientsThatDidNotArriveAreZeros) {
  std::vector<bool> defined;
  Tensor x = Leaf({1}, {2}), y = Leaf({1}, {3});
  Back(ApplyFunction(Two(true, defined), {x, y})[0]);
  EXPECT_THAT(defined, ElementsAre(true, true));
  EXPECT_THAT(ValuesOf(Grad(y)), ElementsAre(0));
  y = Leaf({1}, {3});
  Back(ApplyFunction(Two(false, defined), {x, y})[0]);
  EXPECT_THAT(defined, ElementsAre(true, false));
  EXPECT_FALSE(Grad(y).defined());
}

TEST(CustomFunction, BackwardGivesOneForEachInput) {
  const Tensor x = Leaf({1}, {1});
  const auto giving = [&](std::size_t count, bool last_defined) {
    return ApplyFunction(Triple([=](FunctionContext&, Gradients& in) {
                           Gradients out(count);
                           if (count > 0) out[0] = in[0];
                           if (last_defined) out.back() = in[0];
                           return out;
                         }),
                         {x})[0];
  };
  Back(giving(3, false));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(1));
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(giving(3, true)); }),
              HasSubstr("Triple: backward gave 3 gradients for 1 inputs"));
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(giving(0, false)); }), HasSubstr("gave 0"));
}

TEST(CustomFunction, ResultsThatAreNotDifferentiable) {
  const Tensor x = Leaf({1}, {2});
  std::size_t gradients = 0;
  const CustomFunction marks{.name = "Marks",
                             .forward =
                                 [](FunctionContext& context, std::span<const Tensor> in) {
                                   const Tensor marked = Mul(in[0], in[0]);
                                   context.MarkNonDifferentiable(marked);
                                   return std::vector<Tensor>{Mul(in[0], in[0]), marked};
                                 },
                             .backward =
                                 [&](FunctionContext&, Gradients& in) {
                                   gradients = in.size();
                                   EXPECT_THAT(ValuesOf(in[1]), ElementsAre(0));
                                   return One(in[0].tensor());
                                 }};
  const std::vector<Tensor> results = ApplyFunction(marks, {x});
  EXPECT_TRUE(RequiresGrad(results[0]));
  EXPECT_FALSE(RequiresGrad(results[1]));
  Back(results[0]);
  EXPECT_EQ(gradients, 2u);
}

TEST(CustomFunction, AnInputThatIsReturnedIsAnotherTensor) {
  const CustomFunction same{
      .name = "Same",
      .forward = [](FunctionContext&, std::span<const Tensor> in) { return std::vector<Tensor>{in[0]}; },
      .backward = [](FunctionContext&, Gradients& in) { return One(Mul(in[0].tensor(), Make({1}, {3}))); }};
  const Tensor x = Leaf({1}, {1});
  const Tensor y = ApplyFunction(same, {x})[0];
  EXPECT_FALSE(y.is_same(x));
  EXPECT_TRUE(y.is_alias_of(x));
  EXPECT_EQ(GradFn(y)->name(), "Same");
  Back(y);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(3));
  const Tensor plain = Make({1});
  EXPECT_FALSE(ApplyFunction(same, {plain})[0].is_same(plain));
}

CustomFunction Doubles(bool returns = true) {
  return {.name = "Doubles",
          .forward =
              [returns](FunctionContext& context, std::span<const Tensor> in) {
                Write(in[0], 2 * ValuesOf(in[0])[0]);
                context.MarkDirty(in[0]);
                return std::vector<Tensor>{returns ? in[0] : Make({1})};
              },
          .backward = [](FunctionContext&, Gradients& in) { return One(Mul(in[0].tensor(), Make({1}, {2}))); }};
}

TEST(CustomFunction, ADirtyInputGoesOnFromTheFunction) {
  const Tensor x = Leaf({1}, {3});
  const Tensor y = Mul(x, Make({1}, {5}));
  const std::uint64_t version = y.version();
  const Tensor z = ApplyFunction(Doubles(), {y})[0];
  EXPECT_TRUE(z.is_same(y));
  EXPECT_EQ(y.version(), version + 2) << "of the write and the mark";
  EXPECT_EQ(GradFn(y)->name(), "Doubles");
  EXPECT_EQ(GradFn(y)->edges()[0].node->name(), "MulBackward");
  Back(y);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(10));
}

TEST(CustomFunction, WhatCannotBeDirtyIsRefused) {
  const Tensor x = Leaf({1}, {3});
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { ApplyFunction(Doubles(), {x}); }), HasSubstr("a leaf"));
  const Tensor y = Exp(x);
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { ApplyFunction(Doubles(false), {y}); }),
              HasSubstr("not returned"));
  const CustomFunction other{.name = "Other",
                             .forward =
                                 [](FunctionContext& context, std::span<const Tensor>) {
                                   const Tensor made = Make({1});
                                   context.MarkDirty(made);
                                   return std::vector<Tensor>{made};
                                 },
                             .backward = [](FunctionContext&, Gradients&) { return Gradients(1); }};
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { ApplyFunction(other, {x}); }), HasSubstr("no input"));
}

TEST(CustomFunction, KnowsWhichGradientsAreWanted) {
  const Tensor x = Leaf({1}, {1}), y = Leaf({1}, {1}), plain = Make({1});
  std::vector<bool> needs;
  const CustomFunction asks{
      .name = "Asks",
      .forward = [](FunctionContext&, std::span<const Tensor> in) { return std::vector<Tensor>{Mul(in[0], in[1])}; },
      .backward =
          [&](FunctionContext& context, Gradients& in) {
            needs = {context.NeedsGradient(0), context.NeedsGradient(1), context.NeedsGradient(2)};
            Gradients out(3);
            out[0] = in[0];
            out[1] = in[0];
            return out;
          }};
  const Tensor z = ApplyFunction(asks, {x, y, plain})[0];
  const Root roots[] = {{z}};
  const Tensor inputs[] = {y};
  GradientsOf(Toy(), roots, inputs);
  EXPECT_THAT(needs, ElementsAre(false, true, false));
  Back(z);
  EXPECT_THAT(needs, ElementsAre(true, true, false));
}

TEST(CustomFunction, BackwardIsRecordedWithCreateGraph) {
  const CustomFunction square{.name = "Square",
                              .forward =
                                  [](FunctionContext& context, std::span<const Tensor> in) {
                                    context.Save({in[0]});
                                    return std::vector<Tensor>{Mul(in[0], in[0])};
                                  },
                              .backward =
                                  [](FunctionContext& context, Gradients& in) {
                                    return One(Mul(Mul(in[0].tensor(), context.Saved(0).tensor()), Make({1}, {2})));
                                  }};
  const Tensor x = Leaf({1}, {3});
  const Root roots[] = {{ApplyFunction(square, {x})[0]}};
  const Tensor inputs[] = {x};
  const Gradient first = GradientsOf(Toy(), roots, inputs, {.create_graph = true})[0];
  const Root again[] = {{first.tensor()}};
  EXPECT_THAT(ValuesOf(first), ElementsAre(6));
  EXPECT_THAT(ValuesOf(GradientsOf(Toy(), again, inputs)[0]), ElementsAre(2));
}

}  // namespace
}  // namespace plumbline::reference
