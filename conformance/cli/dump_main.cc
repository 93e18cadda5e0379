// plumbline dump: what is registered for an operator of a backend, and the table that follows; or what a library adds.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conformance/cli/command_line.h"
#include "conformance/cli/keys_text.h"
#include "conformance/cli/paint.h"
#include "conformance/cli/registered.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/run_main.h"
#include "reports/text/counted.h"

namespace plumbline::cli {
namespace {

using harness::Executor;
using harness::OperatorNames;
using harness::OperatorView;
using harness::OrError;
using model::Key;
using model::KeyTable;

void PrintRegistered(const OperatorView& view, const Painter& paint) {
  Print("\n{}\n", paint.Bold("registered"));
  if (!view.registrations.empty()) {
    for (const std::string& line : FoldRegistrations(view.registrations)) Print("  {}\n", line);
  } else {
    for (const std::string& key : view.direct) Print("  {}\n", key);
    if (view.direct.empty()) Print("  nothing\n");
  }
}

// Keys whose slots are filled alike, by the same rule with the same kernel; or one key each.
struct Group {
  OperatorView::Row row;
  std::vector<Key> keys;
  std::vector<std::string> unknown;  // keys that the table of the release lacks
};

std::vector<Group> GroupsOf(const OperatorView& view, const KeyTable& table, bool each_key) {
  std::vector<Group> groups;
  for (const OperatorView::Row& row : view.table) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return !each_key && group.row.rule == row.rule && group.row.place == row.place &&
             group.row.fallthrough == row.fallthrough;
    });
    if (at == groups.end()) at = groups.insert(at, Group{.row = row, .keys = {}, .unknown = {}});
    if (const auto key = table.Find(row.key)) {
      at->keys.push_back(*key);
    } else {
      at->unknown.push_back(row.key);
    }
  }
  return groups;
}

// Words in lines of at most `width`, longer words alone.
std::vector<std::string> Lines(const std::vector<std::string>& words, std::size_t width) {
  std::vector<std::string> lines;
  for (const std::string& word : words) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

void PrintTable(const OperatorView& view, const KeyTable& table, bool each_key, const Painter& paint) {
  Print("\n{}\n",
        paint.Bold("the table that follows, by the lowest key of each row (X* is that key of every backend)"));
  constexpr std::size_t kKeyWidth = 46;
  std::set<Key> present;
  std::vector<std::vector<std::string>> lines;
  std::size_t key_width = 3, rule_width = 4;
  const std::vector<Group> groups = GroupsOf(view, table, each_key);
  for (const Group& group : groups) {
    present.insert(group.keys.begin(), group.keys.end());
    std::vector<std::string> words = FoldKeys(table, group.keys);
    words.insert(words.end(), group.unknown.begin(), group.unknown.end());
    lines.push_back(Lines(words, kKeyWidth));
    for (const std::string& line : lines.back()) key_width = std::max(key_width, line.size());
    rule_width = std::max(rule_width, group.row.rule.size());
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const OperatorView::Row& row = groups[i].row;
    const bool ambiguous = row.rule == "ambiguous";
    const std::string place = !row.place.empty() ? row.place : ambiguous ? "two claims: an error" : "built in";
    for (std::size_t j = 0; j < lines[i].size(); ++j) {
      const std::string line = j == 0 ? fmt::format("  {:<{}}  {:<{}}  {}{}", lines[i][j], key_width, row.rule,
                                                    rule_width, row.fallthrough ? "falls through, " : "", place)
                                      : "  " + lines[i][j];
      Print("{}\n", ambiguous ? paint.Red(line) : row.fallthrough ? paint.Faint(line) : paint.Plain(line));
    }
  }
  std::vector<Key> missing;
  for (Key key = 0; key < table.slot_count(); ++key) {
    if (!present.contains(key)) missing.push_back(key);
  }
  if (missing.empty()) return;
  Print("  missing at {}:\n    {}\n", reports::Counted(missing.size(), "key"), Wrapped(FoldKeys(table, missing), 4));
}

// Sorted names in `after` and not in `before`.
std::vector<std::string> Added(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::vector<std::string> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  return added;
}

void PrintNames(const OperatorNames& names) {
  const std::set<std::string> dangling(names.dangling.begin(), names.dangling.end());
  for (const std::string& name : names.all) {
    Print("{}{}\n", name, dangling.contains(name) ? "  (implemented, not defined)" : "");
  }
}

// What the libraries of --load registered: the difference that they make.
void PrintAdded(const OperatorNames& before, const OperatorNames& after, const KeyTable& table, const Painter& paint) {
  const std::vector<std::string> names = Added(before.all, after.all);
  Print("{}\n", paint.Bold("operators that it adds"));
  const std::set<std::string> dangling(after.dangling.begin(), after.dangling.end());
  for (const std::string& name : names) {
    Print("  {}{}\n", name, dangling.contains(name) ? "  (implemented, not defined)" : "");
  }
  if (names.empty()) Print("  none\n");
  Print("\n{}\n", paint.Bold("kernels that it adds"));
  bool any = false;
  for (Key key = 0; key < table.key_count(); ++key) {
    const auto now = after.at.find(table.Name(key));
    if (now == after.at.end()) continue;
    const auto then = before.at.find(table.Name(key));
    std::vector<std::string> added = then == before.at.end() ? now->second : Added(then->second, now->second);
    if (added.empty()) continue;
    any = true;
    constexpr std::size_t kShown = 20;
    const std::size_t count = added.size();
    if (count > kShown) {
      added.resize(kShown);
      added.push_back(fmt::format("and {} more", count - kShown));
    }
    Print("  {} ({})\n    {}\n", table.Name(key), count, Wrapped(added, 4));
  }
  if (!any) Print("  none at a key where there was none\n");
  Print("\n{}\n", paint.Bold("fallbacks that it adds"));
  std::vector<std::string> fallbacks;
  for (const std::string& key : after.fallbacks) {
    if (std::find(before.fallbacks.begin(), before.fallbacks.end(), key) == before.fallbacks.end()) {
      fallbacks.push_back(key);
    }
  }
  Print("  {}\n", fallbacks.empty() ? "none" : Wrapped(fallbacks, 2));
  Print("\n`plumbline dump OPERATOR` with the same options shows one of them in full.\n");
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Prints what is registered for an operator and where, its schema, and the dispatch table that follows: for each "
      "key\n"
      "the rule that fills it and the place of the kernel. Without an operator: all operators; with --load, what the\n"
      "library adds.",
      "plumbline dump");
  BackendOptions options;
  std::string name;
  bool no_color = false, all = false, each_key = false;
  app.add_option("operator", name, "ns::name or ns::name.overload")->type_name("OPERATOR");
  options.AddTo(app);
  app.add_flag("--all", all, "without an operator: all operators, also with --load");
  app.add_flag("--each-key", each_key, "of an operator: a row for each key, also where one kernel serves several");
  AddNoColor(app, no_color);
  app.footer(
      "  plumbline dump aten::add.Tensor --backend torch\n"
      "  plumbline dump --backend torch --load ./libmine.so\n"
      "  plumbline dump mine::f --backend torch --load ./libmine.so\n"
      "Exit status: 0 printed; 2 bad input, such as an unknown operator, or the backend cannot say.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;
  if (auto status = name.empty() ? RefuseIdle(app, {"--each-key"}, "without OPERATOR, whose table it is of")
                                 : RefuseIdle(app, {"--all"}, "beside OPERATOR")) {
    return *status;
  }

  OrError<harness::ExecutorConfig> config = options.Config();
  if (!config.ok()) return Complain(app, config.error());
  OrError<std::unique_ptr<Executor>> executor = StartBackend(app, *config);
  if (!executor.ok()) return Complain(app, executor.error());
  const harness::BackendFacts& facts = (*executor)->facts();
  const KeyTable table(*model::FindRelease(facts.release), facts.keys);
  const Painter paint(Colours(STDOUT_FILENO, no_color));

  if (name.empty()) {
    OrError<OperatorNames> names = (*executor)->Names();
    if (!names.ok()) return Complain(app, names.error());
    if (options.load.empty() || all) {
      if (names->all.empty()) {
        Print("no operator is registered in {} {}; --load FILE brings those of a library\n", facts.name, facts.version);
      }
      PrintNames(*names);
      return kGood;
    }
    harness::ExecutorConfig without = *config;
    without.load.clear();
    OrError<std::unique_ptr<Executor>> bare = Executor::Start(without);
    if (!bare.ok()) return Complain(app, bare.error());
    OrError<OperatorNames> before = (*bare)->Names();
    if (!before.ok()) return Complain(app, before.error());
    PrintAdded(*before, *names, table, paint);
    return kGood;
  }

  OrError<OperatorView> view = ViewOperator(**executor, name);
  if (!view.ok()) return Complain(app, view.error());
  Print("{} in {} {} ({})\n", paint.Bold(name), facts.name, facts.version, facts.release);
  Print("schema: {}\n", view->schema.empty() ? paint.Red("none: it is implemented and not defined; is the library "
                                                         "that defines it loaded?")
                                             : paint.Plain(view->schema));
  PrintRegistered(*view, paint);
  PrintTable(*view, table, each_key, paint);
  return kGood;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
