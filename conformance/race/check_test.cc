#include "conformance/race/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

#include "spec/scenario/parse.h"

namespace plumbline::race {
namespace {

using ::testing::HasSubstr;

History Parsed(const std::string& text) {
  harness::OrError<History> history = ParseHistory(text);
  EXPECT_TRUE(history.ok()) << history.error();
  return history.ok() ? *history : History{};
}

Verdict Checked(const History& history) {
  const harness::OrError<Verdict> verdict = Check(history);
  EXPECT_TRUE(verdict.ok()) << verdict.error();
  return verdict.ok() ? *verdict : Verdict{};
}

// ---- the corpus: right and wrong histories, written by hand ----

std::vector<std::string> Files(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("conformance/race/histories/" + folder)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

class Right : public ::testing::TestWithParam<std::string> {};
TEST_P(Right, IsExplained) {
  const Verdict verdict = Checked(Parsed(Contents(GetParam())));
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::kExplained) << verdict.words;
}
INSTANTIATE_TEST_SUITE_P(Histories, Right, ::testing::ValuesIn(Files("right")), NameOf);

struct Wrong {
  const char* file;
  Verdict::Kind kind;
};
class WrongHistory : public ::testing::TestWithParam<Wrong> {};
TEST_P(WrongHistory, IsAContradictionOfItsKind) {
  const History history =
      Parsed(Contents("conformance/race/histories/wrong/" + std::string(GetParam().file) + ".hist"));
  const Verdict verdict = Checked(history);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::kContradiction);
  EXPECT_EQ(verdict.kind, GetParam().kind) << verdict.words;
  // What is shown is itself a contradiction, and no larger than the whole.
  EXPECT_LE(verdict.smallest.events.size(), history.events.size());
  EXPECT_EQ(Checked(Parsed(PrintHistory(verdict.smallest))).outcome, Verdict::Outcome::kContradiction);
}
INSTANTIATE_TEST_SUITE_P(Histories, WrongHistory,
                         ::testing::Values(Wrong{"never-registered", Verdict::Kind::kUnknownKernel},
                                           Wrong{"never-registered-by-handle", Verdict::Kind::kUnknownKernel},
                                           Wrong{"ran-before-registration", Verdict::Kind::kBeforeRegistration},
                                           Wrong{"ran-after-release", Verdict::Kind::kAfterRelease},
                                           Wrong{"lost-in-between", Verdict::Kind::kMissed},
                                           Wrong{"not-visible-after-register", Verdict::Kind::kStale},
                                           Wrong{"new-then-old", Verdict::Kind::kNoOrder},
                                           Wrong{"two-definitions", Verdict::Kind::kNoOrder}));

TEST(WrongHistories, EachFileIsTested) { EXPECT_EQ(Files("wrong").size(), 8u); }

// ---- against all orders, one after another, each judged by the model's machine ----

scenario::Scenario ScenarioOf(const std::vector<const Event*>& order) {
  std::string text = "scenario 1 pytorch-1.13\n";
  for (const Event* event : order) {
    std::string keys;
    for (const std::string& key : event->keys) keys += (keys.empty() ? "" : " ") + key;
    switch (event->kind) {
      case Event::Kind::kDefine:
        text += "define " + event->op + "(Tensor a) -> int as " + event->name;
        break;
      case Event::Kind::kImpl:
        text += "impl " + event->op + " " + event->key + " " +
                (event->fallthrough ? "fallthrough" : "k_" + event->name) + " as " + event->name;
        break;
      case Event::Kind::kFallback:
        text += "fallback " + event->key + " " + (event->fallthrough ? "fallthrough" : "k_" + event->name) + " as " +
                event->name;
        break;
      case Event::Kind::kRelease:
        text += "release " + event->name;
        break;
      case Event::Kind::kCall:
        text += "call " + event->op + " [" + keys + "]";
        break;
      case Event::Kind::kHasKernel:
        text += "query has-kernel " + event->op + " " + event->key;
        break;
      default:
        ADD_FAILURE() << "not in these histories: " << PrintEvent(*event);
    }
    text += "\n";
  }
  const scenario::ParseResult parsed = scenario::Parse(text);
  EXPECT_TRUE(parsed.scenario) << text << parsed.error->message;
  return parsed.scenario.value_or(scenario::Scenario{});
}

std::string Told(const Event& event) {
  if (!event.error.empty()) return "error " + event.error;
  if (event.kind == Event::Kind::kCall) return "k_" + event.ran;
  if (event.kind == Event::Kind::kHasKernel) return event.yes ? "true" : "false";
  return "ok";
}

std::string Told(const Event& event, const scenario::Outcome& outcome) {
  if (!outcome.error.empty()) return "error " + outcome.error;
  if (event.kind == Event::Kind::kCall) return outcome.runs.empty() ? "" : outcome.runs.front().kernel;
  if (event.kind == Event::Kind::kHasKernel) return outcome.truth.value_or(false) ? "true" : "false";
  return "ok";
}

// True if the machine answers as the events say, in that order.
bool Holds(const std::vector<const Event*>& order) {
  const scenario::Scenario scenario = ScenarioOf(order);
  const std::vector<scenario::Outcome> outcomes = model::Predict(scenario, {});
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (Told(*order[i]) != Told(*order[i], outcomes[i])) return false;
  }
  return true;
}

bool SomeOrderHolds(std::vector<const Event*>& order, std::vector<const Event*> left) {
  if (left.empty()) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool first =
        std::none_of(left.begin(), left.end(), [&](const Event* other) { return other->end < left[i]->start; });
    if (!first) continue;
    order.push_back(left[i]);
    std::vector<const Event*> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (Holds(order) && SomeOrderHolds(order, rest)) return true;
    order.pop_back();
  }
  return false;
}

// Three threads that register, release and call; each event happens at a moment drawn within its interval, so that the
// answers, taken from the machine in that order, are explained by it.
class Generated {
 public:
  explicit Generated(unsigned seed) : random_(seed) {}

  History Linearizable() {
    History history{"pytorch-1.13", "", {}, {}};
    struct At {
      std::uint64_t moment;
      Event event;
    };
    std::vector<At> all;
    all.push_back({1, Made(Event::Kind::kDefine, "", "d")});
    all.back().event.thread = "main";
    all.back().event.start = 0;
    all.back().event.end = 2;
    int made = 0;
    for (const char* thread : {"a", "b", "c"}) {
      std::uint64_t clock = 10 + Below(6);
      std::vector<std::string> mine;
      const auto length = 1 + Below(3);
      for (std::uint64_t i = 0; i < length; ++i) {
        Event event = Step(made, mine);
        event.thread = thread;
        event.start = clock;
        event.end = clock + 2 + Below(12);
        clock = event.end + 1 + Below(3);
        all.push_back({event.start + 1 + Below(event.end - event.start - 1), event});
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const At& a, const At& b) { return a.moment < b.moment; });
    std::vector<const Event*> order;
    for (const At& at : all) order.push_back(&at.event);
    const auto outcomes = model::Predict(ScenarioOf(order), {});
    for (std::size_t i = 0; i < all.size(); ++i) {
      Event& event = all[i].event;
      const scenario::Outcome& outcome = outcomes[i];
      event.error = outcome.error;
      if (event.kind == Event::Kind::kCall && !outcome.runs.empty()) event.ran = outcome.runs.front().kernel.substr(2);
      if (event.kind == Event::Kind::kHasKernel) event.yes = outcome.truth.value_or(false);
      history.events.push_back(event);
    }
    return history;
  }

  // One answer is another's.
  History Mutated() {
    for (;;) {
      History history = Linearizable();
      std::vector<Event*> calls;
      for (Event& event : history.events) {
        if (event.kind == Event::Kind::kCall) calls.push_back(&event);
      }
      std::vector<std::string> registrations;
      for (const Event& event : history.events) {
        if (event.kind == Event::Kind::kImpl) registrations.push_back(event.name);
      }
      if (calls.empty() || registrations.empty()) continue;
      Event& call = *calls[Below(calls.size())];
      const std::string before = call.ran + call.error;
      if (Below(4) == 0) {
        call.ran.clear();
        call.error = "no-kernel";
      } else {
        call.error.clear();
        call.ran = registrations[Below(registrations.size())];
      }
      if (call.ran + call.error != before) return history;
    }
  }

 private:
  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }
  static Event Made(Event::Kind kind, std::string key, std::string name) {
    Event event;
    event.kind = kind;
    if (kind != Event::Kind::kFallback) event.op = "t::f";
    event.key = std::move(key);
    event.name = std::move(name);
    return event;
  }
  Event Step(int& made, std::vector<std::string>& mine) {
    static const char* const kKeys[] = {"CPU", "AutogradCPU", "CompositeImplicitAutograd", "Autograd"};
    const std::uint64_t choice = Below(10);
    if (choice < 3 && !mine.empty()) {
      Event event;
      event.kind = Event::Kind::kRelease;
      event.name = mine.back();
      mine.pop_back();
      return event;
    }
    if (choice < 6) {
      mine.push_back("r" + std::to_string(made++));
      const bool fallback = Below(8) == 0;
      Event event =
          Made(fallback ? Event::Kind::kFallback : Event::Kind::kImpl, fallback ? "CPU" : kKeys[Below(4)], mine.back());
      event.fallthrough = Below(5) == 0;
      return event;
    }
    Event event;
    event.op = "t::f";
    if (choice == 6) {
      event.kind = Event::Kind::kHasKernel;
      event.key = "CPU";
    } else {
      event.kind = Event::Kind::kCall;
      event.keys = Below(2) == 0 ? std::vector<std::string>{"CPU"} : std::vector<std::string>{"CPU", "AutogradCPU"};
    }
    return event;
  }

  std::mt19937_64 random_;
};

bool ByForce(const History& history) {
  std::vector<const Event*> all, order;
  for (const Event& event : history.events) all.push_back(&event);
  return SomeOrderHolds(order, all);
}

constexpr unsigned kHistories = 1000;

TEST(Check, AgreesWithAllOrdersOnRightHistories) {
  for (unsigned seed = 0; seed < kHistories; ++seed) {
    const History history = Generated(seed).Linearizable();
    const Verdict verdict = Checked(history);
    ASSERT_EQ(verdict.outcome, Verdict::Outcome::kExplained) << "seed " << seed << "\n" << verdict.words;
    ASSERT_TRUE(ByForce(history)) << "seed " << seed;
  }
}

TEST(Check, AgreesWithAllOrdersOnMutatedHistories) {
  int wrong = 0;
  for (unsigned seed = 0; seed < kHistories; ++seed) {
    const History history = Generated(seed).Mutated();
    const Verdict verdict = Checked(history);
    const bool explained = ByForce(history);
    ASSERT_EQ(verdict.outcome == Verdict::Outcome::kExplained, explained) << "seed " << seed << "\n"
                                                                          << PrintHistory(history) << verdict.words;
    if (explained) continue;
    ++wrong;
    ASSERT_FALSE(ByForce(verdict.smallest)) << "seed " << seed << "\n" << verdict.words;
  }
  EXPECT_GT(wrong, int{kHistories} / 2);  // else the mutations are no test
}

// ---- size ----

// Threads that call without a pause while one registers and releases.
History Long(int events) {
  History history{"pytorch-1.13", "", {}, {}};
  history.events.push_back(Parsed("history 1 pytorch-1.13\nmain 1..2 define t::f as d => ok\n").events[0]);
  history.events.push_back(Parsed("history 1 pytorch-1.13\nmain 3..4 impl t::f CPU as base => ok\n").events[0]);
  std::mt19937_64 random(1);
  std::uint64_t clock = 10;
  int made = 0;
  std::string top = "base", last = "base";
  while (static_cast<int>(history.events.size()) < events) {
    Event change;
    change.thread = "w";
    change.start = clock;
    change.end = clock + 20;
    last = top;
    if (top == "base") {
      change.kind = Event::Kind::kImpl;
      change.op = "t::f";
      change.key = "CPU";
      top = change.name = "r" + std::to_string(made++);
    } else {
      change.kind = Event::Kind::kRelease;
      change.name = top;
      top = "base";
    }
    history.events.push_back(change);
    for (const char* thread : {"a", "b", "c", "e"}) {
      Event call;
      call.kind = Event::Kind::kCall;
      call.thread = thread;
      call.op = "t::f";
      call.keys = {"CPU"};
      call.start = clock + 1 + random() % 4;
      call.end = clock + 21 + random() % 4;
      call.ran = random() % 2 == 0 ? last : top;
      history.events.push_back(call);
    }
    clock += 30;
  }
  return history;
}

TEST(Check, JudgesTenThousandStepsWithinASecond) {
  History history = Long(10'000);
  const auto started = std::chrono::steady_clock::now();
  EXPECT_EQ(Checked(history).outcome, Verdict::Outcome::kExplained);
  const std::chrono::duration<double> right = std::chrono::steady_clock::now() - started;
  std::cout << right.count() << " s for 10,000 steps\n";
  EXPECT_LT(right.count(), 1.0);

  // A kernel runs long after its release.
  history.events.back().ran = "r7";
  const Verdict verdict = Checked(history);
  ASSERT_EQ(verdict.outcome, Verdict::Outcome::kContradiction);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kAfterRelease);
  EXPECT_LE(verdict.smallest.events.size(), 5u) << verdict.words;
}

TEST(Check, JudgesWhatIsAskedOfNoOperator) {
  History history =
      Parsed("history 1 pytorch-1.13\na 1..2 find t::f as h => ok\nb 6..13 call @h [CPU] => error invalid-handle\n");
  history.events.erase(history.events.begin());  // no text says this
  const Verdict verdict = Checked(history);
  EXPECT_EQ(verdict.outcome, Verdict::Outcome::kContradiction);
  EXPECT_THAT(verdict.words, HasSubstr("No order of these events explains"));
}

// Events that overlap can be ordered in very many ways; the judgement says so before long.
TEST(Check, EndsWhereThereAreTooManyOrders) {
  for (const bool unknown : {false, true}) {
    std::string text = "history 1 pytorch-1.13\nm 1..2 define t::f as d => ok\n";
    for (int i = 0; i < 16; ++i)
      text += "t" + std::to_string(i) + " 3..9 impl t::f CPU as r" + std::to_string(i) + " => ok\n";
    text += unknown ? "c 10..11 call t::f [CPU] => bogus\n" : "c 10..11 call t::f [CUDA] => r1\n";
    const auto started = std::chrono::steady_clock::now();
    harness::OrError<Verdict> verdict = Check(Parsed(text), {.max_steps = 100'000, .fallbacks = std::nullopt});
    ASSERT_TRUE(verdict.ok()) << verdict.error();
    EXPECT_EQ(verdict->outcome, unknown ? Verdict::Outcome::kContradiction : Verdict::Outcome::kGaveUp);
    EXPECT_EQ(verdict->smallest.events.size(), unknown ? 1u : 0u);
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
  }
}

TEST(Check, SaysWhatCannotBe) {
  const Verdict verdict = Checked(Parsed(R"(history 1 pytorch-1.13
main  1..2  define t::f as d    => ok
main  3..4  impl t::f CPU as r  => ok
a     5..7  release r           => ok
b     8..9  call t::f [CPU]     => r
)"));
  EXPECT_THAT(verdict.words, HasSubstr("r ran in a call that began at 8, after its release had returned at 7.\n"));
}

TEST(Check, RefusesKeysAndReleasesThatAreNot) {
  History history = Parsed("history 1 pytorch-1.13\na 1..2 call t::f [CPU] => r\na 3..4 table t::f => { CPU: r }\n");
  history.release = "pytorch-9";
  EXPECT_THAT(Check(history).error(), HasSubstr("there is no release 'pytorch-9'"));
  history.release = "pytorch-1.13";
  history.events[1].table[0].first = "CPI";
  EXPECT_THAT(Check(history).error(), HasSubstr("the release has no key 'CPI'"));
  history.events[0].keys[0] = "CPJ";
  EXPECT_THAT(Check(history).error(), HasSubstr("the release has no key 'CPJ'"));
}

}  // namespace
}  // namespace plumbline::race
