#include "fuzz/cli/targets.h"

#include <unistd.h>

#include <filesystem>

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;

struct Known {
  const char* name;
  const char* purpose;
  const char* seeds;  // folder of corpus/
  int longest_input;
  bool decoded = false;
  bool by_default = true;
};
constexpr Known kKnown[] = {
    {"schema_text", "schemas, read by the spec's parser and the reference's", "schema_text", 512},
    {"scenario_text", "scenario files: parser and printer", "scenario_text", 4096},
    {"history_text", "histories of threads: parser, printer, judgement", "history_text", 2048},
    {"waiver_text", "waiver files", "waiver_text", 4096},
    {"report_readers", "JSON reports: reader, formats, merge", "report_readers", 8192},
    {"abi_tables", "backends' tables with wrong sizes, versions and claims", "abi_tables", 256, true},
    {"steps_differential", "steps on the model and on the reference", "steps_differential", 512, true},
    {"schedules", "programs of threads under schedules, on the reference", "schedules", 384, true},
    {"steps_on_backend", "steps on the model and on the backend that PLUMBLINE_FUZZ_BACKEND names",
     "steps_differential", 512, true, false},
};

}  // namespace

std::vector<Target> AllTargets(const std::string& programs, const std::string& data) {
  std::vector<Target> targets;
  for (const Known& known : kKnown) {
    Target target{.name = known.name,
                  .purpose = known.purpose,
                  .program = programs + "/" + known.name,
                  .seeds = data + "/corpus/" + known.seeds,
                  .dictionary = data + "/dictionaries/" + known.name + ".dict",
                  .longest_input = known.longest_input,
                  .decoded = known.decoded,
                  .by_default = known.by_default};
    if (access(target.program.c_str(), X_OK) != 0) target.program.clear();
    std::error_code failed;
    if (!fs::is_directory(target.seeds, failed)) target.seeds.clear();
    if (!fs::is_regular_file(target.dictionary, failed)) target.dictionary.clear();
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace plumbline::fuzz
