// Every scenario of the corpus, checked against the model: what its author wrote is what the spec says.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "spec/model/canonical.h"
#include "spec/model/machine.h"
#include "spec/scenario/matches.h"
#include "spec/scenario/parse.h"
#include "spec/scenario/print.h"

namespace plumbline::model {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator("spec/corpus")) {
    if (entry.path().extension() == ".scn") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(CorpusTest, AgreesWithTheModel) {
  const std::vector<fs::path> files = Corpus();
  ASSERT_GT(files.size(), 100u);
  int expectations = 0;
  for (const fs::path& file : files) {
    const scenario::ParseResult parsed = scenario::Parse(Read(file));
    if (!parsed.scenario) {
      ADD_FAILURE() << file.string() << ":" << parsed.error->line << ":" << parsed.error->column << ": "
                    << parsed.error->message;
      continue;
    }
    Machine machine(*parsed.scenario, {});
    const scenario::Canonical canonical = CanonicalBy(machine.keys());
    for (const scenario::Step& step : parsed.scenario->steps) {
      const scenario::Outcome outcome = machine.Run(step);
      if (!step.expected) continue;
      ++expectations;
      const auto difference = scenario::Mismatch(*step.expected, outcome, canonical);
      if (difference) {
        ADD_FAILURE() << file.string() << ":" << step.line << ": " << scenario::PrintStep(step) << "\n  " << *difference
                      << "\n  the model: " << scenario::PrintOutcome(outcome) << " " << outcome.message;
      }
    }
  }
  std::cout << files.size() << " scenarios, " << expectations << " expected outcomes\n";
}

}  // namespace
}  // namespace plumbline::model
