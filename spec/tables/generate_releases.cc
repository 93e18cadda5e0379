// Build-time generator: generate_releases OUT.h A.toml B.toml ...
//
// Exits 1 with "file:line:column: what is wrong" when a source is not well formed.
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "spec/tables/release_source.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: generate_releases OUT.h RELEASE.toml ...\n";
    return 2;
  }
  try {
    std::vector<plumbline::tables::ReleaseSource> releases;
    for (int i = 2; i < argc; ++i) {
      std::ifstream in(argv[i], std::ios::binary);
      if (!in) throw plumbline::tables::SourceError(std::string(argv[i]) + ": cannot be read");
      std::ostringstream text;
      text << in.rdbuf();
      releases.push_back(plumbline::tables::ReadRelease(text.str(), argv[i]));
    }
    std::ofstream out(argv[1], std::ios::binary);
    out << plumbline::tables::WriteReleases(releases);
    out.close();
    if (!out) throw plumbline::tables::SourceError(std::string(argv[1]) + ": cannot be written");
  } catch (const plumbline::tables::SourceError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
