#include "reports/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Json, RoundTrips) {
  const std::string text = ToJson(SampleRun());
  const ReadResult read = FromJson(text);
  ASSERT_THAT(read.error, IsEmpty());
  EXPECT_EQ(ToJson(read.run), text);
  EXPECT_EQ(read.run.seed, 18446744073709551615u);
  EXPECT_EQ(read.run.clauses.at(0).text, "Text with <angle> & \"quotes\".");
}

TEST(Json, DoesNotDependOnTheOrderOfCases) {
  reports::Run run = SampleRun();
  const std::string text = ToJson(run);
  std::reverse(run.cases.begin(), run.cases.end());
  EXPECT_EQ(ToJson(run), text);
}

TEST(Json, LeavesOutTheCountsOfSampledCases) {
  reports::Run run = SampleRun();
  for (CaseResult& result : run.cases) result.sampled = true;
  EXPECT_THAT(ToJson(run), Not(HasSubstr("discarded")));
}

TEST(Json, SurvivesBytesThatAreNotUtf8) {
  reports::Run run = SampleRun();
  run.cases[0].findings[0].got = "\xff\xfe";
  EXPECT_THAT(FromJson(ToJson(run)).error, IsEmpty());
}

TEST(Json, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(FromJson("").error, HasSubstr("not a Plumbline report"));
  EXPECT_THAT(FromJson("{}").error, HasSubstr("format"));
  EXPECT_THAT(FromJson("{\"format\": 99}").error, HasSubstr("format 99"));
  std::string text = ToJson(SampleRun());
  text.replace(text.find("\"crash\""), 7, "\"boom!\"");
  EXPECT_THAT(FromJson(text).error, HasSubstr("boom!"));
}

TEST(Json, KeepsTheSchema) {
  const std::string path = testing::TempDir() + "/run.json";
  std::ofstream(path) << ToJson(SampleRun());
  const std::string command = "/usr/bin/python3 -m jsonschema -i " + path + " reports/schema/run.schema.json";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::string text = ToJson(SampleRun());
  text.replace(text.find("\"tier\": \"quick\""), 15, "\"tier\": \"brisk\"");
  std::ofstream(path) << text;
  EXPECT_NE(std::system((command + " 2>/dev/null").c_str()), 0);
}

}  // namespace
}  // namespace plumbline::reports
