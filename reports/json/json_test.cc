#include "reports/json/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

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
  const std::string text = ToJson(run);
  EXPECT_THAT(text, Not(HasSubstr("discarded")));
  for (CaseResult& result : run.cases) {
    result.scenarios += 7;
    result.discarded += 7;
  }
  EXPECT_EQ(ToJson(run), text);
}

TEST(Json, TheNotesGiveThemBack) {
  SideNotes notes;
  notes.seconds = 1.5;
  notes.seconds_by_case = {{"a/b", 0.25}};
  notes.tried_by_case = {{"a/b", 1234}};
  notes.command_line = "plumbline check";
  notes.started = "today";
  const ReadNotesResult read = NotesFromJson(ToJson(notes));
  ASSERT_THAT(read.error, IsEmpty());
  EXPECT_EQ(ToJson(read.notes), ToJson(notes));
  EXPECT_EQ(NotesFromJson("{}").error, "not the notes of a Plumbline report: 'seconds' is missing");
  EXPECT_THAT(NotesFromJson("{\"seconds\": \"x\"}").error, HasSubstr("'seconds' should be a number"));
}

TEST(Json, SurvivesBytesThatAreNotUtf8) {
  reports::Run run = SampleRun();
  run.cases[0].findings[0].got = "\xff\xfe";
  EXPECT_THAT(FromJson(ToJson(run)).error, IsEmpty());
}

TEST(Json, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(FromJson("").error, "not a Plumbline report: it is not JSON from line 1 on");
  EXPECT_EQ(FromJson("{\n\"format\": oops}").error, "not a Plumbline report: it is not JSON from line 2 on");
  EXPECT_EQ(FromJson("[]").error, "not a Plumbline report: it should be an object");
  EXPECT_EQ(FromJson("{}").error, "not a Plumbline report: 'format' is missing");
  EXPECT_EQ(FromJson("{\"format\": 1.5}").error,
            "not a Plumbline report: 'format' should be a whole number of at least 0");
  EXPECT_EQ(FromJson("{\"format\": 99}").error, "the report has format 99, and this program reads format 1");
  std::string text = ToJson(SampleRun());
  text.replace(text.find("\"crash\""), 7, "\"boom!\"");
  EXPECT_THAT(FromJson(text).error, HasSubstr("].verdict' is 'boom!', which is no verdict"));
}

// Each field in turn is left out, or of another kind: always our own words.
TEST(Json, SaysThatANumberIsTooLarge) {
  EXPECT_EQ(FromJson(R"({"format": 1e400})").error,
            "not a Plumbline report: a number in it is larger than any that belongs there");
}

TEST(Json, NamesTheFieldThatIsWrong) {
  const auto json = nlohmann::json::parse(ToJson(SampleRun()));
  for (const auto& [name, value] : json.items()) {
    if (name == "counts") continue;  // derived, and not read
    nlohmann::json changed = json;
    changed.erase(name);
    EXPECT_EQ(FromJson(changed.dump()).error, "not a Plumbline report: '" + name + "' is missing");
    changed[name] = nullptr;
    EXPECT_THAT(FromJson(changed.dump()).error, HasSubstr("'" + name + "' should be "));
  }
  nlohmann::json changed = json;
  changed["cases"][1]["clauses"][0] = 7;
  EXPECT_EQ(FromJson(changed.dump()).error, "not a Plumbline report: 'cases[1].clauses[0]' should be a text");
  changed = json;
  changed["shard"] = 2;
  EXPECT_EQ(FromJson(changed.dump()).error, "not a Plumbline report: 'shard' is 2 of 1");
}

TEST(Json, ReadsAReportOfAnOlderProgram) {
  reports::Run run = SampleRun();
  run.backend.key_count = 3;
  run.backend.unknown_keys = {"HIP"};
  EXPECT_EQ(FromJson(ToJson(run)).run.backend.unknown_keys, run.backend.unknown_keys);
  auto json = nlohmann::json::parse(ToJson(run));
  json["backend"].erase("key_count");
  json["backend"].erase("unknown_keys");
  const ReadResult read = FromJson(json.dump());
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.run.backend.key_count, 0u);
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

TEST(Json, HoldsAnyBytes) {
  reports::Run run = SampleRun();
  run.backend.name = "a\xff\x1b";
  run.cases[0].findings[0].got = "\xc3\x01\x7f";
  const ReadResult read = FromJson(ToJson(run));
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.run.backend.name, "a\xef\xbf\xbd\x1b") << "JSON holds no byte that is no UTF-8";
}

}  // namespace
}  // namespace plumbline::reports
