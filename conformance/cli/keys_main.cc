// plumbline keys: the dispatch keys of a backend or of a release, from lowest to highest priority.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/keys_text.h"
#include "conformance/cli/paint.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/run_main.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

using harness::OrError;
using model::Key;
using model::KeyTable;

// What is printed: a release's table, and what a backend puts on top.
struct Subject {
  const tables::ReleaseData* release = nullptr;
  std::string heading;
  std::vector<scenario::KeyDeclaration> declared;
  std::map<std::string, bool> fallbacks;       // built in; true: falls through
  std::optional<std::set<std::string>> known;  // to the backend; absent: no backend, or one that does not tell
  bool all = false;                            // shows what it does not know too

  bool Knows(const std::string& name) const { return !known || known->contains(name); }
  bool Shows(const std::string& name) const { return all || Knows(name); }
};

const char* KindOf(const Subject& subject, const KeyTable& table, Key key) {
  if (key == model::kUndefined) return "none";
  if (table.IsAutograd(key)) return "autograd";
  for (const tables::FunctionalityData& functionality : subject.release->functionalities) {
    if (functionality.name == table.Name(key)) return functionality.kind == tables::KeyKind::kMode ? "mode" : "backend";
  }
  for (const scenario::KeyDeclaration& declaration : subject.declared) {
    if (declaration.name == table.Name(key)) {
      return declaration.kind == scenario::KeyDeclaration::Kind::kMode ? "mode" : "backend";
    }
  }
  return "backend";  // what is per backend and no autograd key
}

std::map<Key, Key> AutogradKeys(const KeyTable& table) {
  std::map<Key, Key> autograd_of;
  for (Key autograd = 0; autograd < table.slot_count(); ++autograd) {
    if (!table.IsAutograd(autograd)) continue;
    for (Key behind : table.Behind(autograd)) autograd_of.emplace(behind, autograd);
  }
  for (Key key = 0; key < table.slot_count(); ++key) {
    if (table.IsDense(key)) autograd_of[key] = table.AutogradOf(table.ComponentOf(key));
  }
  return autograd_of;
}

// What holds before anything is registered, on a fresh thread.
std::string StartOf(const Subject& subject, const KeyTable& table, Key key) {
  std::vector<std::string> parts;
  if (const auto fallback = subject.fallbacks.find(table.Name(key)); fallback != subject.fallbacks.end()) {
    parts.push_back(fallback->second ? "falls through" : "fallback kernel");
  }
  const auto holds = [&](const model::KeySet& set) {
    const auto keys = table.Keys(set);
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  // A thread's sets are of functionalities; no component stands in them.
  if (key != model::kUndefined && holds(table.thread_include())) parts.push_back("included");
  if (key != model::kUndefined && holds(table.thread_exclude())) parts.push_back("excluded");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void PrintKeys(const Subject& subject, const KeyTable& table, const Painter& paint) {
  std::size_t width = 3, known = 0;
  for (Key key = 0; key < table.slot_count(); ++key) {
    if (subject.Shows(table.Name(key))) width = std::max(width, table.Name(key).size());
    if (subject.Knows(table.Name(key))) ++known;
  }
  const bool whole = known == static_cast<std::size_t>(table.slot_count());
  Print("{}: {} keys, lowest priority first\n", paint.Bold(subject.heading),
        whole ? std::to_string(known) : fmt::format("it knows {} of {}", known, table.slot_count()));
  if (!whole) {
    const std::size_t unknown = static_cast<std::size_t>(table.slot_count()) - known;
    Print("{} that it does not know {} {}\n", reports::Counted(unknown, "key"), unknown == 1 ? "is" : "are",
          subject.all ? "marked" : "left out; --all shows them");
  }
  Print("\n");
  const std::map<Key, Key> autograd_of = AutogradKeys(table);
  std::size_t autograd_width = 12;
  for (const auto& [key, autograd] : autograd_of)
    autograd_width = std::max(autograd_width, table.Name(autograd).size());

  Print("{}\n", paint.Faint(fmt::format("{:>4}  {:<{}}  {:<8}  {:<11}  {:<{}}  starts", "no", "key", width, "kind",
                                        "per backend", "autograd key", autograd_width)));
  for (Key key = 0; key < table.slot_count(); ++key) {
    const auto autograd = autograd_of.find(key);
    const auto component = table.ComponentOf(key);
    const std::string& name = table.Name(key);
    if (!subject.Shows(name)) continue;
    const bool own = std::any_of(subject.declared.begin(), subject.declared.end(), [&](const auto& declaration) {
      return declaration.name == name || (component && table.components()[*component] == declaration.name);
    });
    const char* mark = own ? "  declared by the backend" : subject.Knows(name) ? "" : "  unknown to the backend";
    std::string line = fmt::format("{:>4}  {:<{}}  {:<8}  {:<11}  {:<{}}  {}{}", key, name, width,
                                   KindOf(subject, table, key), component ? table.components()[*component] : "",
                                   autograd != autograd_of.end() ? table.Name(autograd->second) : "", autograd_width,
                                   StartOf(subject, table, key), mark);
    line.erase(line.find_last_not_of(' ') + 1);
    Print("{}\n", own ? paint.Green(line) : paint.Plain(line));
  }
}

void PrintAliases(const Subject& subject, const KeyTable& table, const Painter& paint) {
  Print("\n{}\n", paint.Bold("alias keys, for registration only (X* is that key of every backend)"));
  std::size_t width = 0;
  for (Key key = table.slot_count(); key < table.key_count(); ++key) {
    if (subject.Shows(table.Name(key))) width = std::max(width, table.Name(key).size());
  }
  bool any = false;
  for (Key key = table.slot_count(); key < table.key_count(); ++key) {
    if (!subject.Shows(table.Name(key))) continue;
    any = true;
    std::vector<Key> members = table.Members(key);
    std::erase_if(members, [&](Key member) { return !subject.Shows(table.Name(member)); });
    Print("  {:<{}}  {}\n", table.Name(key), width, Wrapped(FoldKeys(table, members), static_cast<int>(width) + 4));
  }
  if (!any) Print("  none that it knows\n");
  bool titled = false;
  for (const tables::SynonymData& synonym : subject.release->synonyms) {
    if (!subject.Shows(std::string(synonym.means))) continue;
    if (!std::exchange(titled, true)) Print("\n{}\n", paint.Bold("other names"));
    Print("  {:<{}}  {}\n", synonym.name, width, synonym.means);
  }
  Print("\n{}\n", paint.Bold("a new thread"));
  const auto print_set = [&](const char* what, const model::KeySet& set) {
    std::vector<std::string> names = table.Names(set);
    std::erase_if(names, [&](const std::string& name) { return !subject.Shows(name); });
    Print("  {}  {}\n", what, names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, " ")));
  };
  print_set("includes", table.thread_include());
  print_set("excludes", table.thread_exclude());
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Prints the dispatch keys of a backend or of a release in order, lowest priority first: kind, the backend of a\n"
      "per-backend key, its autograd key, and how it starts (a built-in fallback; included or excluded on a new "
      "thread);\n"
      "then the alias keys with their members. Of a backend, those that it knows.",
      "plumbline keys");
  BackendOptions options;
  bool no_color = false, all = false;
  options.AddTo(app, false);
  app.add_flag("--all", all, "also the release's keys that the backend does not know");
  AddNoColor(app, no_color);
  app.footer(
      "Without --backend, the keys of the release: pytorch-1.13 if none is named.\n"
      "  plumbline keys --release pytorch-2.x\n"
      "  plumbline keys --backend ./libmine.so\n"
      "Exit status: 0 printed; 2 bad input.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;

  Subject subject;
  std::string release = options.release.empty() ? "pytorch-1.13" : options.release;
  std::unique_ptr<harness::Executor> executor;
  if (!options.backend.empty()) {
    OrError<harness::ExecutorConfig> config = options.Config();
    if (!config.ok()) return Complain(app, config.error());
    OrError<std::unique_ptr<harness::Executor>> started = StartBackend(app, *config);
    if (!started.ok()) return Complain(app, started.error());
    executor = std::move(*started);
    const harness::BackendFacts& facts = executor->facts();
    release = facts.release;
    subject.declared = facts.keys;
    subject.heading = fmt::format("{} {} ({})", facts.name, facts.version, release);
    subject.all = all;
    const OrError<std::vector<std::string>> known = executor->KnownKeys();
    const bool tells = std::find(facts.entries.begin(), facts.entries.end(), "intern_key") != facts.entries.end();
    if (!known.ok() && tells) return Complain(app, known.error());
    if (known.ok()) subject.known.emplace(known->begin(), known->end());
    if (!tells) subject.heading += ", which does not tell what it knows (no InternKey); its release has";
  } else {
    if (auto status = RefuseIdle(app, {"--load", "--fault", "--timeout"}, "without --backend")) return *status;
    subject.heading = release;
  }
  OrError<const tables::ReleaseData*> found = ReadRelease(release);
  if (!found.ok()) return Complain(app, found.error());
  subject.release = *found;
  if (executor && executor->facts().fallbacks) {
    for (const harness::BuiltinFallback& fallback : *executor->facts().fallbacks) {
      subject.fallbacks[fallback.key] = fallback.fallthrough;
    }
  } else {
    for (const tables::BuiltinFallbackData& fallback : subject.release->fallbacks) {
      subject.fallbacks[std::string(fallback.key)] = fallback.fallthrough;
    }
  }

  const KeyTable table(*subject.release, subject.declared);
  const Painter paint(Colours(STDOUT_FILENO, no_color));
  PrintKeys(subject, table, paint);
  PrintAliases(subject, table, paint);
  return kGood;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
