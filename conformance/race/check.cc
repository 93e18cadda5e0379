#include "conformance/race/check.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "conformance/race/operator_states.h"
#include "conformance/race/search.h"

namespace plumbline::race {

using harness::InputError;
using harness::OrError;

namespace {

using Events = std::vector<const Event*>;

struct Rules {
  const model::KeyTable& keys;
  std::vector<model::StartingFallback> fallbacks;
};

std::string UnknownKey(const model::KeyTable& keys, const Event& event) {
  std::vector<std::string> names = event.keys;
  names.insert(names.end(), event.include.begin(), event.include.end());
  names.insert(names.end(), event.exclude.begin(), event.exclude.end());
  if (!event.key.empty()) names.push_back(event.key);
  for (const auto& [key, name] : event.table) names.push_back(key);
  for (const std::string& name : names) {
    if (!keys.Find(name)) return fmt::format("{}, in: {}", NoSuchKey(keys, name), PrintEvent(event));
  }
  return {};
}

bool IsRegistration(const Event& event) { return event.kind <= Event::Kind::kFallback; }
bool Asks(const Event& event) { return !event.Changes() && event.kind != Event::Kind::kFind; }
// It only tells something: without it, the others are explained as before.
bool Told(const Event& event) { return Asks(event) || (event.Changes() && !event.error.empty()); }

// A call that ran what none of the events registers, if there is one.
const Event* OfNoRegistration(const Events& events) {
  std::set<std::string> registered = {"builtin"};
  for (const Event* event : events) {
    if (IsRegistration(*event)) registered.insert(event->name);
  }
  for (const Event* event : events) {
    if (!event->ran.empty() && !registered.contains(event->ran)) return event;
  }
  return nullptr;
}

// The events of each operator: its own and those that concern all, which each may see at a moment of its own.
// [CONC-003] [CONC-010] [CONC-016]
std::map<std::string, Events> ByOperator(const Events& events) {
  std::map<std::string, std::string> operator_of;  // registration or handle -> operator, "" for a fallback
  std::set<std::string> operators;
  for (const Event* event : events) {
    if (IsRegistration(*event) || event->kind == Event::Kind::kFind) operator_of[event->name] = event->op;
    if (!event->op.empty() && !event->by_handle) operators.insert(event->op);
    for (const std::string& name : event->listed) operators.insert(name);
  }
  std::map<std::string, Events> by_operator;
  for (const std::string& op : operators) by_operator[op];
  if (operators.empty()) by_operator[""];  // what is asked without any operator has an answer too
  for (const Event* event : events) {
    std::string op = event->op;
    if (event->by_handle || event->kind == Event::Kind::kRelease) {
      const auto known = operator_of.find(event->by_handle ? event->op : event->name);
      op = known == operator_of.end() ? "" : known->second;
    }
    if (!op.empty()) {
      by_operator[op].push_back(event);
    } else {
      for (auto& [name, list] : by_operator) list.push_back(event);
    }
  }
  return by_operator;
}

// ---- the smallest contradiction ----

class Reduction {
 public:
  Reduction(const Rules& rules, std::string op, Events events, std::uint64_t max_steps)
      : rules_(rules), op_(std::move(op)), events_(std::move(events)), max_steps_(max_steps) {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event* a, const Event* b) { return a->start < b->start; });
  }

  void Run() {
    DropChunks([](const Event& event) { return Told(event) ? PrintEvent(event) : std::string(); });
    DropChunks([&](const Event& event) {
      return event.kind == Event::Kind::kFind && !IsUsed(event.name) ? event.name : std::string();
    });
    // A registration goes with its release, and stays if an answer names it or if it may let another answer.
    const Event& kept = *accused();
    std::set<std::string> stays = {kept.ran};
    for (const Event* event : events_) {
      if (event->fallthrough || kept.error == "ambiguous") stays.insert(event->name);
      for (const auto& [key, name] : kept.table) stays.insert(name);
    }
    DropChunks([&](const Event& event) {
      const bool may_go = event.kind == Event::Kind::kImpl || event.kind == Event::Kind::kFallback ||
                          event.kind == Event::Kind::kRelease || event.kind == Event::Kind::kClose;
      return may_go && !stays.contains(event.name) ? event.name : std::string();
    });
  }
  const Events& events() const { return events_; }

  // The last event that asks: what it says is impossible, given the rest.
  const Event* accused() const {
    const Event* last = events_.back();
    for (const Event* event : events_) {
      if (Asks(*event) && event->end != kNever) last = event;
    }
    return last;
  }

  // All that the accused could have answered, by the orders that explain the rest; empty if there are too many.
  std::set<std::string> Possible() const {
    constexpr std::size_t kMost = 24, kMostOrders = 5000;
    if (events_.size() > kMost) return {};
    OperatorStates states(rules_.keys, rules_.fallbacks, op_, events_);
    const auto accused_at = static_cast<int>(std::find(events_.begin(), events_.end(), accused()) - events_.begin());
    const auto count = static_cast<int>(events_.size());
    std::set<std::string> answers;
    std::set<std::pair<std::uint32_t, int>> seen;
    const std::function<void(std::uint32_t, int)> go = [&](std::uint32_t done, int state) {
      if (seen.size() > kMostOrders || !seen.insert({done, state}).second) return;
      for (int i = 0; i < count; ++i) {
        if ((done >> i & 1) != 0) continue;
        const bool free = std::none_of(events_.begin(), events_.end(), [&](const Event* const& other) {
          const auto at = &other - events_.data();
          return (done >> at & 1) == 0 && other->end < events_[static_cast<std::size_t>(i)]->start;
        });
        if (!free) continue;
        if (i == accused_at) {
          answers.insert(states.Expected(state, i));
          continue;
        }
        const int next = states.Step(state, i);
        if (next != OperatorStates::kRefused) go(done | std::uint32_t(1) << i, next);
      }
    };
    go(0, OperatorStates::kStart);
    return seen.size() > kMostOrders ? std::set<std::string>() : answers;
  }

 private:
  bool IsUsed(const std::string& handle) const {
    return std::any_of(events_.begin(), events_.end(),
                       [&](const Event* event) { return event->by_handle && event->op == handle; });
  }

  // What cannot be said in time is not left out.
  bool Contradicts(const Events& events) {
    if (steps_left_ == 0) return false;
    OperatorStates states(rules_.keys, rules_.fallbacks, op_, events);
    Search search(states, std::min(max_steps_, steps_left_));
    const bool contradicts = search.Run() == Search::Result::kNone;
    steps_left_ -= std::min(steps_left_, search.steps());
    return contradicts;
  }

  bool Keep(Events events) {
    if (!Contradicts(events)) return false;
    const Event* const before = accused();
    const std::set<std::string> possible = Possible();
    events_.swap(events);
    if (accused() != before || possible.empty() || Possible() == possible) return true;
    events_.swap(events);
    return false;
  }

  // Leaves out what it can of the groups that events are in (empty: it stays): half of the groups, a quarter, ..., each
  // alone. What is left must contradict for the same reason, where that can be told.
  void DropChunks(const std::function<std::string(const Event&)>& group_of) {
    std::vector<std::string> groups;
    for (const Event* event : events_) {
      const std::string group = group_of(*event);
      if (!group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
    for (std::size_t chunk = groups.size(); chunk > 0; chunk /= 2) {
      for (std::size_t from = 0; from < groups.size();) {
        const auto begin = groups.begin() + static_cast<std::ptrdiff_t>(from);
        const auto end = begin + static_cast<std::ptrdiff_t>(std::min(chunk, groups.size() - from));
        const std::set<std::string> go(begin, end);
        Events rest;
        for (const Event* event : events_) {
          if (!go.contains(group_of(*event))) rest.push_back(event);
        }
        if (Keep(std::move(rest))) {
          groups.erase(begin, end);
        } else {
          from += chunk;
        }
      }
    }
  }

  const Rules& rules_;
  const std::string op_;
  Events events_;
  const std::uint64_t max_steps_;
  std::uint64_t steps_left_ = std::min<std::uint64_t>(10 * max_steps_, 5'000'000);  // for all that is tried
};

// ---- in words ----

const Event* Find(const Events& events, Event::Kind from, Event::Kind to, const std::string& name) {
  for (const Event* event : events) {
    if (event->kind >= from && event->kind <= to && event->name == name) return event;
  }
  return nullptr;
}

// A table, "{ CPU: r1, CUDA: r1, Undefined: r0 }", by what is in its slots if they are many: "{ r1 at CPU CUDA, r0 at
// Undefined }"; other text as it is.
std::string Shortened(const std::string& text) {
  constexpr std::size_t kMost = 100, kMostKeys = 4;
  const std::size_t from = text.find("{ "), to = text.rfind(" }");
  if (text.size() < kMost || from == std::string::npos || to == std::string::npos || to < from + 2) return text;
  std::vector<std::pair<std::string, std::vector<std::string>>> slots;  // registration, keys
  std::istringstream rows(text.substr(from + 2, to - from - 2));
  for (std::string key, name; rows >> key >> name;) {
    key.pop_back();
    if (name.ends_with(',')) name.pop_back();
    auto slot = std::find_if(slots.begin(), slots.end(), [&](const auto& one) { return one.first == name; });
    if (slot == slots.end()) slot = slots.insert(slots.end(), {name, {}});
    slot->second.push_back(key);
  }
  std::vector<std::string> parts;
  for (auto& [name, keys] : slots) {
    const std::size_t more = keys.size() > kMostKeys ? keys.size() - kMostKeys : 0;
    keys.resize(keys.size() - more);
    parts.push_back(
        fmt::format("{} at {}{}", name, fmt::join(keys, " "), more == 0 ? "" : fmt::format(" and {} more keys", more)));
  }
  return fmt::format("{}{{ {} }}{}", text.substr(0, from), fmt::join(parts, ", "), text.substr(to + 2));
}

std::string AnswerOf(const Event& event) {
  const std::string text = PrintEvent(event);
  const std::size_t at = text.find("  => ");
  return at == std::string::npos ? "nothing" : text.substr(at + 5);
}

void Explain(const Reduction& reduced, Verdict& verdict) {
  const Events& events = reduced.events();
  const Event& accused = *reduced.accused();
  const auto asking = std::count_if(events.begin(), events.end(), [](const Event* event) { return Asks(*event); });
  const Event* made = Find(events, Event::Kind::kDefine, Event::Kind::kFallback, accused.ran);
  const Event* released = Find(events, Event::Kind::kRelease, Event::Kind::kRelease, accused.ran);

  std::string why;
  verdict.kind = Verdict::Kind::kNoOrder;
  const bool called = accused.kind == Event::Kind::kCall || accused.kind == Event::Kind::kRedispatch;
  if (called && !accused.ran.empty() && made == nullptr && accused.ran != "builtin") {
    verdict.kind = Verdict::Kind::kUnknownKernel;
    why = fmt::format("The kernel that ran, {}, was never registered for it.", accused.ran);
  } else if (called && made != nullptr && made->start > accused.end) {
    verdict.kind = Verdict::Kind::kBeforeRegistration;
    why = fmt::format("{} ran by {}, but was only registered from {} on.", accused.ran, accused.end, made->start);
  } else if (called && released != nullptr && released->end < accused.start) {
    verdict.kind = Verdict::Kind::kAfterRelease;
    why = fmt::format("{} ran in a call that began at {}, after its release had returned at {}.", accused.ran,
                      accused.start, released->end);
  } else if (called && asking == 1) {
    verdict.kind = accused.error.empty() ? Verdict::Kind::kStale : Verdict::Kind::kMissed;
  }
  std::vector<std::string> possible;
  for (const std::string& answer : reduced.Possible()) possible.push_back(Shortened(answer));
  if (why.empty() && possible.empty()) {
    why = fmt::format("No order of the other events explains the answer at {}..{}.", accused.start, accused.end);
  } else if (why.empty()) {
    why =
        fmt::format("At {}..{} thread {} was told: {}. By every order that explains the rest it is: {}.", accused.start,
                    accused.end, accused.thread, Shortened(AnswerOf(accused)), fmt::join(possible, ", or: "));
  }
  verdict.words = fmt::format("No order of these events{} explains what was seen:\n",
                              verdict.op.empty() ? "" : " on " + verdict.op);
  for (const Event* event : events) {
    verdict.words += fmt::format("{} {}\n", event == &accused ? ">" : " ", Shortened(PrintEvent(*event)));
  }
  verdict.words += why + "\n";
}

// The part, with what makes the handles, registrations and libraries that it names: a history that can be read again.
std::vector<Event> WithWhatItNames(const Events& part, const Events& all) {
  Events kept = part;
  const auto add = [&](const auto& makes) {
    if (std::any_of(kept.begin(), kept.end(), [&](const Event* event) { return makes(*event); })) return;
    const auto found = std::find_if(all.begin(), all.end(), [&](const Event* event) { return makes(*event); });
    if (found != all.end()) kept.insert(kept.begin(), *found);
  };
  for (const Event* event : part) {
    if (event->by_handle || event->kind == Event::Kind::kRelease) {
      const std::string& name = event->by_handle ? event->op : event->name;
      add([&](const Event& other) {
        return (IsRegistration(other) || other.kind == Event::Kind::kFind) && other.name == name;
      });
    } else if (event->kind == Event::Kind::kClose) {
      add([&](const Event& other) { return other.library == event->name; });
    }
  }
  std::vector<Event> events;
  for (const Event* event : kept) events.push_back(*event);
  return events;
}

}  // namespace

OrError<Verdict> Check(const History& history, const CheckOptions& options) {
  const tables::ReleaseData* release = model::FindRelease(history.release);
  if (release == nullptr) return InputError{NoSuchRelease(history.release)};
  const std::shared_ptr<const model::KeyTable> table = model::KeyTable::Get(*release, {});
  const model::KeyTable& keys = *table;
  Rules rules{keys, {}};
  if (options.fallbacks) {
    rules.fallbacks = *options.fallbacks;
  } else {
    for (const auto& fallback : release->fallbacks)
      rules.fallbacks.push_back({std::string(fallback.key), fallback.fallthrough});
  }
  Events events;
  for (const Event& event : history.events) {
    if (std::string problem = UnknownKey(keys, event); !problem.empty()) return InputError{std::move(problem)};
    events.push_back(&event);
  }
  // A history's lines may come in any order, and where a name is given twice the later one counts.
  std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) {
    return std::tie(a->start, a->end, a->kind, a->thread, a->op, a->name) <
           std::tie(b->start, b->end, b->kind, b->thread, b->op, b->name);
  });
  Verdict verdict;
  const auto contradicts = [&](const std::string& op, const Reduction& reduced) {
    verdict.outcome = Verdict::Outcome::kContradiction;
    verdict.op = op;
    Explain(reduced, verdict);
    verdict.smallest = {history.release, history.title, history.clauses, WithWhatItNames(reduced.events(), events)};
    return verdict;
  };
  for (auto& [op, list] : ByOperator(events)) {
    // No order has to be sought for what no order can have.
    if (const Event* unknown = OfNoRegistration(list)) {
      return contradicts(op, Reduction(rules, op, {unknown}, options.max_steps));
    }
    OperatorStates states(keys, rules.fallbacks, op, list);
    Search search(states, options.max_steps);
    const Search::Result result = search.Run();
    verdict.steps += search.steps();
    if (result == Search::Result::kGaveUp) verdict.outcome = Verdict::Outcome::kGaveUp;
    if (result != Search::Result::kNone) continue;
    // What lies after the event that no order gets past has nothing to do with it, but for the registration it names.
    const Event& stuck = states.event(search.stuck_at());
    std::erase_if(list, [&](const Event* event) {
      return event->start > stuck.end && !(IsRegistration(*event) && event->name == stuck.ran);
    });
    Reduction reduced(rules, op, list, options.max_steps);
    reduced.Run();
    return contradicts(op, reduced);
  }
  return verdict;
}

}  // namespace plumbline::race
