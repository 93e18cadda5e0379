#include "conformance/race/hunt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "conformance/harness/sanitizers.h"
#include "conformance/race/cases.h"
#include "conformance/race/service.h"
#include "spec/scenario/parse.h"

namespace plumbline::race {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::unique_ptr<harness::Executor> Start(const std::string& backend, const std::string& fault = "") {
  const char* build = std::getenv("PLUMBLINE_BUILD");
  harness::ExecutorConfig config;
  config.path =
      std::string(build) + "/lib/plumbline/" + (backend == "misbehaving" ? "selftest/" : "backends/") + backend + ".so";
  config.fault = fault;
  config.service = &Serve;
  auto executor = harness::Executor::Start(config);
  EXPECT_TRUE(executor.ok()) << executor.error();
  return executor.ok() ? std::move(*executor) : nullptr;
}

scenario::Scenario Read(const std::string& steps) {
  const scenario::ParseResult parsed = scenario::Parse("scenario 1 pytorch-1.13\n" + steps);
  EXPECT_TRUE(parsed.scenario.has_value()) << parsed.error->message;
  return *parsed.scenario;
}

// Two kernels that release each other: with a release that waits for calls, both wait for ever.
constexpr const char* kReleaseEachOther =
    "kernel kf { release rg }\n"
    "kernel kg { release rf }\n"
    "define demo::f(Tensor a) -> Tensor\n"
    "define demo::g(Tensor a) -> Tensor\n"
    "impl demo::f CPU kf as rf\n"
    "impl demo::g CPU kg as rg\n"
    "on a call demo::f [CPU]\n"
    "on b call demo::g [CPU]\n";

constexpr const char* kOverrides =
    "define demo::f(Tensor a) -> Tensor\n"
    "impl demo::f CPU k0 as r0\n"
    "call demo::f [CPU]\n"
    "on a impl demo::f CPU k1 as r1\n"
    "on a release r1\n"
    "on b call demo::f [CPU]\n"
    "on b call demo::f [CPU]\n";

TEST(Hunt, FindsNothingInTheReference) {
  const auto executor = Start("reference");
  for (const char* steps : {kReleaseEachOther, kOverrides}) {
    Hunt hunt(*executor, {.time = std::chrono::seconds(60), .schedules = 500});
    const Hunted found = hunt.Run(Read(steps));
    EXPECT_THAT(found.refused, IsEmpty());
    EXPECT_EQ(found.schedules, 500u);
    EXPECT_FALSE(found.witness.has_value()) << found.witness->words;
  }
}

TEST(Hunt, FindsADeadlockThatReplays) {
  const auto executor = Start("broken", "release_waits_for_its_calls");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .shrink = false, .replays = 10});
  const Hunted found = hunt.Run(Read(kReleaseEachOther));
  ASSERT_TRUE(found.witness.has_value()) << found.schedules;
  EXPECT_EQ(found.witness->kind, "deadlock");
  EXPECT_EQ(found.witness->verdict, reports::Verdict::kTimeout);
  EXPECT_THAT(found.witness->words, HasSubstr("is in: "));
  EXPECT_EQ(found.witness->again, 10);
}

TEST(Hunt, MakesWhatItFindsSmaller) {
  const auto executor = Start("broken", "override_is_two_steps");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60)});
  const Hunted found = hunt.Run(Read(std::string(kOverrides) + "on c call demo::f [CUDA]\non c query operators\n"));
  ASSERT_TRUE(found.witness.has_value()) << found.schedules;
  EXPECT_THAT(found.witness->kind, AnyOf("missed", "no-order"));
  EXPECT_THAT(found.witness->scenario, Not(HasSubstr("CUDA")));
  EXPECT_THAT(found.witness->scenario, Not(HasSubstr("operators")));
  EXPECT_THAT(found.witness->history, HasSubstr("history 1 pytorch-1.13"));
  EXPECT_EQ(found.witness->again, found.witness->replays);
}

TEST(Hunt, SeesAContextThatIsDestroyedUnderACall) {
  const auto executor = Start("broken", "released_kernel_is_freed_at_once");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .shrink = false, .replays = 5});
  const Hunted found = hunt.Run(Read(kOverrides));
  ASSERT_TRUE(found.witness.has_value()) << found.schedules;
#ifdef PLUMBLINE_OWN_ALLOCATOR
  EXPECT_THAT(found.witness->kind, AnyOf("lifetime", "freed-memory", "crash"));
#else
  EXPECT_THAT(found.witness->kind, AnyOf("lifetime", "freed-memory"));
#endif
  EXPECT_EQ(found.witness->again, 5);
}

// Operators called "bad" do what PLUMBLINE_MISBEHAVE says (selftest/misbehaving.cc).
constexpr const char* kBad =
    "title one that goes wrong\n"
    "define demo::f(Tensor a) -> Tensor\n"
    "define demo::bad(Tensor a) -> Tensor\n"
    "impl demo::f CPU k as r\n"
    "impl demo::bad CPU k as rb\n"
    "on a call demo::f [CPU]\n"
    "on a call demo::bad [CPU]\n"
    "on b call demo::f [CPU]\n"
    "on b release r\n";

class HuntOfMisbehaving : public ::testing::Test {
 protected:
  static void SetHow(const char* how) { setenv("PLUMBLINE_MISBEHAVE", how, 1); }
  void TearDown() override { unsetenv("PLUMBLINE_MISBEHAVE"); }
};

TEST_F(HuntOfMisbehaving, TellsWhatHadBegunWhereItCrashes) {
  for (const auto& [how, words] :
       {std::pair("segfault", "was killed by signal 11"), {"exit", "left with exit status 3"}}) {
    SetHow(how);
    const auto executor = Start("misbehaving");
    Hunt hunt(*executor, {.time = std::chrono::seconds(60), .shrink = false, .replays = 3});
    const Hunted found = hunt.Run(Read(kBad));
    ASSERT_TRUE(found.witness.has_value()) << how;
    EXPECT_EQ(found.witness->kind, "crash");
    EXPECT_EQ(found.witness->verdict, reports::Verdict::kCrash);
    EXPECT_EQ(found.witness->again, 3) << how;
    EXPECT_THAT(found.witness->schedule, Not(IsEmpty()));
    EXPECT_GE(found.witness->found_after, 1u);
    EXPECT_THAT(found.witness->words, HasSubstr(words));
    // Thread a came first, and b had not begun.
    EXPECT_THAT(found.witness->words, HasSubstr("  main   ended     line 7: impl     demo::bad CPU k as rb\n"
                                                "  a      ended     line 8: call     demo::f [CPU]\n"
                                                "  a      began     line 9: call     demo::bad [CPU]\n"
                                                "  b      -         line 10: call     demo::f [CPU]\n"
                                                "  b      -         line 11: release  r"));
    EXPECT_FALSE(found.witness->contradicts);
    const harness::OrError<History> history = ParseHistory(found.witness->history);
    ASSERT_TRUE(history.ok()) << history.error() << "\n" << found.witness->history;
    EXPECT_EQ(history->title, "one that goes wrong");
    const auto call = [&](bool ended) {
      return std::count_if(history->events.begin(), history->events.end(), [&](const Event& event) {
        return event.kind == Event::Kind::kCall && event.thread == "a" && (event.end != kNever) == ended &&
               event.ran == (ended ? "r" : "");
      });
    };
    EXPECT_EQ(call(true), 1) << found.witness->history;
    EXPECT_EQ(call(false), 1) << found.witness->history;
    const harness::OrError<Verdict> verdict = Check(*history);
    ASSERT_TRUE(verdict.ok()) << verdict.error();
    EXPECT_EQ(verdict->outcome, Verdict::Outcome::kExplained) << found.witness->history;
  }
}

TEST_F(HuntOfMisbehaving, TellsWhatThreadSanitizerFound) {
  SetHow("race-report");
  const auto executor = Start("misbehaving");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .shrink = false, .replays = 2});
  const Hunted found = hunt.Run(Read(kBad));
  ASSERT_TRUE(found.witness.has_value());
  EXPECT_EQ(found.witness->kind, "sanitizer");
  EXPECT_EQ(found.witness->verdict, reports::Verdict::kFail);
  EXPECT_EQ(found.witness->again, 2);
  EXPECT_TRUE(found.witness->words.starts_with("thread sanitizer found a data race table.cc:7 in Find\nits steps"))
      << found.witness->words;
  EXPECT_THAT(found.witness->words, HasSubstr("\nWARNING: ThreadSanitizer: data race (pid=7)\n"));
}

TEST_F(HuntOfMisbehaving, TellsWhatHadBegunWhereItHangs) {
  SetHow("hang");
  const auto executor = Start("misbehaving");
  Hunt hunt(*executor,
            {.time = std::chrono::seconds(1), .shrink = false, .replays = 0, .patience = std::chrono::seconds(5)});
  const Hunted found =
      hunt.Run(Read("define demo::bad(Tensor a) -> Tensor\n"
                    "on a define demo::g(Tensor a) -> Tensor as d\n"
                    "on b query operators\n"
                    "call demo::bad [CPU]\n"));  // main has no scheduler that would see it
  ASSERT_TRUE(found.witness.has_value());
  EXPECT_EQ(found.witness->kind, "timeout");
  EXPECT_EQ(found.witness->verdict, reports::Verdict::kTimeout);
  EXPECT_THAT(found.witness->words, HasSubstr("  main   began     line 6: call     demo::bad [CPU]"));
  EXPECT_THAT(found.witness->history, HasSubstr("  define demo::g as d  => ok\n"));
}

TEST_F(HuntOfMisbehaving, TellsItOfFreeThreadsToo) {
  SetHow("segfault");
  const auto executor = Start("misbehaving");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .free = true});
  const Hunted found = hunt.Run(Read(kBad));
  ASSERT_TRUE(found.witness.has_value());
  EXPECT_EQ(found.witness->kind, "crash");
  EXPECT_THAT(found.witness->words, HasSubstr("  a      began     line 9: call     demo::bad [CPU]\n"));
  EXPECT_THAT(found.witness->history, HasSubstr("  define demo::bad as define5  => ok\n"));
}

TEST(Hunt, TakesAsLongAsTheLeastNumberOfSchedulesNeeds) {
  const auto executor = Start("reference");
  const auto hunt = [&](std::chrono::milliseconds time, std::uint64_t least) {
    return Hunt(*executor, {.time = time, .least = least}).Run(Read(kOverrides));
  };
  const Hunted plain = hunt(std::chrono::seconds(1), 0);
  EXPECT_GT(plain.schedules, 0u);
  EXPECT_GE(hunt(std::chrono::seconds(1), plain.schedules * 3 / 2).schedules, plain.schedules * 3 / 2);
  // ... but no longer than five times its time.
  const Hunted late = hunt(std::chrono::milliseconds(200), 1'000'000'000);
  EXPECT_GE(late.seconds, 0.99);
  EXPECT_LT(late.seconds, 10);
  // What is run only to learn is not counted.
  EXPECT_EQ(Hunt(*executor, {.time = std::chrono::seconds(60), .schedules = 7}).Run(Read(kOverrides)).schedules, 7u);
}

TEST(Hunt, RunsFreeThreadsToo) {
  const auto executor = Start("reference");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .schedules = 200, .free = true});
  const Hunted found = hunt.Run(Read(kOverrides));
  EXPECT_EQ(found.schedules, 200u);
  EXPECT_LE(found.steps, 1u) << "the scheduler counted them";
  EXPECT_FALSE(found.witness.has_value()) << found.witness->words;
}

TEST(Hunt, RefusesKernelsWithoutEnd) {
  const auto executor = Start("reference");
  Hunt hunt(*executor, {.time = std::chrono::seconds(20), .schedules = 50});
  const Hunted found =
      hunt.Run(Read("kernel k { call demo::f }\n"
                    "define demo::f(Tensor a) -> Tensor\n"
                    "impl demo::f CPU k\n"
                    "on a call demo::f [CPU]\n"
                    "on b call demo::f []\n"));
  EXPECT_THAT(found.refused, HasSubstr("its kernels call each other without end: more than 100 deep"));
  EXPECT_FALSE(found.witness.has_value()) << found.witness->words;
}

// All keys are there before the threads are: what holds them is not made for several.
TEST_F(HuntOfMisbehaving, RefusesKeysOfKernelsBeforeThereAreThreads) {
  SetHow("few-keys");
  const auto executor = Start("misbehaving");
  const Hunted found = Hunt(*executor, {.time = std::chrono::seconds(20), .schedules = 5})
                           .Run(Read("kernel k { call demo::g ([CPU] {[CUDA]}) }\n"
                                     "define demo::f(Tensor a) -> Tensor\n"
                                     "define demo::g(Tensor a, Tensor[] b) -> Tensor\n"
                                     "impl demo::f CPU k\n"
                                     "on a call demo::f [CPU]\n"
                                     "on b call demo::f [CPU]\n"));
  EXPECT_THAT(found.refused, HasSubstr("no key CUDA"));
}

TEST(Hunt, RefusesAScheduleThatIsNone) {
  const auto executor = Start("reference");
  Hunt hunt(*executor, {});
  std::string refused;
  EXPECT_FALSE(hunt.Replay("scenario 1 pytorch-1.13\non a call demo::f [CPU]\n", "12z", &refused).has_value());
  EXPECT_THAT(refused, HasSubstr("names no thread a to p"));
}

}  // namespace
}  // namespace plumbline::race
