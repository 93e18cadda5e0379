// That a backend's operators are registered as the table says: under which schema, and at which keys.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "conformance/suites/operators/operator_backend.h"
#include "conformance/suites/operators/operator_cases.h"
#include "conformance/suites/operators/program_cases.h"
#include "spec/abi/error.h"
#include "spec/scenario/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::suites {
namespace {

using harness::CaseContext;
using harness::Tier;
using Definition = OperatorSession::Definition;
using tables::OperatorData;

constexpr std::uint64_t kDefined = kWithOperators | PL_CAPABILITY(INTROSPECTION);

// Asks for all operators of the table; `wrong` says what a definition should be if it is not.
template <class F>
void CheckDefinitions(CaseContext& ctx, const F& wrong) {
  OperatorBackend backend(ctx.executor(), "");
  if (!backend.broken().empty()) return ctx.Broken(backend.broken());
  std::vector<std::string> names;
  for (const OperatorData& op : tables::kOperators) names.emplace_back(op.name);
  const OperatorBackend::Defined defined = backend.AskDefinitions(names);
  if (defined.died) {
    reports::Finding finding;
    finding.summary = fmt::format("asked how {} is registered: {}", names[static_cast<std::size_t>(defined.died->step)],
                                  defined.died->what);
    return ctx.Fail(std::move(finding), defined.died->verdict);
  }
  std::uint64_t tried = 0, others = 0;
  std::optional<reports::Finding> finding;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Definition& definition = defined.definitions[i];
    if (definition.error_class == PL_ERROR_NOT_FOUND) continue;
    ++tried;
    std::pair<std::string, std::string> expected_and_got;
    if (definition.error_class != 0) {
      expected_and_got = {"an answer", definition.message};
    } else {
      expected_and_got = wrong(tables::kOperators[i], definition);
    }
    if (expected_and_got == std::pair<std::string, std::string>()) continue;
    if (finding) {
      ++others;
      continue;
    }
    finding.emplace();
    finding->summary = fmt::format("{} is registered otherwise than the table of operators says", names[i]);
    std::tie(finding->expected, finding->got) = std::move(expected_and_got);
  }
  ctx.Tried(tried);
  if (finding) {
    if (others > 0) finding->summary += fmt::format(", as {} more", others);
    return ctx.Fail(*std::move(finding));
  }
  if (tried == 0) ctx.Unsupported("every operator of the table");
}

// A default in one spelling of the many that its value has: 'none' and "none", 1e-05 and 1e-5, 1 and [1, 1] for int[2],
// Mean and 1, long and 4.
std::string OneSpelling(const std::string& text, const scenario::SchemaType& type) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"Mean", "1"},          {"Sum", "2"}, {"contiguous_format", "0"}, {"preserve_format", "1"},
      {"channels_last", "2"}, {"long", "4"}};
  for (const auto& [word, number] : kWords) {
    if (text == word) return std::string(number);
  }
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  if (quoted) return '"' + text.substr(1, text.size() - 2) + '"';
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0') return text;
  const std::string spelled = fmt::format("{}", number);
  if (!type.size) return spelled;
  return fmt::format("[{}]", fmt::join(std::vector<std::string>(static_cast<std::size_t>(*type.size), spelled), ", "));
}

std::string InOneSpelling(scenario::Schema schema) {
  for (scenario::SchemaArgument& argument : schema.arguments) {
    if (argument.default_value) argument.default_value = OneSpelling(*argument.default_value, argument.type);
  }
  return scenario::PrintSchema(schema);
}

PL_CASE("operators", "schemas", Tier::kQuick, PL_CLAUSES("OPER-001"), kDefined) {
  CheckDefinitions(ctx, [&](const OperatorData& op, const Definition& definition) {
    const std::string_view wanted = op.SchemaIn(ctx.backend().release);  // [OPER-001]
    const auto expected = scenario::ParseSchema(wanted).schema, got = scenario::ParseSchema(definition.schema).schema;
    if (!got) return std::pair(std::string(wanted), definition.schema);
    if (InOneSpelling(*expected) == InOneSpelling(*got)) return std::pair<std::string, std::string>();
    return std::pair(scenario::PrintSchema(*expected), scenario::PrintSchema(*got));
  });
}

PL_CASE("operators", "composites", Tier::kQuick, PL_CLAUSES("OPER-002"), kDefined) {
  CheckDefinitions(ctx, [](const OperatorData& op, const Definition& definition) {
    // [OPER-002]
    const auto has = [&](std::string_view key) {
      return std::any_of(definition.keys.begin(), definition.keys.end(),
                         [&](const std::string& one) { return one.starts_with(key); });
    };
    std::vector<std::string> missing;
    const auto need = [&](std::string_view key) {
      if (!has(key)) missing.push_back(fmt::format("a kernel at {}", key));
    };
    if (op.backend_select) need("BackendSelect");
    if (op.registered == tables::Registered::kImplicit) need("CompositeImplicitAutograd");
    if (op.registered == tables::Registered::kExplicit) need("CompositeExplicitAutograd");
    if (missing.empty()) return std::pair<std::string, std::string>();
    return std::pair(fmt::format("{}", fmt::join(missing, " and ")),
                     definition.keys.empty() ? "none at BackendSelect or a composite key"
                                             : fmt::format("kernels at {}", fmt::join(definition.keys, ", ")));
  });
}

}  // namespace
}  // namespace plumbline::suites
