#include "reports/diff/diff.h"

#include <gtest/gtest.h>

#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

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

TEST(Diff, ARunEqualsItself) { EXPECT_TRUE(Diff(SampleRun(), SampleRun()).empty()); }

}  // namespace
}  // namespace plumbline::reports
