#include "conformance/harness/data_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::harness {
namespace {

reports::Clause With(std::vector<std::string> tests) {
  reports::Clause clause;
  clause.tests = std::move(tests);
  return clause;
}

TEST(DataFolder, TellsWhoPutsAClauseToTheTest) {
  const std::string race = "spec/corpus/concurrency/CONC-001-registered.scn:3";
  const std::string check = "spec/corpus/calling/CALL-001-first.scn:3", unit = "conformance/suites/lifecycle_fork.cc:7";
  EXPECT_TRUE(IsRaced(With({race})));
  EXPECT_FALSE(IsChecked(With({race})));
  EXPECT_FALSE(IsRaced(With({check, unit})));
  EXPECT_TRUE(IsChecked(With({check, unit})));
  EXPECT_TRUE(IsRaced(With({unit, race})));
  EXPECT_TRUE(IsChecked(With({race, unit})));
  EXPECT_FALSE(IsRaced(With({})));
  EXPECT_TRUE(IsChecked(With({})));  // that it has no test is for `check` to say
}

TEST(DataFolder, HoldsClausesOfBothKinds) {
  const OrError<std::vector<reports::Clause>> clauses = ReadClauseIndex();
  ASSERT_TRUE(clauses.ok()) << clauses.error();
  EXPECT_TRUE(std::any_of(clauses->begin(), clauses->end(), IsRaced));
  EXPECT_FALSE(std::all_of(clauses->begin(), clauses->end(), IsRaced));
}

}  // namespace
}  // namespace plumbline::harness
