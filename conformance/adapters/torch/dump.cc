#include "conformance/adapters/torch/dump.h"

#include "spec/abi/abi.h"
#include "spec/abi/error.h"

namespace plumbline::torch_backend {
namespace {

struct Provenance {
  std::string_view text;
  std::uint32_t rule;
};

// libtorch's words in brackets at the end of a line.
constexpr Provenance kProvenances[] = {
    {"kernel", PL_RULE_KERNEL},
    {"default backend kernel", PL_RULE_EXPLICIT},  // either of the two explicit aliases: see below
    {"nested kernel", PL_RULE_NESTED},
    {"math kernel", PL_RULE_IMPLICIT},
    {"ambiguous autogradother", PL_RULE_AMBIGUOUS},
    {"autograd kernel", PL_RULE_AUTOGRAD},
    {"batched kernel", PL_RULE_BATCHED},
    {"backend fallback", PL_RULE_FALLBACK},
};

}  // namespace

std::vector<DumpRow> ParseComputedTable(std::string_view dump) {
  std::vector<DumpRow> rows;
  while (!dump.empty()) {
    const std::size_t end = dump.find('\n');
    const std::string_view line = dump.substr(0, end);
    dump.remove_prefix(end == std::string_view::npos ? dump.size() : end + 1);
    if (line.empty()) continue;

    const std::size_t colon = line.find(": ");
    const std::size_t bracket = line.rfind(" [");
    if (colon == std::string_view::npos || bracket == std::string_view::npos || bracket < colon || line.back() != ']')
      throw abi::Error(PL_ERROR_INTERNAL, "cannot read this line of a computed table: " + std::string(line));
    DumpRow row;
    row.key = line.substr(0, colon);
    std::string_view rest = bracket > colon + 2 ? line.substr(colon + 2, bracket - colon - 2) : std::string_view();
    constexpr std::string_view kFallthrough = "fallthrough ";
    if (rest.substr(0, kFallthrough.size()) == kFallthrough) {
      row.fallthrough = true;
      rest.remove_prefix(kFallthrough.size());
    }
    row.place = rest;
    const std::string_view words = line.substr(bracket + 2, line.size() - bracket - 3);
    for (const Provenance& provenance : kProvenances)
      if (words == provenance.text) row.rule = provenance.rule;
    if (row.rule == 0)
      throw abi::Error(PL_ERROR_INTERNAL, "unknown provenance in this line of a computed table: " + std::string(line));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace plumbline::torch_backend
