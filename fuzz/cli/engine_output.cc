#include "fuzz/cli/engine_output.h"

#include <array>
#include <charconv>

namespace plumbline::fuzz {
namespace {

// The number that stands after `label`; `otherwise` if there is none.
std::uint64_t NumberAfter(std::string_view line, std::string_view label, std::uint64_t otherwise) {
  std::size_t at = line.find(label);
  if (at == std::string_view::npos) return otherwise;
  at += label.size();
  while (at < line.size() && line[at] == ' ') ++at;
  std::uint64_t number = 0;
  const auto [end, wrong] = std::from_chars(line.data() + at, line.data() + line.size(), number);
  return wrong == std::errc() ? number : otherwise;
}

}  // namespace

void EngineOutput::Read(std::string_view line) {
  if (line.starts_with('#') && line.find("cov: ") != std::string_view::npos) {
    executions = NumberAfter(line, "#", executions);
    coverage = NumberAfter(line, "cov: ", coverage);
    features = NumberAfter(line, "ft: ", features);
    corpus = NumberAfter(line, "corp: ", corpus);
    return;
  }
  executions = NumberAfter(line, "stat::number_of_executed_units:", executions);
  constexpr std::string_view kWritten = "Test unit written to ";
  if (const std::size_t at = line.find(kWritten); at != std::string_view::npos) {
    findings.emplace_back(line.substr(at + kWritten.size()));
  }
  constexpr std::array<std::string_view, 5> kWrong = {
      "property broken: ", "ERROR: AddressSanitizer: ", "runtime error: ", "ERROR: libFuzzer: ",
      "ERROR: LeakSanitizer: "};
  for (const std::string_view wrong : kWrong) {
    const std::size_t at = line.find(wrong);
    if (!broken.empty() || at == std::string_view::npos) continue;
    broken = line.substr(wrong.starts_with("ERROR: ") ? at + 7 : at);
  }
}

}  // namespace plumbline::fuzz
