// What readers of TOML sources share: fields of the right type, and errors that say where.
//
//   class Reader : TomlReader {
//     Reader(std::string_view text, const std::string& file) : TomlReader(text, file) {}
//     ... name = String(root(), "name");  // throws SourceError: "small.toml:1:1: the field 'name' is missing"
//   };
//
// Used at build time only. Not thread-safe.
#ifndef PLUMBLINE_SPEC_TABLES_TOML_READER_H_
#define PLUMBLINE_SPEC_TABLES_TOML_READER_H_

#include <toml++/toml.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "spec/tables/source_error.h"

namespace plumbline::tables {

class TomlReader {
 protected:
  TomlReader(std::string_view text, const std::string& file);

  const toml::table& root() const { return root_; }
  [[noreturn]] void Fail(const toml::source_region& where, const std::string& what) const;
  [[noreturn]] void Fail(const toml::node& where, const std::string& what) const { Fail(where.source(), what); }

  // No field but these.
  void Only(const toml::table& table, std::initializer_list<std::string_view> known) const;
  const toml::node& Need(const toml::table& table, std::string_view field) const;
  std::string Text(const toml::node& node, std::string_view field) const;
  std::string String(const toml::table& table, std::string_view field) const;
  std::string OptionalString(const toml::table& table, std::string_view field) const;  // empty: there is none
  const toml::array& Array(const toml::table& table, std::string_view field) const;

  // Each table of the list `field`.
  template <class Function>
  void EachTable(std::string_view field, Function function) const {
    for (const toml::node& node : Array(root_, field)) {
      if (!node.is_table()) Fail(node, "'" + std::string(field) + "' must hold tables");
      function(*node.as_table());
    }
  }

 private:
  std::string file_;
  toml::table root_;
};

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_TOML_READER_H_
