#include "reference/autograd/engine.h"

#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "reference/autograd/testing/toy_operators.h"

namespace plumbline::reference {
namespace {

using namespace toy;  // NOLINT: whole tests are about it
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Gradient> GradsOf(const Tensor& root, std::vector<Tensor> inputs, const PassOptions& options = {},
                              bool allow_unused = false) {
  const Root roots[] = {{root}};
  return GradientsOf(Toy(), roots, inputs, options, allow_unused);
}

Tensor Record(const char* name, const Tensor& value, std::vector<Tensor> arguments, FunctionNode::Function function) {
  NodeRef node = MakeNode<FunctionNode>(name, std::move(function));
  for (const Tensor& argument : arguments) node->AddEdge(EdgeOf(argument));
  SetHistory(value, node);
  return value;
}
// Passes its gradient on, and notes its name.
Tensor Pass(const char* name, const Tensor& a, std::vector<std::string>* order = nullptr) {
  return Record(name, Make(a.sizes(), ValuesOf(a)), {a}, [order, name](Node&, Gradients& in, Gradients& out) {
    if (order != nullptr) order->emplace_back(name);
    out[0] = in[0];
  });
}

class EngineTest : public testing::Test {
 protected:
  ~EngineTest() override { EXPECT_EQ(Node::Alive(), alive_) << "nodes are left"; }

 private:
  const std::int64_t alive_ = Node::Alive();
};

// ---- graphs ----

TEST_F(EngineTest, AGraphHasTheArgumentsEdges) {
  const Tensor x = Leaf({2}, {1, 2}), y = Make({2}, {3, 4});
  const Tensor z = Sum(Add(Mul(x, y), x));
  const NodeRef sum = GradFn(z), add = sum->edges()[0].node, mul = add->edges()[0].node;
  EXPECT_EQ(sum->name(), "SumBackward");
  EXPECT_EQ(add->name(), "AddBackward");
  EXPECT_EQ(mul->name(), "MulBackward");
  EXPECT_EQ(mul->edges()[0].node->name(), "AccumulateGrad");
  EXPECT_FALSE(mul->edges()[1]) << "y requires none";
  EXPECT_EQ(mul->edges()[0].node, add->edges()[1].node) << "one accumulator";
  EXPECT_THAT((std::vector{sum->topological(), add->topological(), mul->topological()}), ElementsAre(3, 2, 1));
  EXPECT_EQ(mul->edges()[0].node->topological(), 0u);
  EXPECT_EQ(sum->sequence(), mul->sequence() + 2);
  EXPECT_EQ(mul->edges()[0].node->sequence(), Node::kLast);
  EXPECT_THAT(mul->inputs()[0].sizes, ElementsAre(2));
  EXPECT_TRUE(IsLeaf(x) && IsLeaf(y) && !IsLeaf(z) && RequiresGrad(z));
}

TEST_F(EngineTest, ANodeThatIsLedToKeepsItsEdges) {
  const Tensor x = Leaf({1}), y = Pass("A", x), z = Pass("B", y);
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { GradFn(y)->AddEdge(EdgeOf(x)); }), HasSubstr("A: an edge"));
}

TEST_F(EngineTest, AnAccumulatorGoesWithTheLastGraph) {
  const Tensor x = Leaf({1});
  const std::int64_t before = Node::Alive();
  {
    const Tensor y = Pass("A", x);
    EXPECT_EQ(Node::Alive(), before + 2);
  }
  EXPECT_EQ(Node::Alive(), before);
  EXPECT_TRUE(EdgeOf(x)) << "a new one";
}

TEST_F(EngineTest, NoGradRecordsNothing) {
  const Tensor x = Leaf({1}, {2});
  const std::uint64_t next = autograd_state.next_sequence;
  {
    const GradMode off(false);
    EXPECT_FALSE(RequiresGrad(Mul(x, x)));
  }
  EXPECT_TRUE(RequiresGrad(Mul(x, x)));
  EXPECT_EQ(autograd_state.next_sequence, next + 1);
  std::thread([] {
    EXPECT_TRUE(GradMode::IsOn());
    EXPECT_EQ(autograd_state.next_sequence, 0u);
  }).join();
}

TEST_F(EngineTest, OnlyFloatsRequireAndResultsCannotStop) {
  const Tensor whole = Tensor::Empty({1}, DType::kInt32, DeviceType::kCpu, *Keys());
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { SetRequiresGrad(whole, true); }), HasSubstr("int32"));
  const Tensor y = Exp(Leaf({1}));
  SetRequiresGrad(y, true);
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { SetRequiresGrad(y, false); }), HasSubstr("detach"));
}

// ---- passes ----

TEST_F(EngineTest, TheClassicSum) {  // b = a * 2; sum
  const Tensor a = Leaf({2}, {1, 2});
  Back(Sum(Mul(a, Make({2}, {2, 2}))));
  EXPECT_THAT(ValuesOf(Grad(a)), ElementsAre(2, 2));
}

TEST_F(EngineTest, PathsAreSummedAndANodeRunsOnce) {
  const Tensor x = Leaf({1}, {3});
  std::vector<std::string> order;
  const Tensor a = Pass("A", x, &order);
  Back(Add(Mul(a, Make({1}, {2})), Mul(a, Make({1}, {3}))));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(5));
  EXPECT_THAT(order, ElementsAre("A"));
}

TEST_F(EngineTest, WhatWasMadeLaterRunsFirst) {
  const Tensor x = Leaf({1});
  std::vector<std::string> order;
  const Tensor a = Pass("A", x, &order), b = Pass("B", a, &order), c = Pass("C", a, &order);
  AddTensorHook(x, [&](const Gradient&) {
    order.emplace_back("leaf");
    return Gradient();
  });
  const Tensor far = Pass("D", Leaf({1}), &order);
  Back(Add(far, Add(c, b)));
  EXPECT_THAT(order, ElementsAre("D", "C", "B", "A", "leaf"));
}

TEST_F(EngineTest, AccumulatorsRunAtOnce) {
  const Tensor x = Leaf({1}), y = Leaf({1});
  std::vector<std::string> order;
  const Tensor a = Pass("A", x, &order);
  AddTensorHook(y, [&](const Gradient&) {
    order.emplace_back("leaf");
    return Gradient();
  });
  Back(Add(a, y));
  EXPECT_THAT(order, ElementsAre("leaf", "A"));
}

TEST_F(EngineTest, RootsAreChecked) {
  const Tensor x = Leaf({2}, {1, 2});
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(Exp(x)); }), HasSubstr("scalar outputs"));
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(Make({1})); }), HasSubstr("element 0"));
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument,
                        [&] {
                          const Root roots[] = {{Sum(x)}, {Make({1})}};
                          Backward(Toy(), roots);
                        }),
              HasSubstr("element 1"));
  MessageOf(ErrorClass::kInvalidArgument, [&] { Backward(Toy(), {}); });
  const Root misfit[] = {{Exp(x), Gradient(Make({3}))}};
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Backward(Toy(), misfit); }),
              HasSubstr("given for root 0 does not fit: its sizes are [3]"));
  Back(Mul(Leaf({1, 1}, {1}), Make({1, 1}, {1})));  // one element, whatever the dimensions
}

TEST_F(EngineTest, AGivenGradientIsSummedToTheRoot) {
  const Tensor x = Leaf({2}, {1, 1});
  const Root roots[] = {{Mul(x, Make({2}, {1, 1})), Gradient(Make({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}))}};
  Backward(Toy(), roots);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(4, 4));
}

TEST_F(EngineTest, ARootTwiceCountsTwiceAndALeafMayBeOne) {
  const Tensor x = Leaf({1}, {3});
  const Tensor z = Mul(x, Make({1}, {1}));
  const Root roots[] = {{z}, {z}};
  Backward(Toy(), roots);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(2));
  Back(x);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(3));
}

TEST_F(EngineTest, ARootMayLeadToAnother) {
  const Tensor x = Leaf({1}, {2});
  const Tensor y = Mul(x, x), z = Mul(y, x);  // 2 x + 3 x^2
  const Root roots[] = {{y}, {z}};
  Backward(Toy(), roots);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(16));
}

TEST_F(EngineTest, NothingIsPassedOnAsNothing) {
  const Tensor x = Leaf({1});
  int runs = 0;
  const Tensor a = Record("A", Make({1}), {x}, [&](Node&, Gradients& in, Gradients&) {
    ++runs;
    EXPECT_FALSE(in[0].defined());
  });
  Back(Record("None", Make({1}), {a}, [](Node&, Gradients&, Gradients&) {}));
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(Grad(x).defined());
}

TEST_F(EngineTest, WhatANodeGivesIsChecked) {
  const Tensor x = Leaf({2});
  const auto giving = [&](const Gradient& gradient) {
    return Record("Bad", Make({1}), {x}, [gradient](Node&, Gradients&, Gradients& out) { out[0] = gradient; });
  };
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(giving(Gradient(Make({7})))); }),
              testing::AllOf(HasSubstr("Bad"), HasSubstr("[7]"), HasSubstr("[2]")));
  const Tensor narrow = Tensor::Empty({2}, DType::kFloat32, DeviceType::kCpu, *Keys());
  narrow.data<float>()[0] = narrow.data<float>()[1] = 4;
  Back(giving(Gradient(narrow)));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(4, 4));
  const Tensor more = Record("More", Make({1}), {x}, [](Node&, Gradients&, Gradients& out) { out.resize(2); });
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(more); }), HasSubstr("gave 2 gradients, and has 1"));
  const Tensor elsewhere = Tensor::Empty({2}, DType::kFloat64, DeviceType::kMeta, *Keys());
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(giving(Gradient(elsewhere))); }), HasSubstr("device"));
}

TEST_F(EngineTest, SumsNeverWriteWhatOthersSee) {  // (a + b) + a
  const Tensor a = Leaf({1}, {1}), b = Leaf({1}, {1}), g = Make({1}, {1});
  const Root roots[] = {{Add(Add(a, b), a), Gradient(g)}};
  Backward(Toy(), roots);
  EXPECT_THAT(ValuesOf(Grad(a)), ElementsAre(2));
  EXPECT_THAT(ValuesOf(Grad(b)), ElementsAre(1));
  EXPECT_THAT(ValuesOf(g), ElementsAre(1));
}

// ---- what is freed ----

TEST_F(EngineTest, ASecondPassNeedsTheGraphKept) {
  const Tensor x = Leaf({1}, {3});
  const Tensor y = Mul(x, x);
  Back(y, {.keep_graph = true});
  Back(y);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(12));
  EXPECT_THAT(MessageOf(ErrorClass::kGraphFreed, [&] { Back(y); }), HasSubstr("MulBackward"));
  const Tensor z = Add(x, x);  // nothing is saved
  Back(z);
  Back(z);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(16));
}

TEST_F(EngineTest, AFailedPassFreesWhatItWentThrough) {
  const Tensor x = Leaf({1}, {3});
  const Tensor bad = Record("Bad", Make({1}), {x}, [](Node&, Gradients&, Gradients&) { throw 7; });
  const Tensor y = Mul(bad, bad);
  EXPECT_THROW(Back(y), int) << "as it was thrown";
  MessageOf(ErrorClass::kGraphFreed, [&] { Back(y); });
  Back(x);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(1)) << "the engine goes on";
}

TEST_F(EngineTest, OwnResultsMakeNoCycle) {
  const Tensor x = Leaf({1}, {0});
  const std::int64_t before = Node::Alive();
  { const Tensor y = Exp(x); }
  EXPECT_EQ(Node::Alive(), before);
  Back(Exp(x));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(1));
}

TEST_F(EngineTest, AWrittenTensorIsNoticed) {
  const Tensor x = Leaf({1}, {3}), w = Make({1}, {2});
  const Tensor y = Mul(x, w);
  Write(w, 5);
  const std::string error = MessageOf(ErrorClass::kVersionChanged, [&] { Back(y); });
  EXPECT_THAT(error, HasSubstr("modified by an inplace operation"));
  EXPECT_THAT(error, HasSubstr("a leaf, is at version 1; version 0 was saved"));
  const Tensor z = Exp(x);
  Write(Detached(z), 1);
  EXPECT_THAT(MessageOf(ErrorClass::kVersionChanged, [&] { Back(z); }), HasSubstr("result 0 of ExpBackward"));
  const Tensor sum = Add(x, w);
  Write(w, 6);
  Back(sum);  // needs no elements
}

// ---- gradients of gradients ----

TEST_F(EngineTest, HigherOrders) {  // x^3 at 3: 27, 18, 6
  const Tensor x = Leaf({1}, {3});
  const Tensor y = Mul(Mul(x, x), x);
  const Gradient first = GradsOf(y, {x}, {.create_graph = true})[0];
  const Gradient second = GradsOf(first.tensor(), {x}, {.create_graph = true})[0];
  const Gradient third = GradsOf(second.tensor(), {x})[0];
  EXPECT_THAT(ValuesOf(first), ElementsAre(27));
  EXPECT_THAT(ValuesOf(second), ElementsAre(18));
  EXPECT_THAT(ValuesOf(third), ElementsAre(6));
  EXPECT_TRUE(RequiresGrad(first.tensor()));
  EXPECT_FALSE(RequiresGrad(third.tensor()));
  EXPECT_FALSE(Grad(x).defined());
}

TEST_F(EngineTest, GradModeIsThatOfThePass) {
  const Tensor x = Leaf({1}, {3});
  std::vector<bool> modes;
  const auto y = [&] {
    return Record("A", Make({1}), {x}, [&](Node&, Gradients&, Gradients&) { modes.push_back(GradMode::IsOn()); });
  };
  Back(y());
  Back(y(), {.create_graph = true});
  const Tensor later = y();
  {
    const GradMode off(false);
    Back(later);
    EXPECT_FALSE(GradMode::IsOn());
  }
  EXPECT_THAT(modes, ElementsAre(false, true, false));
}

// ---- accumulation ----

TEST_F(EngineTest, TheFirstGradientIsTakenOver) {
  const Tensor x = Leaf({2});
  void* made = nullptr;
  Back(Record("A", Make({1}), {x}, [&](Node&, Gradients&, Gradients& out) {
    const Tensor fresh = Make({2}, {1, 1});
    made = fresh.data();
    out[0] = Gradient(fresh);
  }));
  EXPECT_EQ(Grad(x).tensor().data(), made);
}

TEST_F(EngineTest, WhatOthersHoldIsCopied) {
  const Tensor x = Leaf({1}), g = Make({1}, {1});
  const Root roots[] = {{x, Gradient(g)}};
  Backward(Toy(), roots);
  EXPECT_NE(Grad(x).tensor().data(), g.data());
  const Tensor y = Leaf({1});
  const Root alias[] = {{Pass("A", y), Gradient(Detached(g))}};
  Backward(Toy(), alias);
  EXPECT_NE(Grad(y).tensor().data(), g.data()) << "nor a view of it";
}

TEST_F(EngineTest, LaterGradientsAreAddedInPlaceUnlessRecorded) {
  const Tensor x = Leaf({1}, {1});
  const auto y = [&] { return Mul(x, Make({1}, {2})); };
  Back(y());
  const Gradient held = Grad(x);
  Back(y());
  EXPECT_TRUE(Grad(x).tensor().is_same(held.tensor()));
  EXPECT_THAT(ValuesOf(held), ElementsAre(4));
  Back(y(), {.create_graph = true});
  EXPECT_FALSE(Grad(x).tensor().is_same(held.tensor()));
  EXPECT_THAT(ValuesOf(held), ElementsAre(4));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(6));
}

TEST_F(EngineTest, AGradientLiesAsItsLeafDoes) {
  const Tensor leaf = Tensor::EmptyStrided({2, 3}, {1, 2}, DType::kFloat64, DeviceType::kCpu, *Keys());
  SetRequiresGrad(leaf, true);
  Back(Record("A", Make({1}), {leaf}, [](Node&, Gradients&, Gradients& out) {
    out[0] = Gradient(Make({2, 3}, {1, 2, 3, 4, 5, 6}));
  }));
  EXPECT_THAT(Grad(leaf).tensor().strides(), ElementsAre(1, 2));
  EXPECT_THAT(ValuesOf(Grad(leaf)), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(EngineTest, ALeafThatRequiresNothingNowGetsNothing) {
  const Tensor x = Leaf({1}, {1});
  const Tensor y = Mul(x, Make({1}, {2}));
  SetRequiresGrad(x, false);
  Back(y);
  EXPECT_FALSE(Grad(x).defined());
}

TEST_F(EngineTest, ALeafThatBecameAResultIsAnError) {
  const Tensor x = Leaf({1}, {1});
  const Tensor y = Mul(x, Make({1}, {2}));
  MetaOf(x)->grad_fn = GradFn(Exp(Leaf({1})));
  EXPECT_THAT(MessageOf(ErrorClass::kInternal, [&] { Back(y); }), HasSubstr("ExpBackward"));
  MetaOf(x)->grad_fn = NodeRef();
}

TEST_F(EngineTest, ASetGradientHasToFit) {
  const Tensor x = Leaf({2});
  const auto refused = [&](Tensor g) {
    return MessageOf(ErrorClass::kInvalidArgument, [&] { SetGrad(x, Gradient(g)); });
  };
  EXPECT_THAT(refused(x), HasSubstr("itself"));
  EXPECT_THAT(refused(Make({3})), HasSubstr("[3]"));
  EXPECT_THAT(refused(Tensor::Empty({2}, DType::kFloat32, DeviceType::kCpu, *Keys())), HasSubstr("float32"));
  EXPECT_THAT(refused(Tensor::Empty({2}, DType::kFloat64, DeviceType::kMeta, *Keys())), HasSubstr("device"));
  SetGrad(x, Gradient(Make({2}, {5, 6})));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(5, 6));
  SetGrad(x, Gradient());
  EXPECT_FALSE(Grad(x).defined());
}

// ---- some inputs only ----

TEST_F(EngineTest, OnlyWhatLeadsToAnInputRuns) {
  const Tensor x = Leaf({1}), y = Leaf({1});
  std::vector<std::string> order;
  const Tensor a = Pass("A", x, &order), b = Pass("B", y, &order), z = Add(a, b);
  EXPECT_THAT(ValuesOf(GradsOf(z, {x}, {.keep_graph = true})[0]), ElementsAre(1));
  EXPECT_THAT(order, ElementsAre("A"));
  order.clear();
  GradsOf(z, {a}, {.keep_graph = true});
  EXPECT_THAT(order, IsEmpty()) << "what made a is not run";
  GradsOf(z, {a, x}, {.keep_graph = true});
  EXPECT_THAT(order, ElementsAre("A"));
  EXPECT_FALSE(Grad(x).defined() || Grad(y).defined());
}

TEST_F(EngineTest, InputsAreChecked) {
  const Tensor x = Leaf({1}), unused = Leaf({1}), plain = Make({1});
  const Tensor z = Pass("A", x);
  MessageOf(ErrorClass::kInvalidArgument, [&] { GradsOf(z, {}); });
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { GradsOf(z, {x, plain}); }), HasSubstr("element 1"));
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { GradsOf(z, {unused}); }), HasSubstr("allow_unused"));
  EXPECT_FALSE(GradsOf(z, {unused}, {}, true)[0].defined());
}

TEST_F(EngineTest, AnInputTwiceAndARootItself) {
  const Tensor x = Leaf({1}, {3}), g = Make({1}, {7});
  const Tensor z = Mul(x, x);
  const Root roots[] = {{z, Gradient(g)}};
  const Tensor inputs[] = {x, x, z};
  const std::vector<Gradient> got = GradientsOf(Toy(), roots, inputs);
  EXPECT_THAT(ValuesOf(got[0]), ElementsAre(42));
  EXPECT_THAT(ValuesOf(got[1]), ElementsAre(42));
  EXPECT_TRUE(got[2].tensor().is_same(g));
}

TEST_F(EngineTest, BackwardFillsTheInputsThatAreNamed) {
  const Tensor x = Leaf({1}), y = Leaf({1});
  const Tensor m = Pass("A", x), z = Add(m, y);
  const Root roots[] = {{z}};
  const Tensor inputs[] = {m};
  Backward(Toy(), roots, {}, inputs);
  EXPECT_THAT(ValuesOf(Grad(m)), ElementsAre(1));
  EXPECT_TRUE(RetainsGrad(m));
  EXPECT_FALSE(Grad(x).defined() || Grad(y).defined());
}

// ---- hooks ----

TEST_F(EngineTest, TensorHooksRunInOrderWithTheSum) {
  const Tensor x = Leaf({1});
  std::vector<double> seen;
  const auto times = [&](double factor) {
    return [&seen, factor](const Gradient& g) {
      seen.push_back(ValuesOf(g)[0]);
      return factor == 0 ? Gradient() : Gradient(Make({1}, {seen.back() * factor}));
    };
  };
  AddTensorHook(x, times(10));
  const std::size_t removed = AddTensorHook(x, times(1000));
  AddTensorHook(x, times(0));
  RemoveTensorHook(x, removed);
  Back(Add(Mul(x, Make({1}, {2})), Mul(x, Make({1}, {3}))));
  EXPECT_THAT(seen, ElementsAre(5, 50));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(50));
  MessageOf(ErrorClass::kInvalidArgument, [&] { RemoveTensorHook(x, 99); });
  MessageOf(ErrorClass::kInvalidArgument, [&] { AddTensorHook(Make({1}), times(1)); });
}

TEST_F(EngineTest, AHooksResultHasToBeLikeWhatItGot) {
  const Tensor x = Leaf({1}, {1});
  const Tensor y = Pass("A", x);
  AddTensorHook(y, [](const Gradient&) { return Gradient(Make({3})); });
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Back(y); }),
              testing::AllOf(HasSubstr("[3]"), HasSubstr("A")));
}

TEST_F(EngineTest, RetainedGradientsAndNodeHooks) {
  const Tensor x = Leaf({1}, {1});
  const Tensor y = Pass("A", x);
  RetainGrad(y);
  RetainGrad(y);
  NodeHooks& hooks = GradFn(y)->MakeHooks();
  hooks.before.push_back([](Gradients& in) { in[0] = Gradient(Make({1}, {ValuesOf(in[0])[0] * 10})); });
  hooks.after.push_back([](Gradients& out, const Gradients& in) {
    EXPECT_THAT(ValuesOf(in[0]), ElementsAre(20));
    out[0] = Gradient(Make({1}, {ValuesOf(out[0])[0] * 100}));
  });
  const Tensor z = Mul(y, Make({1}, {2}));
  Back(z, {.keep_graph = true});
  EXPECT_THAT(ValuesOf(Grad(y)), ElementsAre(2));
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(2000));
  Back(z);
  EXPECT_THAT(ValuesOf(Grad(y)), ElementsAre(4));
  RetainGrad(x);
  EXPECT_FALSE(RetainsGrad(x)) << "a leaf does anyway";
}

TEST_F(EngineTest, WhatANodesHooksLeaveIsChecked) {
  const Tensor x = Leaf({2}), y = Pass("A", x);
  GradFn(y)->MakeHooks().after.push_back([](Gradients& out, const Gradients&) { out[0] = Gradient(Make({9})); });
  const Root roots[] = {{y, Gradient(Make({2}))}};
  EXPECT_THAT(MessageOf(ErrorClass::kInvalidArgument, [&] { Backward(Toy(), roots); }), HasSubstr("[9]"));
}

TEST_F(EngineTest, CallbacksRunWhenAllIsDone) {
  const Tensor x = Leaf({1}, {1});
  std::vector<std::string> order;
  const auto y = [&](bool fails) {
    return Record("A", Make({1}), {x}, [&, fails](Node&, Gradients& in, Gradients& out) {
      QueueCallback([&] {
        order.emplace_back(Grad(x).defined() ? "filled" : "empty");
        QueueCallback([&] { order.emplace_back("nested"); });
      });
      if (fails) throw std::out_of_range("no");
      out[0] = in[0];
    });
  };
  EXPECT_THROW(Back(y(true)), std::out_of_range);
  EXPECT_THAT(order, IsEmpty());
  Back(y(false));
  EXPECT_THAT(order, ElementsAre("filled", "nested"));
  MessageOf(ErrorClass::kInvalidArgument, [] { QueueCallback([] {}); });
}

// ---- deep, wide, inside of each other, at once ----

TEST_F(EngineTest, PassesInsideOfPasses) {
  std::vector<std::thread::id> threads;
  std::function<void(int)> run = [&](int depth) {
    const Tensor x = Leaf({1}, {1});
    threads.push_back(std::this_thread::get_id());
    Back(Record("A", Make({1}), {x}, [&](Node&, Gradients& in, Gradients& out) {
      if (depth < 200) run(depth + 1);
      out[0] = in[0];
    }));
    EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(1));
  };
  run(1);
  EXPECT_EQ(threads.size(), 200u);
  EXPECT_EQ(threads[0], threads[59]);
  EXPECT_NE(threads[0], threads[61]);
  EXPECT_EQ(RunningNode(), nullptr);
}

// On a stack of 256 KiB.
TEST_F(EngineTest, AMillionNodes) {
  const auto chain = [](void*) -> void* {
    const Tensor x = Leaf({1}, {1});
    const Tensor one = Make({1}, {1});
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) y = Add(y, one);
    EXPECT_EQ(GradFn(y)->topological(), 1000000u);
    Back(y);
    EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(1));
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 << 10);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, chain, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(EngineTest, AHundredThousandUses) {
  const Tensor x = Leaf({1}, {1});
  NodeRef node = MakeNode<FunctionNode>("Wide", [](Node&, Gradients& in, Gradients& out) {
    for (Gradient& gradient : out) gradient = in[0];
  });
  for (int i = 0; i < 100000; ++i) node->AddEdge(EdgeOf(x));
  const Tensor y = Make({1});
  SetHistory(y, node);
  node = NodeRef();
  Back(y);
  EXPECT_THAT(ValuesOf(Grad(x)), ElementsAre(100000));
}

TEST_F(EngineTest, PassesOfManyThreadsShareAGraph) {
  const Tensor x = Leaf({4}, {1, 2, 3, 4});
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = Mul(Add(y, x), Make({4}, {0.5, 0.5, 0.5, 0.5}));
  const Tensor z = Sum(Mul(y, y));
  const std::vector<double> one = ValuesOf(GradsOf(z, {x}, {.keep_graph = true})[0]);
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(ValuesOf(GradsOf(z, {x}, {.keep_graph = true})[0]), one);
      Back(z, {.keep_graph = true});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> sum = one;
  for (double& value : sum) value *= 32;
  EXPECT_EQ(ValuesOf(Grad(x)), sum);
}

TEST_F(EngineTest, ThreadsThatFreeOneGraphGetItWholeOrAnError) {
  for (int round = 0; round < 50; ++round) {
    const Tensor x = Leaf({1}, {3});
    const Tensor z = Exp(Mul(x, x));
    std::atomic<int> went{0}, freed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        try {
          Back(z);
          ++went;
        } catch (const DispatchError& error) {
          EXPECT_EQ(error.error_class(), ErrorClass::kGraphFreed);
          ++freed;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GE(went, 1);
    EXPECT_EQ(went + freed, 4);
  }
}

}  // namespace
}  // namespace plumbline::reference
