#include "reports/diff/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Diff, ListsWhatChangedWentAndCame) {
  const reports::Run before = SampleRun();
  reports::Run after = before;
  after.cases[0].verdict = Verdict::kPass;
  after.cases[1].id = "resolution/new";
  after.cases[2].scenarios = 999;
  const std::vector<Change> changes = Diff(before, after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].id, "resolution/a");
  EXPECT_FALSE(changes[0].after.has_value());
  EXPECT_EQ(changes[1].id, "resolution/b");
  EXPECT_EQ(changes[1].before, Verdict::kFail);
  EXPECT_EQ(changes[1].after, Verdict::kPass);
  EXPECT_EQ(changes[2].id, "resolution/new");
  EXPECT_FALSE(changes[2].before.has_value());
}

TEST(Diff, SaysWhatMakesRunsUnlike) {
  const reports::Run before = SampleRun();
  EXPECT_THAT(Unlike(before, before), IsEmpty());
  reports::Run after = before;
  after.cases.clear();
  after.backend.name = "other";  // to compare two backends is what it is for
  EXPECT_THAT(Unlike(before, after), IsEmpty());
  after.tier = "full";
  after.filter = "tls";
  after.seed = 7;
  after.shards = 4;
  after.backend.release = "pytorch-2.x";
  after.suite_version = "0.2.0";
  EXPECT_THAT(Unlike(before, after),
              ElementsAre(HasSubstr("the tiers differ (quick, full): "), HasSubstr("the filters differ (none, tls): "),
                          HasSubstr("the shards differ (the whole run, 1/4): merge"),
                          HasSubstr("the seeds differ (18446744073709551615, 7): "),
                          HasSubstr("the releases differ (pytorch-1.13, pytorch-2.x): "),
                          HasSubstr("the versions of the suite differ (0.1.0, 0.2.0): ")));
  EXPECT_THAT(Unlike(after, after), ElementsAre(HasSubstr("both are shard 1/4: what the other shards hold")));
}

TEST(Diff, ARunEqualsItself) { EXPECT_TRUE(Diff(SampleRun(), SampleRun()).empty()); }

}  // namespace
}  // namespace plumbline::reports
