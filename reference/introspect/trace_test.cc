#include "reference/introspect/trace.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "reference/dispatch/operator.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {
namespace {

Tensor First(const Tensor& a, const Tensor&) { return a; }

class TraceTest : public testing::Test {
 protected:
  std::string Text() const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void TearDown() override { std::remove(path_.c_str()); }

  const std::string path_ = testing::TempDir() + "trace_test." + std::to_string(getpid());
  DispatchTrace trace_{TextSink::Open(path_, "")};
  Registry registry_{KeyTable::ForRelease("pytorch-1.13")};
};

// The golden transcript: a+b, a+b again, the same on another device's keys, a new impl, a+b, back.
TEST_F(TraceTest, GoldenTranscript) {
  registry_.ObserveCalls(&trace_);
  const auto define = registry_.Define("demo::add(Tensor a, Tensor b) -> Tensor", "demo.cc:1");
  const auto cpu = registry_.Impl("demo::add", "CPU", Kernel::FromFunction<&First>(), "demo.cc:2");
  const auto cuda = registry_.Impl("demo::add", "CUDA", Kernel::FromFunction<&First>(), "demo.cc:3");
  const auto autograd =
      registry_.Impl("demo::add", "Autograd", Kernel::From([](const TypedCall& call, const Tensor& a, const Tensor& b) {
                       const auto op = Operator(call.op()).typed<Tensor(const Tensor&, const Tensor&)>();
                       return op.redispatch(call.keys & op.keys().Below(op.keys().Get("AutogradOther")), a, b);
                     }),
                     "demo.cc:4");
  const auto add = Operator::Find(registry_, "demo::add").typed<Tensor(const Tensor&, const Tensor&)>();
  const auto make = [&](std::string_view backend) {
    return Tensor::Make(registry_.keys().SetOfNames(
        {backend, "Autograd" + std::string(backend), "ADInplaceOrView", "Autocast" + std::string(backend)}));
  };
  const Tensor a = make("CPU"), b = make("CPU"), c = make("CUDA");
  add.call(a, b);
  add.call(a, b);
  add.call(c, c);
  {
    const auto newer = registry_.Impl("demo::add", "CPU", Kernel::FromFunction<&First>(), "demo.cc:5");
    add.call(a, b);
  }
  add.call(a, b);
  EXPECT_EQ(Text(),
            "[call] demo::add keys=[CPU AutogradCPU] key=AutogradCPU rule=autograd kernel=demo.cc:4 miss\n"
            "  [redispatch] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:2 miss\n"
            "[call] demo::add keys=[CPU AutogradCPU] key=AutogradCPU rule=autograd kernel=demo.cc:4 hit\n"
            "  [redispatch] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:2 hit\n"
            "[call] demo::add keys=[CUDA AutogradCUDA] key=AutogradCUDA rule=autograd kernel=demo.cc:4 miss\n"
            "  [redispatch] demo::add keys=[CUDA] key=CUDA rule=kernel kernel=demo.cc:3 miss\n"
            "[call] demo::add keys=[CPU AutogradCPU] key=AutogradCPU rule=autograd kernel=demo.cc:4 miss\n"
            "  [redispatch] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:5 miss\n"
            "[call] demo::add keys=[CPU AutogradCPU] key=AutogradCPU rule=autograd kernel=demo.cc:4 miss\n"
            "  [redispatch] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:2 miss\n");
}

TEST_F(TraceTest, FailedAndBoxedCallsAreThere) {
  registry_.ObserveCalls(&trace_);
  const auto define = registry_.Define("demo::f(Tensor a) -> Tensor", "demo.cc:1");
  const Operator f = Operator::Find(registry_, "demo::f");
  Stack stack;
  stack.Push(Value(Tensor::Make(registry_.keys().SetOfNames({"CUDA"}))));
  EXPECT_THROW(f.CallBoxed(stack), DispatchError);
  EXPECT_EQ(Text(), "[boxed call] demo::f keys=[CUDA] key=CUDA rule=missing kernel=none miss\n");
}

TEST_F(TraceTest, StopsWhenTheObserverIsTakenAway) {
  registry_.ObserveCalls(&trace_);
  const auto define = registry_.Define("demo::add(Tensor a, Tensor b) -> Tensor", "demo.cc:1");
  const auto cpu = registry_.Impl("demo::add", "CPU", Kernel::FromFunction<&First>(), "demo.cc:2");
  const auto add = Operator::Find(registry_, "demo::add").typed<Tensor(const Tensor&, const Tensor&)>();
  const Tensor a = Tensor::Make(registry_.keys().SetOfNames({"CPU"}));
  add.call(a, a);
  registry_.ObserveCalls(nullptr);
  add.call(a, a);
  EXPECT_EQ(Text(), "[call] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:2 miss\n");
}

TEST(TextSinkTest, AFullDiskIsSaidOnce) {
  testing::internal::CaptureStderr();
  const auto sink = TextSink::Open("/dev/full", kDispatchTraceVariable);
  ASSERT_NE(sink, nullptr);
  for (int i = 0; i < 3; ++i) sink->Write("a line");
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "plumbline: PLUMBLINE_DISPATCH_TRACE: '/dev/full' cannot be written (No space left on device); its lines are "
      "lost\n");
}

TEST(TextSinkTest, AnUnusablePathGivesNoSink) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(TextSink::Open("/no/such/folder/file", "PLUMBLINE_DISPATCH_TRACE"), nullptr);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::AllOf(testing::HasSubstr("PLUMBLINE_DISPATCH_TRACE"),
                                                                     testing::HasSubstr("/no/such/folder/file")));
}

}  // namespace
}  // namespace plumbline::reference
