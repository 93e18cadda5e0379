// What libFuzzer says while it runs, read line by line.
//
//   EngineOutput output;
//   output.Read("#4096\tpulse  cov: 812 ft: 2411 corp: 96/3121b lim: 41 exec/s: 2048 rss: 61Mb");
//   output.executions == 4096 && output.coverage == 812
//
// Plain data; no thread rules.
#ifndef PLUMBLINE_FUZZ_CLI_ENGINE_OUTPUT_H_
#define PLUMBLINE_FUZZ_CLI_ENGINE_OUTPUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::fuzz {

struct EngineOutput {
  std::uint64_t executions = 0;
  std::uint64_t coverage = 0;  // edges
  std::uint64_t features = 0;
  std::uint64_t corpus = 0;           // inputs
  std::vector<std::string> findings;  // files of inputs that broke the property
  std::string broken;                 // the first line that says what is wrong

  void Read(std::string_view line);
};

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_CLI_ENGINE_OUTPUT_H_
