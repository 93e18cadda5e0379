#include "conformance/harness/introduction.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "reports/text/shown.h"
#include "spec/abi/host.h"
#include "spec/model/key_table.h"
#include "spec/tables/releases.h"

namespace plumbline::harness {
namespace {

void ReadDescription(const pl_adapter& adapter, BackendFacts& facts) {
  pl_description description{};
  description.struct_size = sizeof(description);
  if (const abi::PlError error{adapter.describe(&description)}) {
    facts.problems.push_back(
        fmt::format("describe failed: {} ({})", error.message(), abi::ErrorClassSpelling(error.error_class())));
    return;
  }
  const auto text = [&facts](pl_string string) -> std::string {
    if (string.data != nullptr || string.size == 0) return std::string(abi::View(string));
    facts.problems.push_back(fmt::format("describe gives a text of {} bytes at a null pointer", string.size));
    return "";
  };
  const auto is_there = [&facts](const void* data, std::uint64_t count, const char* what) {
    if (data != nullptr || count == 0) return true;
    facts.problems.push_back(fmt::format("describe gives {} {} at a null pointer", count, what));
    return false;
  };
  if (!is_there(description.keys, description.key_count, "keys")) return;
  if (!is_there(description.fallbacks, description.fallback_count, "fallbacks")) return;
  // Of which every message and report is made, a line each.
  facts.name = reports::ShownInLine(text(description.name));
  facts.version = reports::ShownInLine(text(description.version));
  facts.release = text(description.release);
  for (std::uint64_t i = 0; i < description.key_count; ++i) {
    const pl_key_declaration& key = description.keys[i];
    if (key.kind > PL_DECLARE_MODE) {
      facts.problems.push_back(fmt::format("the declared key {} has the unknown kind {}", text(key.name), key.kind));
      continue;
    }
    facts.keys.push_back({.kind = static_cast<scenario::KeyDeclaration::Kind>(key.kind),
                          .name = text(key.name),
                          .after = text(key.after),
                          .autograd = text(key.autograd)});
  }
  if (description.own_starting_state != 0) {
    facts.fallbacks.emplace();
    for (std::uint64_t i = 0; i < description.fallback_count; ++i) {
      const pl_builtin_fallback& fallback = description.fallbacks[i];
      facts.fallbacks->push_back({text(fallback.key), fallback.fallthrough != 0});
    }
  }
}

}  // namespace

BackendFacts Introduce(const pl_adapter* adapter, const std::string& release) {
  BackendFacts facts;
  const abi::AdapterCheck check = abi::CheckAdapter(adapter);
  facts.problems = check.problems;
  facts.capabilities = check.capabilities;
  if (!check.readable) return facts;
  facts.entries = abi::EntriesThere(*adapter);
  facts.abi = fmt::format("{}.{}", adapter->abi_major, adapter->abi_minor);
  if (!PL_HAS(adapter, describe)) return facts;
  ReadDescription(*adapter, facts);
  if (!facts.problems.empty()) return facts;
  if (!release.empty()) facts.release = release;
  const tables::ReleaseData* data = model::FindRelease(facts.release);
  if (data == nullptr) {
    std::vector<std::string_view> known;
    for (const tables::ReleaseData* one : tables::kReleases) known.push_back(one->name);
    facts.problems.push_back(fmt::format("there is no table of dispatch keys for the release '{}'; there are: {}",
                                         facts.release, fmt::join(known, ", ")));
    return facts;
  }
  const model::KeyTable keys(*data, facts.keys);
  if (!keys.problem().empty()) facts.problems.push_back("its declared keys make no sense: " + keys.problem());
  return facts;
}

}  // namespace plumbline::harness
