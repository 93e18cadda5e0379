#include "reference/introspect/dump.h"

#include "reference/dispatch/operator.h"

namespace plumbline::reference {
namespace {

OperatorRef Named(const Registry& registry, std::string_view name) {
  OperatorRef op = registry.Find(name);
  return op ? op : registry.FindOrThrow(name);
}

std::string PlaceOf(bool fallthrough, const std::string& place) {
  return (fallthrough ? "fallthrough " : "") + (place.empty() ? std::string("built in") : place);
}

}  // namespace

std::vector<std::string> DumpRegistrations(const Registry& registry, std::string_view name) {
  const OperatorRef op = Named(registry, name);
  const Describer describe(registry);
  std::vector<std::string> lines = {"name: " + op->name()};
  if (op->state() == OperatorState::kDefined) {
    lines.push_back("schema: " + Print(SchemaOf(*op)));
    lines.push_back("defined at: " + describe.DefinitionPlace(*op));
  } else {
    lines.emplace_back("schema: none, the operator is implemented but not defined");
  }
  for (const KernelRow& row : describe.Kernels(*op)) {
    std::string line = registry.keys().Name(row.key);
    if (KeyTable::IsAlias(row.key)) line += " [alias]";
    if (!row.active) line += " (inactive)";
    line += ": " + row.place + (row.fallthrough ? ", fallthrough" : row.typed ? ", typed" : ", boxed");
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> DumpTable(const Registry& registry, std::string_view name) {
  const OperatorRef op = Named(registry, name);
  std::vector<std::string> lines;
  for (const TableRow& row : Describer(registry).Table(*op)) {
    const std::string where = row.rule == Rule::kAmbiguous ? "no single kernel" : PlaceOf(row.fallthrough, row.place);
    lines.push_back(registry.keys().Name(row.key) + ": " + where + " [" + std::string(Spelling(row.rule)) + "]");
  }
  return lines;
}

std::vector<std::string> DumpFallbacks(const Registry& registry) {
  std::vector<std::string> lines;
  for (const auto& [key, row] : Describer(registry).Fallbacks()) {
    lines.push_back(registry.keys().Name(key) + ": " + PlaceOf(row.fallthrough, row.place));
  }
  for (const ChainInfo& chain : registry.Chains()) {
    lines.push_back(registry.keys().Name(chain.key) + " served by " + registry.keys().Name(chain.served_by) + ": " +
                    chain.place);
  }
  return lines;
}

}  // namespace plumbline::reference
