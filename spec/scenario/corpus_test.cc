// Every scenario of the corpus reads, and prints to what reads back the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::scenario {
namespace {

namespace fs = std::filesystem;

// Tests run in the root of the source tree.
const char* const kCorpus = "spec/corpus";

std::vector<fs::path> ScenariosIn(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".scn") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Corpus, ReadsAndPrintsBack) {
  std::vector<fs::path> files = ScenariosIn(kCorpus);
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files) {
    ParseResult first = Parse(ReadFile(file));
    if (first.error) {
      ADD_FAILURE() << file.string() << ":" << first.error->line << ":" << first.error->column << ": "
                    << first.error->message;
      continue;
    }
    std::string printed = Print(*first.scenario);
    ParseResult second = Parse(printed);
    ASSERT_TRUE(second.scenario.has_value()) << file.string() << ": " << second.error->message << "\n" << printed;
    EXPECT_TRUE(*second.scenario == *first.scenario) << file.string() << "\n" << printed;
    EXPECT_EQ(Print(*second.scenario), printed) << file.string();
  }
}

// The tables read out of PyTorch 1.13.1: 293 sets of registrations, all but one with calls.
TEST(Corpus, HoldsTheRecordedTables) {
  EXPECT_EQ(ScenariosIn(std::string(kCorpus) + "/tables/curated").size(), 43u);
  EXPECT_EQ(ScenariosIn(std::string(kCorpus) + "/tables/random").size(), 250u);
  int tables = 0, calls = 0, rows = 0;
  for (const fs::path& file : ScenariosIn(std::string(kCorpus) + "/tables")) {
    ParseResult result = Parse(ReadFile(file));
    ASSERT_TRUE(result.scenario.has_value()) << file.string();
    EXPECT_EQ(result.scenario->release, "pytorch-1.13") << file.string();
    for (const Step& step : result.scenario->steps) {
      if (!step.expected) continue;
      calls += std::holds_alternative<Call>(step.action);
      if (!step.expected->table) continue;
      ++tables;
      rows += static_cast<int>(step.expected->table->size());
    }
  }
  EXPECT_EQ(tables, 293);
  EXPECT_EQ(calls, 2137);
  EXPECT_EQ(rows, 17073);
}

}  // namespace
}  // namespace plumbline::scenario
