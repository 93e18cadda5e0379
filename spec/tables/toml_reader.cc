#include "spec/tables/toml_reader.h"

#include <algorithm>
#include <sstream>

namespace plumbline::tables {

TomlReader::TomlReader(std::string_view text, const std::string& file) : file_(file) {
  try {
    root_ = toml::parse(text);
  } catch (const toml::parse_error& error) {
    Fail(error.source(), std::string(error.description()));
  }
}

void TomlReader::Fail(const toml::source_region& where, const std::string& what) const {
  std::ostringstream text;
  text << file_ << ":" << where.begin.line << ":" << where.begin.column << ": " << what;
  throw SourceError(text.str());
}

void TomlReader::Only(const toml::table& table, std::initializer_list<std::string_view> known) const {
  for (const auto& [key, value] : table) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      Fail(key.source(), "unknown field '" + std::string(key.str()) + "'");
    }
  }
}

const toml::node& TomlReader::Need(const toml::table& table, std::string_view field) const {
  const toml::node* node = table.get(field);
  if (node == nullptr) Fail(table, "the field '" + std::string(field) + "' is missing");
  return *node;
}

std::string TomlReader::Text(const toml::node& node, std::string_view field) const {
  if (!node.is_string()) Fail(node, "'" + std::string(field) + "' must be a string");
  return node.as_string()->get();
}

std::string TomlReader::String(const toml::table& table, std::string_view field) const {
  return Text(Need(table, field), field);
}

std::string TomlReader::OptionalString(const toml::table& table, std::string_view field) const {
  const toml::node* node = table.get(field);
  return node == nullptr ? std::string() : Text(*node, field);
}

const toml::array& TomlReader::Array(const toml::table& table, std::string_view field) const {
  const toml::node& node = Need(table, field);
  if (!node.is_array()) Fail(node, "'" + std::string(field) + "' must be a list");
  return *node.as_array();
}

}  // namespace plumbline::tables
