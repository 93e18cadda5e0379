#include "conformance/race/history.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <set>

#include "conformance/harness/nearest.h"
#include "spec/scenario/outcome.h"
#include "spec/tables/releases.h"

namespace plumbline::race {

using harness::InputError;
using harness::OrError;

namespace {

constexpr std::array<std::string_view, 11> kWords = {
    "define", "impl", "fallback", "release", "close", "find", "call", "redispatch", "has-kernel", "table", "operators"};
static_assert(kWords.size() == static_cast<std::size_t>(Event::Kind::kOperators) + 1);

constexpr std::size_t kMaxBytes = 64 << 20;
constexpr std::size_t kMaxEvents = 1'000'000;

std::string_view Word(Event::Kind kind) { return kWords[static_cast<std::size_t>(kind)]; }

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The words of one line; brackets, braces, commas and colons after a key stand alone.
class Line {
 public:
  Line(std::string_view text, int number, const model::KeyTable* keys) : text_(text), number_(number), keys_(keys) {
    for (std::size_t at = 0; at < text.size();) {
      if (IsSpace(text[at])) {
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      if (!Single(text[at])) {
        while (end < text.size() && !IsSpace(text[end]) && !Single(text[end])) ++end;
      }
      std::string_view word = text.substr(at, end - at);
      // A colon ends a key in a table; those of `ns::op` do not.
      if (word.size() > 1 && word.back() == ':' && word[word.size() - 2] != ':') word.remove_suffix(1);
      words_.push_back(word);
      at = end;
    }
  }

  bool AtEnd() const { return at_ == words_.size(); }
  std::string_view Peek() const { return AtEnd() ? std::string_view() : words_[at_]; }
  bool Take(std::string_view word) {
    if (Peek() != word || AtEnd()) return false;
    ++at_;
    return true;
  }
  // The next word, which must be a name of something; else the error is set.
  std::string Name(std::string_view what) {
    if (AtEnd() || Single(Peek().front()) || Peek() == "=>") {
      Fail(what);
      return {};
    }
    if (Peek().front() == ':' || Peek().back() == ':') {
      Refuse(fmt::format("'{}' is no name: a colon stands within one, or after a key", Shown(Peek())), at_);
      return {};
    }
    return std::string(words_[at_++]);
  }
  // The same of a key, which the release must have.
  std::string Key(std::string_view what) {
    std::string name = Name(what);
    if (!failed() && !keys_->Find(name)) Refuse(NoSuchKey(*keys_, Shown(name)));
    return name;
  }
  std::vector<std::string> Keys() {
    std::vector<std::string> keys;
    if (!Take("[")) {
      Fail("'[' and dispatch keys");
      return keys;
    }
    while (!failed() && !Take("]")) keys.push_back(Key("dispatch keys or ']'"));
    return keys;
  }
  void Fail(std::string_view expected) {
    if (failed()) return;
    Refuse(fmt::format("expected {}, {}", expected,
                       AtEnd() ? std::string("but the line ends") : fmt::format("not '{}'", Shown(Peek()))),
           at_);
  }
  // What is wrong with the word that was read last, or with another one.
  void Refuse(std::string_view what) { Refuse(what, at_ == 0 ? 0 : at_ - 1); }
  void Refuse(std::string_view what, std::size_t word) {
    if (failed()) return;
    const std::size_t column =
        word < words_.size() ? static_cast<std::size_t>(words_[word].data() - text_.data()) : text_.size();
    error_ = fmt::format("line {}, column {}: {}", number_, column + 1, what);
  }
  bool failed() const { return !error_.empty(); }
  const std::string& error() const { return error_; }
  int number() const { return number_; }

 private:
  static bool Single(char c) { return c == '[' || c == ']' || c == '{' || c == '}' || c == ','; }
  static std::string Shown(std::string_view word) {
    std::string shown;
    for (const char c : word.substr(0, 40)) shown += c >= ' ' && c < 0x7f ? c : '?';
    return shown + (word.size() > 40 ? "..." : "");
  }

  std::string_view text_;
  int number_;
  const model::KeyTable* keys_;  // null before the release is known
  std::vector<std::string_view> words_;
  std::size_t at_ = 0;
  std::string error_;
};

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value == kNever) return std::nullopt;
  return value;
}

void ReadTimes(Line& line, Event& event) {
  const std::string times = line.Name("when it was asked for and answered, such as 3..5, or 3.. if it never was");
  if (line.failed()) return;
  const std::size_t dots = times.find("..");
  const std::optional<std::uint64_t> start = Number(std::string_view(times).substr(0, dots));
  std::optional<std::uint64_t> end = kNever;
  if (dots != std::string::npos && dots + 2 < times.size()) end = Number(std::string_view(times).substr(dots + 2));
  if (dots == std::string::npos || !start || !end) {
    line.Refuse(fmt::format("'{}' is not a time; expected START..END, such as 3..5, or START.. if it never answered",
                            times.substr(0, 40)));
  } else if (*end <= *start) {
    line.Refuse(fmt::format("the event ends at {}, which is not after {}, when it began", *end, *start));
  } else {
    event.start = *start;
    event.end = *end;
  }
}

void ReadMaking(Line& line, Event& event) {
  if (event.kind != Event::Kind::kDefine) event.fallthrough = line.Take("fallthrough");
  if (!line.Take("as")) return line.Fail("'as' and the name of the registration");
  event.name = line.Name("the name of the registration");
  if (line.Take("in")) event.library = line.Name("the name of a library");
}

void ReadQuestion(Line& line, Event& event) {
  const std::string word = line.Name("what was done");
  if (line.failed()) return;
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) {
    return line.Refuse(
        fmt::format("'{}' is not something an event can do; it can {}", word.substr(0, 40), fmt::join(kWords, ", ")));
  }
  event.kind = static_cast<Event::Kind>(found - kWords.begin());
  switch (event.kind) {
    case Event::Kind::kDefine:
      event.op = line.Name("an operator");
      if (event.op.find('(') != std::string::npos) {
        return line.Refuse("a history names operators without their schema: define demo::f as d");
      }
      return ReadMaking(line, event);
    case Event::Kind::kImpl:
      event.op = line.Name("an operator");
      event.key = line.Key("a dispatch key or alias key");
      return ReadMaking(line, event);
    case Event::Kind::kFallback:
      event.key = line.Key("a dispatch key");
      return ReadMaking(line, event);
    case Event::Kind::kRelease:
      event.name = line.Name("the name of a registration");
      return;
    case Event::Kind::kClose:
      event.name = line.Name("the name of a library");
      return;
    case Event::Kind::kFind:
      event.op = line.Name("an operator");
      if (!line.Take("as")) return line.Fail("'as' and the name of the handle");
      event.name = line.Name("the name of the handle");
      return;
    case Event::Kind::kCall:
      event.op = line.Name("an operator or @HANDLE");
      event.by_handle = event.op.starts_with('@');
      if (event.by_handle) event.op.erase(0, 1);
      if (event.op.empty()) return line.Refuse("'@' needs the name of a handle, such as @h");
      event.keys = line.Keys();
      if (line.Take("include")) event.include = line.Keys();
      if (line.Take("exclude")) event.exclude = line.Keys();
      return;
    case Event::Kind::kRedispatch:
      event.op = line.Name("an operator");
      event.keys = line.Keys();
      return;
    case Event::Kind::kHasKernel:
      event.op = line.Name("an operator");
      event.key = line.Key("a dispatch key");
      return;
    case Event::Kind::kTable:
      event.op = line.Name("an operator");
      return;
    case Event::Kind::kOperators:
      return;
  }
}

void ReadAnswer(Line& line, Event& event) {
  if (line.Take("error")) {
    event.error = line.Name("an error class");
    if (!line.failed() && !scenario::IsErrorClass(event.error)) {
      line.Refuse(fmt::format("there is no error class '{}'{}", event.error,
                              harness::DidYouMean(event.error, scenario::ErrorClasses())));
    }
    return;
  }
  switch (event.kind) {
    case Event::Kind::kCall:
    case Event::Kind::kRedispatch:
      event.ran = line.Name("the registration whose kernel ran, or 'error' and a class");
      if (event.ran == "ok") line.Refuse("a call is answered by the registration whose kernel ran, not by 'ok'");
      return;
    case Event::Kind::kHasKernel:
      event.yes = line.Take("true");
      if (!event.yes && !line.Take("false")) line.Fail("'true', 'false', or 'error' and a class");
      return;
    case Event::Kind::kTable:
      if (!line.Take("{")) return line.Fail("'{', or 'error' and a class");
      while (!line.failed() && !line.Take("}")) {
        std::string key = line.Key("a dispatch key or '}'");
        event.table.emplace_back(std::move(key), line.Name("the registration at that key"));
        line.Take(",");
      }
      return;
    case Event::Kind::kOperators:
      if (!line.Take("names")) return line.Fail("'names', or 'error' and a class");
      while (!line.failed() && !line.AtEnd()) event.listed.push_back(line.Name("an operator"));
      return;
    default:
      if (!line.Take("ok")) line.Fail("'ok', or 'error' and a class");
  }
}

void ReadEvent(Line& line, Event& event) {
  event.thread = line.Name("the name of a thread");
  ReadTimes(line, event);
  if (!line.failed()) ReadQuestion(line, event);
  if (line.failed()) return;
  if (line.Take("=>")) {
    if (event.end == kNever) return line.Refuse("an event without an end has no answer");
    ReadAnswer(line, event);
  } else if (event.end != kNever) {
    return line.Fail("'=>' and what was answered");
  }
  if (!line.failed() && !line.AtEnd()) line.Fail("the end of the line");
}

// What the events have to do with each other.
std::string Problem(const History& history, const std::vector<int>& lines) {
  std::set<std::string> made;
  std::vector<std::size_t> order(history.events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Event& event = history.events[i];
    if (event.kind > Event::Kind::kFallback && event.kind != Event::Kind::kFind) continue;
    if (!made.insert(event.name).second) {
      return fmt::format("line {}: '{}' is made a second time; give each registration and handle its own name",
                         lines[i], event.name);
    }
  }
  std::set<std::string> libraries;
  for (const Event& event : history.events) {
    if (!event.library.empty()) libraries.insert(event.library);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Event& event = history.events[i];
    if (event.kind == Event::Kind::kClose && !libraries.contains(event.name)) {
      return fmt::format("line {}: nothing is made in a library '{}'{}", lines[i], event.name,
                         harness::DidYouMean(event.name, {libraries.begin(), libraries.end()}));
    }
    const std::string used = event.by_handle ? event.op : event.kind == Event::Kind::kRelease ? event.name : "";
    if (!used.empty() && !made.contains(used)) {
      return fmt::format("line {}: nothing is made as '{}'{}", lines[i], used,
                         harness::DidYouMean(used, {made.begin(), made.end()}));
    }
  }
  // A thread does one thing at a time.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const Event &one = history.events[a], &two = history.events[b];
    return one.thread != two.thread ? one.thread < two.thread : one.start < two.start;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Event &before = history.events[order[i - 1]], &event = history.events[order[i]];
    if (before.thread == event.thread && before.end > event.start) {
      return fmt::format("line {}: thread '{}' begins this at {}, before line {} has ended", lines[order[i]],
                         event.thread, event.start, lines[order[i - 1]]);
    }
  }
  return {};
}

std::string PrintAnswer(const Event& event) {
  if (!event.error.empty()) return "error " + event.error;
  switch (event.kind) {
    case Event::Kind::kCall:
    case Event::Kind::kRedispatch:
      return event.ran;
    case Event::Kind::kHasKernel:
      return event.yes ? "true" : "false";
    case Event::Kind::kTable: {
      std::string text = "{";
      for (const auto& [key, name] : event.table)
        text += fmt::format("{} {}: {}", text.size() > 1 ? "," : "", key, name);
      return text + " }";
    }
    case Event::Kind::kOperators:
      return fmt::format("names{}{}", event.listed.empty() ? "" : " ", fmt::join(event.listed, " "));
    default:
      return "ok";
  }
}

// Null, and the line is refused, if there is none.
std::shared_ptr<const model::KeyTable> ReadRelease(Line& line, std::string& name) {
  name = line.Name("a release, such as pytorch-1.13");
  if (line.failed()) return nullptr;
  const tables::ReleaseData* release = model::FindRelease(name);
  if (release != nullptr) return model::KeyTable::Get(*release, {});
  line.Refuse(NoSuchRelease(name));
  return nullptr;
}

}  // namespace

std::string NoSuchRelease(std::string_view name) {
  std::vector<std::string_view> names;
  for (const tables::ReleaseData* release : tables::kReleases) names.push_back(release->name);
  return fmt::format("there is no release '{}'; there are: {}", name, fmt::join(names, ", "));
}

std::string NoSuchKey(const model::KeyTable& keys, std::string_view name) {
  const std::vector<std::string> near = keys.NearestNames(name);
  return fmt::format("the release has no key '{}'{}", name,
                     near.empty() ? "" : fmt::format(" (nearest: {})", fmt::join(near, ", ")));
}

bool IsHistory(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const Line line(text.substr(0, end), 0, nullptr);
    if (!line.AtEnd() && !line.Peek().starts_with('#')) return line.Peek() == "history";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

OrError<History> ParseHistory(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return InputError{fmt::format("the history has {} bytes; at most {} are read", text.size(), kMaxBytes)};
  }
  History history;
  std::vector<int> lines;
  int number = 0;
  bool headed = false;
  std::shared_ptr<const model::KeyTable> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Line line(whole, ++number, keys.get());
    if (line.AtEnd() || line.Peek().starts_with('#')) continue;
    if (!headed) {
      if (!line.Take("history")) line.Fail("'history 1 RELEASE' on the first line");
      if (!line.failed() && !line.Take("1")) line.Fail("version 1, the only one there is");
      keys = ReadRelease(line, history.release);
      if (!line.failed() && !line.AtEnd()) line.Fail("the end of the line");
      headed = true;
    } else if (history.events.empty() && line.Take("title")) {
      const std::size_t at = whole.find_first_not_of(" \t", whole.find("title") + 5);
      if (at != std::string_view::npos) history.title = whole.substr(at);
      while (!history.title.empty() && IsSpace(history.title.back())) history.title.pop_back();
    } else if (history.events.empty() && line.Take("clauses")) {
      while (!line.failed() && !line.AtEnd()) history.clauses.push_back(line.Name("a clause"));
    } else if (history.events.size() == kMaxEvents) {
      line.Refuse(fmt::format("there are more than {} events", kMaxEvents));
    } else {
      ReadEvent(line, history.events.emplace_back());
      lines.push_back(number);
    }
    if (line.failed()) return InputError{line.error()};
  }
  if (!headed) return InputError{"the history is empty; it begins with 'history 1 RELEASE'"};
  if (history.events.empty()) return InputError{"the history has no events, so there is nothing to judge"};
  if (std::string problem = Problem(history, lines); !problem.empty()) return InputError{std::move(problem)};
  return history;
}

std::string PrintEvent(const Event& event) {
  std::string text = fmt::format("{}  {}..", event.thread, event.start);
  if (event.end != kNever) text += std::to_string(event.end);
  text += fmt::format("  {}", Word(event.kind));
  if (!event.op.empty()) text += fmt::format(" {}{}", event.by_handle ? "@" : "", event.op);
  if (!event.key.empty()) text += " " + event.key;
  if (event.kind == Event::Kind::kCall || event.kind == Event::Kind::kRedispatch) {
    text += fmt::format(" [{}]", fmt::join(event.keys, " "));
  }
  if (!event.include.empty()) text += fmt::format(" include [{}]", fmt::join(event.include, " "));
  if (!event.exclude.empty()) text += fmt::format(" exclude [{}]", fmt::join(event.exclude, " "));
  if (event.fallthrough) text += " fallthrough";
  const bool bare = event.kind == Event::Kind::kRelease || event.kind == Event::Kind::kClose;
  if (!event.name.empty()) text += fmt::format(" {}{}", bare ? "" : "as ", event.name);
  if (!event.library.empty()) text += " in " + event.library;
  if (event.end != kNever) text += "  => " + PrintAnswer(event);
  return text;
}

std::string PrintHistory(const History& history) {
  std::string text = fmt::format("history 1 {}\n", history.release);
  if (!history.title.empty()) text += fmt::format("title    {}\n", history.title);
  if (!history.clauses.empty()) text += fmt::format("clauses  {}\n", fmt::join(history.clauses, " "));
  for (const Event& event : history.events) text += PrintEvent(event) + "\n";
  return text;
}

}  // namespace plumbline::race
