// Reads the TOML source of a release's key table, at build time.
//
//   ReleaseSource source = ReadRelease(text, "pytorch-1.13.toml");  // throws SourceError: "pytorch-1.13.toml:12:3:
//   ..." out << WriteReleases({source});                                 // the generated header
//
// Every name that a list uses must be a key, functionality, component or alias of that file, so that a misspelling
// stops the build. Used by generate_releases only. Not thread-safe in any interesting way: plain functions of values.
#ifndef PLUMBLINE_SPEC_TABLES_RELEASE_SOURCE_H_
#define PLUMBLINE_SPEC_TABLES_RELEASE_SOURCE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/tables/source_error.h"

namespace plumbline::tables {

// The owning twin of ReleaseData; see release.h for what the fields mean.
struct ReleaseSource {
  struct Component {
    std::string name, autograd, autocast;
  };
  struct Functionality {
    std::string name, kind;
    bool per_backend = false;
    std::string prefix;
  };
  struct Group {  // an alias, or the backends behind an autograd key
    std::string name;
    std::vector<std::string> functionalities, without_components;
  };
  struct Fallback {
    std::string key;
    bool fallthrough = false;
  };
  std::string name;
  std::vector<Component> components;
  std::vector<Functionality> functionalities;
  std::vector<Group> aliases, autograd;
  std::vector<Fallback> fallbacks;  // lowest key first
  std::vector<std::string> thread_include, thread_exclude, always_below, quiet_overrides;
  std::vector<std::pair<std::string, std::string>> synonyms;
};

ReleaseSource ReadRelease(std::string_view text, const std::string& file);

// The header that defines one ReleaseData per source, kReleases and FindRelease.
std::string WriteReleases(const std::vector<ReleaseSource>& releases);

}  // namespace plumbline::tables

#endif  // PLUMBLINE_SPEC_TABLES_RELEASE_SOURCE_H_
