// Build-time generator: generate_operators OUT.h OUT.md FAMILY.toml ...
//
// Exits 1 with "file:line:column: what is wrong" when a source is not well formed.
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "spec/tables/operator_source.h"

namespace {

using plumbline::tables::SourceError;

std::string ReadFile(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw SourceError(std::string(path) + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteFile(const char* path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw SourceError(std::string(path) + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: generate_operators OUT.h OUT.md FAMILY.toml ...\n";
    return 2;
  }
  try {
    std::vector<plumbline::tables::OperatorFamily> families;
    for (int i = 3; i < argc; ++i) families.push_back(plumbline::tables::ReadOperators(ReadFile(argv[i]), argv[i]));
    WriteFile(argv[1], plumbline::tables::WriteOperators(families));
    WriteFile(argv[2], plumbline::tables::WriteOperatorList(families));
  } catch (const SourceError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
