#include "conformance/harness/renaming.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace plumbline::harness {
namespace {

// The length of the namespace that a name or schema starts with; npos if it has none.
std::size_t NamespaceLength(std::string_view text) {
  const std::size_t end = text.find("::");
  return end == std::string_view::npos || text.find('(') < end ? std::string_view::npos : end;
}

std::string_view NamespaceOf(std::string_view text) {
  const std::size_t length = NamespaceLength(text);
  return length == std::string_view::npos ? std::string_view() : text.substr(0, length);
}

}  // namespace

Renaming::Renaming(const scenario::Scenario& scenario, std::string suffix) : suffix_(std::move(suffix)) {
  for (const scenario::KernelDefinition& kernel : scenario.kernels) {
    for (const scenario::BodyItem& item : kernel.body) {
      if (const auto* call = std::get_if<scenario::BodyCall>(&item)) {
        namespaces_.insert(Namespace(NamespaceOf(call->operator_name)));
      } else if (const auto* step = std::get_if<scenario::BodyStep>(&item)) {
        for (const scenario::Step& inner : step->step) Note(inner);
      }
    }
  }
  for (const scenario::Step& step : scenario.steps) Note(step);
  namespaces_.erase("");
}

void Renaming::Note(const scenario::Step& step) {
  const auto note = [this](std::string_view text) { namespaces_.insert(Namespace(NamespaceOf(text))); };
  std::visit(
      [&](const auto& action) {
        if constexpr (requires { action.operator_name; }) note(action.operator_name);
        if constexpr (requires { action.schema; }) note(action.schema);
        if constexpr (requires { action.name_space; }) namespaces_.insert(Namespace(action.name_space));
        if constexpr (requires { action.subject; }) note(action.subject);
      },
      step.action);
}

std::string Renaming::In(std::string_view operator_or_schema) const {
  const std::size_t length = NamespaceLength(operator_or_schema);
  if (length == std::string_view::npos || length == 0) return std::string(operator_or_schema);
  return Namespace(operator_or_schema.substr(0, length)) + std::string(operator_or_schema.substr(length));
}

std::string Renaming::Namespace(std::string_view name_space) const {
  return name_space.empty() || name_space == "_" ? std::string(name_space) : std::string(name_space) + suffix_;
}

std::string Renaming::Out(std::string_view text) const {
  std::string out(text);
  if (suffix_.empty()) return out;
  for (std::size_t at = out.find(suffix_); at != std::string::npos; at = out.find(suffix_, at)) {
    out.erase(at, suffix_.size());
  }
  return out;
}

bool Renaming::Owns(std::string_view operator_name) const { return namespaces_.contains(NamespaceOf(operator_name)); }

}  // namespace plumbline::harness
