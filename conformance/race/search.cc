#include "conformance/race/search.h"

#include <algorithm>
#include <unordered_set>

namespace plumbline::race {
namespace {

struct Tried {
  std::uint64_t a, b;
  friend bool operator==(const Tried&, const Tried&) = default;
};
struct HashTried {
  std::size_t operator()(const Tried& tried) const { return tried.a; }
};

std::uint64_t Mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

void Search::Build() {
  struct Moment {
    std::uint64_t time;
    bool start;
    int event;
  };
  std::vector<Moment> moments;
  for (int i = 0; i < states_.event_count(); ++i) {
    const Event& event = states_.event(i);
    moments.push_back({event.start, true, i});
    if (event.end != kNever) moments.push_back({event.end, false, i});
  }
  // At the same moment what ends comes after what starts: they overlapped.
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.start != b.start ? a.start : a.event < b.event;
  });
  nodes_.assign(moments.size() + 1, {});
  std::vector<int> start_of(static_cast<std::size_t>(states_.event_count()));
  const int last = static_cast<int>(moments.size());
  for (int i = 1; i <= last; ++i) {
    const Moment& moment = moments[static_cast<std::size_t>(i - 1)];
    Node& node = nodes_[static_cast<std::size_t>(i)];
    node.event = moment.event;
    node.start = moment.start;
    node.previous = i - 1;
    node.next = i == last ? 0 : i + 1;
    if (moment.start) {
      start_of[static_cast<std::size_t>(moment.event)] = i;
    } else {
      nodes_[static_cast<std::size_t>(start_of[static_cast<std::size_t>(moment.event)])].other = i;
      ++ended_;
    }
  }
  nodes_[0].next = last == 0 ? 0 : 1;
  nodes_[0].previous = last;
}

void Search::TakeOut(int start) {
  for (const int at : {start, nodes_[static_cast<std::size_t>(start)].other}) {
    if (at == 0) continue;
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    nodes_[static_cast<std::size_t>(node.previous)].next = node.next;
    nodes_[static_cast<std::size_t>(node.next)].previous = node.previous;
  }
}

void Search::PutBack(int start) {
  for (const int at : {nodes_[static_cast<std::size_t>(start)].other, start}) {
    if (at == 0) continue;
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    nodes_[static_cast<std::size_t>(node.previous)].next = at;
    nodes_[static_cast<std::size_t>(node.next)].previous = at;
  }
}

Search::Result Search::Run() {
  Build();
  struct Done {
    int node, state;  // before it
  };
  std::vector<Done> done;
  std::unordered_set<Tried, HashTried> tried;
  Tried set{0, 0};
  const auto toggle = [&](int event) {
    set.a ^= Mix(std::uint64_t(event) * 2 + 1);
    set.b ^= Mix(std::uint64_t(event) * 2 + (std::uint64_t(1) << 40));
  };
  int state = OperatorStates::kStart;
  int left = ended_;
  int furthest = 0;
  int at = nodes_[0].next;
  while (left > 0) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    if (at != 0 && node.start) {
      if (++steps_ > max_steps_) return Result::kGaveUp;
      const int next = states_.Step(state, node.event);
      if (next != OperatorStates::kRefused) {
        toggle(node.event);
        const Tried now{set.a ^ Mix(std::uint64_t(next) << 20), set.b + Mix(~std::uint64_t(next))};
        if (tried.insert(now).second) {
          done.push_back({at, state});
          state = next;
          if (node.other != 0) --left;
          TakeOut(at);
          at = nodes_[0].next;
          continue;
        }
        toggle(node.event);
      }
      at = node.next;
      continue;
    }
    // The event that ends here, or the whole history, leaves no other choice than to take back the last.
    if (at > furthest) {
      furthest = at;
      stuck_at_ = node.event;
      stuck_in_ = state;
    }
    if (done.empty()) return Result::kNone;
    const Done last = done.back();
    done.pop_back();
    const Node& taken = nodes_[static_cast<std::size_t>(last.node)];
    toggle(taken.event);
    state = last.state;
    if (taken.other != 0) ++left;
    PutBack(last.node);
    at = taken.next;
  }
  return Result::kFound;
}

}  // namespace plumbline::race
