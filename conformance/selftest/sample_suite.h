// A corpus of a few cases and its clauses, for tests of the programs. For tests only.
#ifndef PLUMBLINE_CONFORMANCE_SELFTEST_SAMPLE_SUITE_H_
#define PLUMBLINE_CONFORMANCE_SELFTEST_SAMPLE_SUITE_H_

#include "conformance/selftest/run_tool.h"

namespace plumbline::selftest {

inline constexpr char kGoodScenario[] =
    "scenario 1 pytorch-1.13\n"
    "clauses  DEMO-001\n"
    "define   demo::f(Tensor a) -> Tensor\n"
    "impl     demo::f CPU k1\n"
    "call     demo::f [CPU] => k1\n";

// Calls the operator that the misbehaving backend misbehaves in.
inline constexpr char kBadScenario[] =
    "scenario 1 pytorch-1.13\n"
    "clauses  DEMO-002\n"
    "define   demo::g(Tensor a) -> Tensor\n"
    "define   demo::bad(Tensor a) -> Tensor\n"
    "impl     demo::g CPU k1\n"
    "impl     demo::bad CPU k2\n"
    "call     demo::g [CPU] => k1\n"
    "call     demo::bad [CPU] => k2\n"
    "call     demo::g [CPU] => k1\n";

// Fails where the oldest kernel answers.
inline constexpr char kNewestScenario[] =
    "scenario 1 pytorch-1.13\n"
    "clauses  DEMO-003\n"
    "define   demo::f(Tensor a) -> Tensor\n"
    "define   demo::g(Tensor a) -> Tensor\n"
    "impl     demo::f CPU k1\n"
    "impl     demo::g CPU k1\n"
    "call     demo::g [CPU] => k1\n"
    "impl     demo::f CPU k2\n"
    "call     demo::f [CPU] => k2\n";

inline constexpr char kIndex[] = R"({"format": 1, "clauses": [
  {"id": "DEMO-001", "title": "One", "strength": "MUST", "profile": "core", "chapter": "demo", "needs": [],
   "where": "a.md:1", "text": "One is one.", "examples": ["call demo::f [CPU] => k1"], "pytorch": "agrees.", "properties": [],
   "tests": ["x.scn"], "model": ["m.cc:1"], "faults": [{"name": "f", "where": "f.h:1", "what": "it is two"}]},
  {"id": "DEMO-002", "title": "Two", "strength": "MUST", "profile": "core", "chapter": "demo", "needs": ["DEMO-001"],
   "where": "a.md:2", "text": "Two is two.", "examples": ["call demo::f [CPU] => k1"], "pytorch": "agrees.", "properties": [],
   "tests": [], "model": [], "faults": []},
  {"id": "DEMO-003", "title": "Three", "strength": "MUST", "profile": "core", "chapter": "demo", "needs": [],
   "where": "a.md:3", "text": "Three is three.", "examples": ["call demo::f [CPU] => k1"], "pytorch": "agrees.", "properties": [],
   "tests": [], "model": [], "faults": []}]})";

class SampleSuite {
 public:
  SampleSuite() {
    folder_.Write("clauses.json", kIndex);
    folder_.Write("corpus/demo/DEMO-001-good.scn", kGoodScenario);
    folder_.Write("corpus/demo/DEMO-002-bad.scn", kBadScenario);
    folder_.Write("corpus/demo/DEMO-003-newest.scn", kNewestScenario);
    folder_.Write("corpus/later/DEMO-001-again.scn", kGoodScenario);
  }
  const Folder& folder() const { return folder_; }

  // `plumbline check` of the sample corpus only, on the misbehaving backend.
  Ran Check(const std::string& misbehave, const std::string& arguments = "") const {
    return RunTool("check --backend " + Misbehaving() + " --filter 'demo' --filter 'later' --out " + folder_.path() +
                       "/out " + arguments,
                   Environment(misbehave));
  }
  std::map<std::string, std::string> Environment(const std::string& misbehave) const {
    return {{"PLUMBLINE_DATA", folder_.path()}, {"PLUMBLINE_MISBEHAVE", misbehave}};
  }

 private:
  Folder folder_;
};

}  // namespace plumbline::selftest

#endif  // PLUMBLINE_CONFORMANCE_SELFTEST_SAMPLE_SUITE_H_
