#include "conformance/harness/isolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "conformance/harness/sanitizers.h"

namespace plumbline::harness {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

int g_state = 0;

std::string Serve(const std::string& request, Progress& progress) {
  progress.step = 7;
  if (request == "crash") {
    std::fputs("about to crash\n", stderr);
    raise(SIGSEGV);
  }
  if (request == "exit") std::exit(3);
  if (request == "hang") std::this_thread::sleep_for(seconds(60));
  if (request == "throw") throw std::runtime_error("x");
  if (request == "scribble") {
    for (int fd = 3; fd < 20; ++fd) [[maybe_unused]] const auto wrote = write(fd, "garbage\xff{}\n", 11);
  }
  if (request == "close") {
    for (int fd = 3; fd < 64; ++fd) close(fd);
  }
  if (request == "orphan") kill(getppid(), SIGKILL), std::this_thread::sleep_for(seconds(60));
  if (request == "freeze") kill(getppid(), SIGSTOP), std::_Exit(3);
  if (request == "state") return std::to_string(++g_state);
  if (request == "steer") std::fputs("a\x1b[2J\xff\n", stdout), std::fflush(stdout);
  if (request == "print") std::puts("printed"), std::fflush(stdout);
  return "answer to " + request;
}

std::unique_ptr<Isolation> StartServing(milliseconds limit = seconds(10)) {
  auto started = Isolation::Start({.prepare = [] { return ""; }, .serve = Serve}, limit);
  EXPECT_TRUE(started.ok());
  return std::move(*started);
}

TEST(IsolationTest, AnswersAndKeepsStateUntilRenewed) {
  auto isolation = StartServing();
  EXPECT_EQ(isolation->Ask("a", seconds(10)).text, "answer to a");
  EXPECT_EQ(isolation->Ask("state", seconds(10)).text, "1");
  EXPECT_EQ(isolation->Ask("state", seconds(10)).text, "2");
  isolation->Renew();
  EXPECT_EQ(isolation->Ask("state", seconds(10)).text, "1");
  EXPECT_EQ(isolation->executors(), 2);
  EXPECT_EQ(g_state, 0) << "the asking process must not serve";
}

TEST(IsolationTest, WhatIsWrittenToItsOwnChannelCostsOneAnswer) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("scribble", seconds(10));
  EXPECT_EQ(reply.ending, Reply::Ending::kCrash);
  EXPECT_THAT(reply.what, StartsWith("wrote to a file descriptor that is not its own"));
  EXPECT_EQ(isolation->Ask("a", seconds(10)).text, "answer to a");
}

TEST(IsolationTest, TheEndOfItsOwnChannelCostsOneAnswer) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("close", seconds(10));
  EXPECT_EQ(reply.ending, Reply::Ending::kCrash);
  EXPECT_THAT(reply.what, StartsWith("closed a file descriptor that is not its own"));
  EXPECT_EQ(isolation->Ask("a", seconds(10)).text, "answer to a");
}

TEST(IsolationTest, SeveralEndInAnyOrder) {
  auto first = StartServing();
  auto second = StartServing();
  EXPECT_EQ(first->Ask("a", seconds(10)).text, "answer to a");
  EXPECT_EQ(second->Ask("b", seconds(10)).text, "answer to b");
  first.reset();
  EXPECT_EQ(second->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, ACrashCostsOneAnswer) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("crash", seconds(10));
  EXPECT_EQ(reply.ending, Reply::Ending::kCrash);
  EXPECT_THAT(reply.output, HasSubstr("about to crash"));
  EXPECT_EQ(reply.step, 7);
#if !defined(PLUMBLINE_ADDRESS_SANITIZER) && !defined(PLUMBLINE_THREAD_SANITIZER)
  EXPECT_EQ(reply.what, "was killed by signal 11 (Segmentation fault)");
#endif
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, AnExitCostsOneAnswer) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("exit", seconds(10));
  EXPECT_EQ(reply.ending, Reply::Ending::kCrash);
  EXPECT_EQ(reply.what, "left with exit status 3");
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, TheEndOfItsParentCostsOneAnswer) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("orphan", seconds(10));
  EXPECT_EQ(reply.ending, Reply::Ending::kCrash);
  EXPECT_EQ(reply.what, "ended with its parent, which was killed by signal 9 (Killed)");
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
  EXPECT_EQ(isolation->Ask("orphan", seconds(10)).ending, Reply::Ending::kCrash);
  EXPECT_EQ(isolation->Ask("c", seconds(10)).text, "answer to c");
}

TEST(IsolationTest, AParentThatStandsStillCostsOneAnswer) {
  auto isolation = StartServing(milliseconds(500));
  EXPECT_EQ(isolation->Ask("freeze", seconds(10)).ending, Reply::Ending::kCrash);
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, AnExceptionOfOurOwnCostsOneAnswer) {
  auto isolation = StartServing();
  EXPECT_EQ(isolation->Ask("throw", seconds(10)).ending, Reply::Ending::kCrash);
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, AHangCostsItsLimit) {
  auto isolation = StartServing();
  const Reply reply = isolation->Ask("hang", milliseconds(100));
  EXPECT_EQ(reply.ending, Reply::Ending::kTimeout);
  EXPECT_EQ(reply.what, "did not end within 0.1 s");
  EXPECT_EQ(isolation->Ask("b", seconds(10)).text, "answer to b");
}

TEST(IsolationTest, OutputIsCaptured) {
  auto isolation = StartServing();
  EXPECT_EQ(isolation->Ask("print", seconds(10)).output, "printed");
}

TEST(IsolationTest, OutputIsCopiedOnceWhereItIsWanted) {
  auto isolation = StartServing();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  isolation->Ask("print", seconds(10));
  isolation->CopyOutputTo(pipe_ends[1]);
  isolation->Renew();
  isolation->Ask("print", seconds(10));
  isolation->Ask("steer", seconds(10));
  isolation->Ask("crash", seconds(10));
  close(pipe_ends[1]);
  std::string copied(4096, '\0');
  const ssize_t got = read(pipe_ends[0], copied.data(), copied.size());
  close(pipe_ends[0]);
  copied.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  EXPECT_THAT(copied, StartsWith("printed\na\\x1b[2J\\xff\nabout to crash\n"));
}

TEST(IsolationTest, WhatPreparingFindsWrongIsTheError) {
  auto started = Isolation::Start({.prepare = [] { return "it is wrong"; }, .serve = Serve}, seconds(10));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error(), "it is wrong");
}

TEST(IsolationTest, ACrashWhilePreparingIsAnError) {
  auto started = Isolation::Start({.prepare = []() -> std::string { std::_Exit(9); }, .serve = Serve}, seconds(10));
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error(), EndsWith("left with exit status 9"));
}

TEST(IsolationTest, AHangWhilePreparingIsAnError) {
  auto started = Isolation::Start({.prepare =
                                       [] {
                                         std::this_thread::sleep_for(seconds(60));
                                         return "";
                                       },
                                   .serve = Serve},
                                  milliseconds(100));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error(), "loading did not end within 0.1 s");
}

}  // namespace
}  // namespace plumbline::harness
