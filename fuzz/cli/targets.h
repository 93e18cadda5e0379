// The fuzz targets, whether they are built, and where their inputs are.
//
//   for (const Target& target : AllTargets(programs, data)) ...
//
// Reads the file system; any thread.
#ifndef PLUMBLINE_FUZZ_CLI_TARGETS_H_
#define PLUMBLINE_FUZZ_CLI_TARGETS_H_

#include <string>
#include <vector>

namespace plumbline::fuzz {

struct Target {
  std::string name;
  std::string purpose;     // one line
  std::string program;     // empty: not built
  std::string seeds;       // the folder of the inputs that come with Plumbline; empty: there is none
  std::string dictionary;  // empty: there is none
  int longest_input = 4096;
  bool decoded = false;  // its bytes are decisions, not text
  bool by_default = true;
};

// All that there are, in the order of a run. `programs`: the folder of built targets; `data`: fuzz/ of the tree.
std::vector<Target> AllTargets(const std::string& programs, const std::string& data);

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_CLI_TARGETS_H_
