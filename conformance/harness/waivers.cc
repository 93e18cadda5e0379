#include "conformance/harness/waivers.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <sstream>

#include "conformance/harness/text_file.h"
#include "spec/model/deviations.h"

// toml++ asserts what broken files do not keep, such as "[*waiver]", or with NDEBUG lets the compiler assume it.
// Without either it goes on and says what is wrong.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace plumbline::harness {
namespace {

const std::set<std::string, std::less<>>& AdmittedWords() {
  static const std::set<std::string, std::less<>> kWords = {"fail", "crash", "timeout", "pass"};
  return kWords;
}

bool LooksLikeADay(std::string_view text) { return text.size() == 10 && text[4] == '-' && text[7] == '-'; }

bool IsDay(std::string_view text) {
  if (!LooksLikeADay(text)) return false;
  const auto number = [&](std::size_t from, std::size_t size) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + from + size, value);
    return error == std::errc() && end == text.data() + from + size ? value : -1;
  };
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  return year >= 0 && month > 0 && day > 0 &&
         std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                     std::chrono::day(static_cast<unsigned>(day)))
             .ok();
}

std::vector<int> VersionNumbers(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  return numbers;
}

// Reads one [[waiver]]; the first problem is kept, with its line.
class Reader {
 public:
  Reader(const toml::table& table, const std::string& file, const DeviationNames& deviations)
      : table_(table), file_(file), deviations_(deviations) {
    waiver_.where = fmt::format("{}:{}", file, table.source().begin.line);
  }

  OrError<Waiver> Read() {
    static const std::set<std::string_view> kKnown = {"id",      "clause",    "cause", "reference", "owner",
                                                      "expires", "deviation", "cases", "outcome",   "unstable",
                                                      "admits",  "from",      "tier",  "releases"};
    for (const auto& [key, node] : table_) {
      if (!kKnown.contains(key.str()))
        Wrong(node, fmt::format("there is no field '{}'; the fields are {}", key.str(), fmt::join(kKnown, ", ")));
    }
    waiver_.id = Text("id", true);
    if (const toml::node* clause = table_.get("clause"); clause != nullptr && clause->is_array()) {
      waiver_.clauses = Texts("clause");
    } else {
      waiver_.clauses = {Text("clause", true)};
    }
    waiver_.cause = Text("cause", true);
    waiver_.reference = Text("reference", true);
    waiver_.owner = Text("owner", true);
    waiver_.expires = Text("expires", true);
    waiver_.outcome = Text("outcome", false);
    waiver_.from = Text("from", false);
    waiver_.cases = Texts("cases");
    waiver_.admits = Texts("admits");
    waiver_.releases = Texts("releases");
    if (const toml::node* node = table_.get("unstable")) {
      if (const auto* flag = node->as_boolean()) {
        waiver_.unstable = flag->get();
      } else {
        Wrong(*node, "'unstable' must be true or false");
      }
    }
    if (const std::string cause = waiver_.cause; cause != "bug" && cause != "limit" && cause != "dispute") {
      WrongAt("cause", fmt::format("the cause '{}' is not one of bug, limit, dispute", cause));
    }
    if (!IsDay(waiver_.expires) && (LooksLikeADay(waiver_.expires) || VersionNumbers(waiver_.expires).empty())) {
      WrongAt("expires", fmt::format("'{}' is neither a day (2027-06-30) nor a version (2.9)", waiver_.expires));
    }
    const std::string tier = Text("tier", false);
    if (tier == "standard") {
      waiver_.tier = Tier::kStandard;
    } else if (tier == "full") {
      waiver_.tier = Tier::kFull;
    } else if (!tier.empty() && tier != "quick") {
      WrongAt("tier", fmt::format("the tier '{}' is not one of quick, standard, full", tier));
    }
    waiver_.deviation = Text("deviation", false);
    const bool deviates = !waiver_.deviation.empty();
    if (deviates && std::find(deviations_.begin(), deviations_.end(), waiver_.deviation) == deviations_.end()) {
      WrongAt("deviation", fmt::format("there is no deviation '{}' here; there are {}", waiver_.deviation,
                                       fmt::join(deviations_, ", ")));
    }
    const int ways =
        static_cast<int>(deviates) + static_cast<int>(!waiver_.outcome.empty()) + static_cast<int>(waiver_.unstable);
    if (ways != 1) Wrong(table_, "a waiver has exactly one of deviation, outcome and unstable");
    if (waiver_.unstable == waiver_.admits.empty())
      Wrong(table_, "'admits' lists outcomes exactly when unstable is true");
    if (!waiver_.from.empty() && !waiver_.unstable) WrongAt("from", "'from' belongs to what is unstable");
    if (waiver_.outcome == "fail" || waiver_.outcome == "pass") {
      WrongAt("outcome", "say what the backend does instead, as the finding's \"got\" has it, or crash, or timeout");
    }
    for (const std::string& word : waiver_.admits) {
      if (!AdmittedWords().contains(word) && !word.starts_with("error ")) {
        WrongAt("admits", fmt::format("'{}' is not one of {}, or an error with its class", word,
                                      fmt::join(AdmittedWords(), ", ")));
      }
    }
    if (!deviates && waiver_.cases.empty()) Wrong(table_, "a waiver without a deviation lists its cases");
    if (!problem_.empty()) return InputError{problem_};
    return waiver_;
  }

 private:
  void Wrong(const toml::node& node, const std::string& what) {
    if (!problem_.empty()) return;
    const std::string name = waiver_.id.empty() ? "" : fmt::format("waiver '{}': ", waiver_.id);
    problem_ = fmt::format("{}:{}: {}{}", file_, node.source().begin.line, name, what);
  }
  void WrongAt(const char* field, const std::string& what) {
    const toml::node* node = table_.get(field);
    Wrong(node != nullptr ? *node : table_, what);
  }
  std::string Text(const char* field, bool required) {
    const toml::node* node = table_.get(field);
    if (node == nullptr) {
      if (required) Wrong(table_, fmt::format("the field '{}' is missing", field));
      return "";
    }
    const auto* text = node->as_string();
    if (text == nullptr || text->get().empty()) {
      Wrong(*node, fmt::format("'{}' must be a text that is not empty", field));
      return "";
    }
    return text->get();
  }
  std::vector<std::string> Texts(const char* field) {
    std::vector<std::string> texts;
    const toml::node* node = table_.get(field);
    if (node == nullptr) return texts;
    const auto* list = node->as_array();
    if (list == nullptr || list->empty()) {
      Wrong(*node, fmt::format("'{}' must be a list of texts that is not empty", field));
      return texts;
    }
    for (const toml::node& item : *list) {
      if (const auto* text = item.as_string()) {
        texts.push_back(text->get());
      } else {
        Wrong(item, fmt::format("'{}' must hold texts only", field));
      }
    }
    return texts;
  }

  const toml::table& table_;
  const std::string& file_;
  const DeviationNames& deviations_;
  Waiver waiver_;
  std::string problem_;
};

// "k1 > error internal (\"text\")" without the message.
std::string_view WithoutMessage(std::string_view got) {
  const std::size_t message = got.find(" (\"");
  return message == std::string_view::npos ? got : got.substr(0, message);
}

bool Admits(const Waiver& waiver, std::string_view outcome) {
  return std::find(waiver.admits.begin(), waiver.admits.end(), outcome) != waiver.admits.end();
}

std::uint64_t Uses(const Waiver& waiver, const std::vector<reports::CaseResult>& results, const std::string& release) {
  std::uint64_t used = 0;
  for (const reports::CaseResult& result : results) {
    if (!waiver.AppliesTo(result.id, release)) continue;
    if (waiver.deviation.empty()) {
      // Undefined behaviour may well look right today.
      const bool passed = result.verdict == reports::Verdict::kPass && Admits(waiver, "pass");
      used += result.waiver == waiver.id || passed ? 1 : 0;
      continue;
    }
    const auto accepted = result.accepted_by_deviation.find(waiver.deviation);
    if (accepted != result.accepted_by_deviation.end()) used += accepted->second;
  }
  return used;
}

std::string Problem(const Waiver& waiver, std::uint64_t used, const std::vector<reports::CaseResult>& results,
                    const WaiverScope& scope) {
  for (const std::string& id : waiver.cases) {
    if (!scope.cases.contains(id)) return fmt::format("there is no case '{}'", id);
  }
  if (std::string flaw = Flaw(waiver, scope); !flaw.empty()) return flaw;
  // By outcome it is about its cases, so that these have to be evidence for its clauses.
  for (const std::string& clause : waiver.deviation.empty() && used > 0 ? waiver.clauses : std::vector<std::string>()) {
    const bool named = std::any_of(results.begin(), results.end(), [&](const reports::CaseResult& result) {
      return std::find(waiver.cases.begin(), waiver.cases.end(), result.id) != waiver.cases.end() &&
             std::find(result.clauses.begin(), result.clauses.end(), clause) != result.clauses.end();
    });
    if (!named) return fmt::format("none of its cases is evidence for {}", clause);
  }
  if (used > 0) return "";
  for (const reports::CaseResult& result : results) {
    if (std::find(waiver.cases.begin(), waiver.cases.end(), result.id) == waiver.cases.end()) continue;
    const bool failed = result.verdict == reports::Verdict::kFail || result.verdict == reports::Verdict::kCrash ||
                        result.verdict == reports::Verdict::kTimeout;
    if (failed) return fmt::format("{} failed otherwise than the waiver says", result.id);
  }
  // In a part of the suite too, where all that it is about was tried.
  const bool tried =
      !waiver.cases.empty() && std::all_of(waiver.cases.begin(), waiver.cases.end(), [&](const auto& id) {
        return std::any_of(results.begin(), results.end(), [&](const reports::CaseResult& result) {
          return result.id == id && result.verdict == reports::Verdict::kPass;
        });
      });
  return scope.whole || (tried && scope.all_of_backend) ? reports::kUnusedWaiver : "";
}

// Where the first character is that TOML does not allow, but for what makes it no TOML otherwise: a control character,
// or one beyond ASCII outside of strings and comments. The text's size if there is none.
std::size_t StrayCharacter(std::string_view text) {
  char quote = 0;  // of the string that we are in; '#': a comment
  bool long_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) return at;
    if (quote == 0) {
      if (c >= 0x80) return at;
      if (c != '#' && c != '"' && c != '\'') continue;
      quote = static_cast<char>(c);
      long_string = c != '#' && text.substr(at, 3) == std::string(3, quote);
      if (long_string) at += 2;
    } else if (c == '\n' && !long_string) {
      quote = 0;
    } else if (c == '\\' && quote == '"') {
      ++at;
    } else if (c == static_cast<unsigned char>(quote) && quote != '#') {
      if (long_string && text.substr(at, 3) != std::string(3, quote)) continue;
      if (long_string) at += 2;
      quote = 0;
    }
  }
  return text.size();
}

}  // namespace

bool Waiver::IsOf(std::string_view release) const {
  return releases.empty() || std::find(releases.begin(), releases.end(), release) != releases.end();
}

bool Waiver::AppliesTo(std::string_view case_id, std::string_view release) const {
  return IsOf(release) && (cases.empty() || std::find(cases.begin(), cases.end(), case_id) != cases.end());
}

std::vector<const Waiver*> Waivers::DeviationsFor(std::string_view case_id, std::string_view release) const {
  std::vector<const Waiver*> found;
  for (const Waiver& waiver : all) {
    if (!waiver.deviation.empty() && waiver.AppliesTo(case_id, release)) found.push_back(&waiver);
  }
  return found;
}

std::vector<const Waiver*> Waivers::OutcomesFor(std::string_view case_id, std::string_view release) const {
  std::vector<const Waiver*> found;
  for (const Waiver& waiver : all) {
    if (waiver.deviation.empty() && waiver.AppliesTo(case_id, release)) found.push_back(&waiver);
  }
  return found;
}

DeviationNames DeviationsOfModel() {
  DeviationNames names;
  for (const model::DeviationInfo& info : model::AllDeviations()) names.push_back(info.name);
  return names;
}

OrError<Waivers> ReadWaivers(std::string_view text, const std::string& name, const DeviationNames& deviations) {
  // toml++ loses its way in characters beyond ASCII that are not within strings and comments. So it first reads the
  // text with others in their place: if that is TOML, they are where StrayCharacter takes them to be.
  if (const std::size_t at = StrayCharacter(text); at != text.size()) {
    return InputError{fmt::format("{}:{}: this is not TOML: the byte {:#04x} may not stand there", name,
                                  1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
                                  static_cast<unsigned char>(text[at]))};
  }
  std::string ascii(text);
  for (char& c : ascii) c = static_cast<unsigned char>(c) < 0x80 ? c : 'x';
  toml::table document;
  try {
    document = toml::parse(ascii, name);
    if (ascii != text) document = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return InputError{fmt::format("{}:{}:{}: this is not TOML: {}", name, error.source().begin.line,
                                  error.source().begin.column, error.description())};
  }
  Waivers waivers;
  for (const auto& [key, node] : document) {
    if (key.str() != "waiver" || !node.is_array_of_tables()) {
      return InputError{
          fmt::format("{}:{}: expected [[waiver]], found '{}'", name, node.source().begin.line, key.str())};
    }
    for (const toml::node& item : *node.as_array()) {
      OrError<Waiver> waiver = Reader(*item.as_table(), name, deviations).Read();
      if (!waiver.ok()) return InputError{waiver.error()};
      for (const Waiver& other : waivers.all) {
        if (other.id == waiver->id) {
          return InputError{
              fmt::format("{}: the waiver '{}' is at {} already", waiver->where, waiver->id, other.where)};
        }
      }
      waivers.all.push_back(std::move(*waiver));
    }
  }
  return waivers;
}

OrError<Waivers> ReadWaiverFile(const std::string& path, const DeviationNames& deviations) {
  const OrError<std::string> text = ReadTextFile(path, "a waiver file (TOML)");
  if (!text.ok()) return InputError{text.error()};
  return ReadWaivers(*text, path, deviations);
}

OrError<GivenWaivers> ReadGivenWaivers(const std::vector<std::string>& given, const DeviationNames& deviations) {
  GivenWaivers read;
  for (const std::string& file : given) {
    if (file == "none") {
      if (given.size() > 1) return InputError{"--waivers none stands alone: give files, or none"};
      break;
    }
    read.files.push_back(std::filesystem::path(file).filename().string());
    OrError<Waivers> waivers = ReadWaiverFile(file, deviations);
    if (!waivers.ok()) return InputError{waivers.error()};
    for (Waiver& waiver : waivers->all) read.waivers.all.push_back(std::move(waiver));
  }
  return read;
}

std::string ShippedWaiverFile(const BackendFacts& facts, const std::string& suite) {
  const std::filesystem::path file =
      std::filesystem::path(facts.path).parent_path() /
      fmt::format("{}.{}{}.waivers.toml", facts.name, facts.release, suite.empty() ? "" : "." + suite);
  std::error_code failed;
  return std::filesystem::is_regular_file(file, failed) ? file.string() : "";
}

bool MatchesOutcome(std::string_view outcome, reports::Verdict verdict, std::string_view got) {
  if (outcome == "crash") return verdict == reports::Verdict::kCrash;
  if (outcome == "timeout") return verdict == reports::Verdict::kTimeout;
  if (outcome == "fail") return verdict == reports::Verdict::kFail;
  return outcome == got || outcome == WithoutMessage(got);
}

std::string Flaw(const Waiver& waiver, const WaiverScope& scope) {
  for (const std::string& clause : waiver.clauses) {
    if (!scope.clauses.empty() && !scope.clauses.contains(clause)) {
      return fmt::format("there is no clause '{}'", clause);
    }
  }
  if (IsDay(waiver.expires)) {
    if (scope.today > waiver.expires) return fmt::format("expired on {}", waiver.expires);
  } else if (VersionNumbers(scope.version) >= VersionNumbers(waiver.expires)) {
    return fmt::format("expired with version {} of the backend, which is {}", waiver.expires, scope.version);
  }
  return "";
}

std::vector<reports::WaiverUse> JudgeWaivers(const Waivers& waivers, const std::vector<reports::CaseResult>& results,
                                             const WaiverScope& scope) {
  std::vector<reports::WaiverUse> uses;
  for (const Waiver& waiver : waivers.all) {
    // One for another release or a larger tier says nothing about this run.
    if (!waiver.IsOf(scope.release) || waiver.tier > scope.tier) continue;
    reports::WaiverUse use{.id = waiver.id,
                           .clause = fmt::format("{}", fmt::join(waiver.clauses, " ")),
                           .cause = waiver.cause,
                           .reference = waiver.reference,
                           .expires = waiver.expires,
                           .used = Uses(waiver, results, scope.release),
                           .problem = ""};
    use.problem = Problem(waiver, use.used, results, scope);
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace plumbline::harness
