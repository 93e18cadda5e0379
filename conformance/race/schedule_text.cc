#include "conformance/race/schedule_text.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <optional>

namespace plumbline::race {
namespace {

using harness::InputError;
using harness::OrError;

constexpr std::uint64_t kMostInARow = 1'000'000;

template <class T>
std::optional<T> Number(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

InputError Wrong(std::string_view what, std::string_view text) {
  return InputError{
      fmt::format("the schedule '{}': {}; write it as it was printed: switches as 12b.40a, or nth:SEED:N, "
                  "nth:SEED:FIRST-LAST, pct:DEPTH:SEED:STEPS, "
                  "random:SEED, -",
                  text.substr(0, 80), what)};
}

}  // namespace

std::string PrintSchedule(const std::vector<Switch>& switches) {
  if (switches.empty()) return "-";
  std::string text;
  for (const Switch& one : switches) {
    if (!text.empty()) text += '.';
    text += std::to_string(one.step);
    text += static_cast<char>('a' + one.thread);
  }
  return text;
}

std::string PrintSchedule(const OwnedPlan& owned) {
  if (owned.nth) {
    const auto& [seed, first, last] = *owned.nth;
    return first == last ? fmt::format("nth:{}:{}", seed, last) : fmt::format("nth:{}:{}-{}", seed, first, last);
  }
  if (owned.learning) return fmt::format("learning:{}", *owned.learning);
  switch (owned.plan.strategy) {
    case Strategy::kRandom:
      return fmt::format("random:{}", owned.plan.seed);
    case Strategy::kPct:
      return fmt::format("pct:{}:{}:{}", owned.plan.depth, owned.plan.seed, owned.plan.expected_steps);
    case Strategy::kSwitches:
      return PrintSchedule(owned.switches);
  }
  return "";
}

OrError<OwnedPlan> ParseSchedule(std::string_view text) {
  OwnedPlan owned;
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts[0] == "random" || parts[0] == "pct") {
    owned.plan.strategy = parts[0] == "pct" ? Strategy::kPct : Strategy::kRandom;
    const std::size_t expected = parts[0] == "pct" ? 4 : 2;
    if (parts.size() != expected) return Wrong(fmt::format("{} takes {} numbers", parts[0], expected - 1), text);
    const auto seed = Number<std::uint64_t>(parts[expected == 4 ? 2 : 1]);
    if (!seed) return Wrong("its seed is no number", text);
    owned.plan.seed = *seed;
    if (expected == 2) return owned;
    const auto depth = Number<int>(parts[1]);
    const auto steps = Number<std::uint32_t>(parts[3]);
    if (!depth || *depth < 1 || *depth > kMaxThreads) return Wrong("its depth is not from 1 to 16", text);
    if (!steps || *steps == 0) return Wrong("its number of steps is no number above 0", text);
    owned.plan.depth = *depth;
    owned.plan.expected_steps = *steps;
    return owned;
  }
  owned.plan.strategy = Strategy::kSwitches;
  if (parts[0] == "nth" || parts[0] == "learning") {
    const std::size_t expected = parts[0] == "nth" ? 3 : 2;
    if (parts.size() != expected) return Wrong(fmt::format("{} takes {} numbers", parts[0], expected - 1), text);
    const auto seed = Number<std::uint64_t>(parts[1]);  // or the number of a learning run
    const std::vector<std::string_view> range = Split(parts.back(), '-');
    const auto first = Number<std::uint64_t>(range.front());
    const auto last = Number<std::uint64_t>(range.back());
    if (!seed || !first || !last || range.size() > 2) return Wrong("it holds what is no number", text);
    if (*last < *first || *last - *first >= kMostInARow) {
      return Wrong(fmt::format("'{}' is no range of at most {} schedules", parts.back(), kMostInARow), text);
    }
    if (expected == 3) {
      owned.nth = {*seed, *first, *last};
    } else {
      owned.learning = *seed;
    }
    return owned;
  }
  if (text == "-") return owned;
  std::uint32_t last = 0;
  for (const std::string_view part : Split(text, '.')) {
    if (part.size() < 2) return Wrong(fmt::format("'{}' is no switch", part), text);
    const auto step = Number<std::uint32_t>(part.substr(0, part.size() - 1));
    const int thread = part.back() - 'a';
    if (!step) return Wrong(fmt::format("'{}' is no switch", part), text);
    if (thread < 0 || thread >= kMaxThreads) return Wrong(fmt::format("'{}' names no thread a to p", part), text);
    if (*step < last) return Wrong(fmt::format("'{}' goes back in time", part), text);
    last = *step;
    owned.switches.push_back({*step, static_cast<std::uint32_t>(thread)});
  }
  return owned;
}

}  // namespace plumbline::race
