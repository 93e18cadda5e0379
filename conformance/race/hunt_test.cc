#include "conformance/race/hunt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

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
  config.path = std::string(build) + "/lib/plumbline/backends/" + backend + ".so";
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
  EXPECT_THAT(found.witness->kind, AnyOf("lifetime", "freed-memory", "crash"));  // the last under a sanitizer
  EXPECT_EQ(found.witness->again, 5);
}

TEST(Hunt, RunsFreeThreadsToo) {
  const auto executor = Start("reference");
  Hunt hunt(*executor, {.time = std::chrono::seconds(60), .schedules = 200, .free = true});
  const Hunted found = hunt.Run(Read(kOverrides));
  EXPECT_EQ(found.schedules, 200u);
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

TEST(Hunt, RefusesAScheduleThatIsNone) {
  const auto executor = Start("reference");
  Hunt hunt(*executor, {});
  std::string refused;
  EXPECT_FALSE(hunt.Replay("scenario 1 pytorch-1.13\non a call demo::f [CPU]\n", "12z", &refused).has_value());
  EXPECT_THAT(refused, HasSubstr("names no thread a to p"));
}

}  // namespace
}  // namespace plumbline::race
