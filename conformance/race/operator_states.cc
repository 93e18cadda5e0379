#include "conformance/race/operator_states.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace plumbline::race {

using model::Key;
using model::Rule;
using model::Slot;

namespace {

std::uint64_t Pair(int a, int b) { return std::uint64_t(std::uint32_t(a)) << 32 | std::uint32_t(b); }

model::KeySet SetOf(const model::KeyTable& keys, const std::vector<std::string>& names) {
  std::string unknown;
  return keys.SetOf(names, &unknown).value_or(model::KeySet{});
}

}  // namespace

OperatorStates::OperatorStates(const model::KeyTable& keys, std::span<const model::StartingFallback> fallbacks,
                               std::string op, std::vector<const Event*> events)
    : keys_(keys), op_(std::move(op)), events_(std::move(events)), prepared_(events_.size()) {
  std::map<std::string, int> questions;
  registrations_.resize(events_.size());
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Event& event = *events_[i];
    const int index = static_cast<int>(i);
    Prepared& prepared = prepared_[i];
    if (!event.key.empty()) prepared.key = keys_.Find(event.key).value_or(model::kUndefined);
    const bool makes = event.kind <= Event::Kind::kFallback;
    if (makes || event.kind == Event::Kind::kFind) made_by_[event.name] = index;
    if (makes) {
      registrations_[i].handle = event.name;
      registrations_[i].key = prepared.key;
      registrations_[i].fallthrough = event.fallthrough;
    }
    if (event.Changes() || event.kind == Event::Kind::kFind) continue;
    // Told apart by all that is asked and nothing else.
    Event asked = event;
    asked.thread.clear();
    asked.start = 0;
    asked.end = kNever;
    prepared.question = questions.emplace(PrintEvent(asked), static_cast<int>(questions.size())).first->second;
    prepared.arguments = SetOf(keys_, event.keys);
    prepared.thread = {Union(SetOf(keys_, event.include), keys_.thread_include()),
                       Union(SetOf(keys_, event.exclude), keys_.thread_exclude())};
  }
  built_in_.reserve(fallbacks.size());
  for (const model::StartingFallback& fallback : fallbacks) {
    const std::optional<Key> key = keys_.Find(fallback.key);
    if (!key) continue;
    model::Registration& made = built_in_.emplace_back();
    made.handle = made.library = "builtin";
    made.key = *key;
    made.fallthrough = fallback.fallthrough;
    made.builtin = true;
    built_in_fallbacks_[*key] = &made;
  }
  Intern(State{});
}

OperatorStates::~OperatorStates() = default;

std::size_t OperatorStates::HashState::operator()(const State* state) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  const auto add = [&](int value) { hash = (hash ^ std::uint32_t(value)) * 0x100000001b3 + (hash >> 29); };
  add(state->born);
  add(state->definition);
  for (const auto* list : {&state->kernels, &state->fallbacks}) {
    add(static_cast<int>(list->size()));
    for (const Kernel& kernel : *list) {
      add(kernel.key);
      add(kernel.made_by);
    }
  }
  for (const auto& [handle, born] : state->handles) {
    add(handle);
    add(born);
  }
  return hash;
}

int OperatorStates::Intern(State&& state) {
  if (const auto known = numbers_.find(&state); known != numbers_.end()) return known->second;
  const int number = static_cast<int>(states_.size());
  states_.push_back(std::make_unique<State>(std::move(state)));
  numbers_.emplace(states_.back().get(), number);
  return number;
}

// ---- changes ----

// Does what the event asks for to the state, or says which error it gets. False: the event's answer is another.
bool OperatorStates::Change(const Event& event, int index, State& state, std::string* error) const {
  const auto before = [&](const std::vector<Kernel>& list, Key key) {
    return std::upper_bound(list.begin(), list.end(), key, [](Key k, const Kernel& kernel) { return k < kernel.key; });
  };
  const auto exists = [&] { return state.definition >= 0 || !state.kernels.empty(); };
  const Prepared& prepared = prepared_[static_cast<std::size_t>(index)];
  switch (event.kind) {
    case Event::Kind::kDefine:
      if (state.definition >= 0) {
        *error = "duplicate";
        break;
      }
      if (!exists()) state.born = index;
      state.definition = index;
      break;
    case Event::Kind::kImpl:
      if (!exists()) state.born = index;
      state.kernels.insert(before(state.kernels, prepared.key), {prepared.key, index});
      break;
    case Event::Kind::kFallback: {
      const auto at = before(state.fallbacks, prepared.key);
      const bool taken = at != state.fallbacks.begin() && std::prev(at)->key == prepared.key;
      if (keys_.IsAlias(prepared.key) || prepared.key == model::kUndefined) {
        *error = "invalid-argument";
      } else if (taken || built_in_fallbacks_.contains(prepared.key)) {
        *error = "duplicate";
      } else {
        state.fallbacks.insert(at, {prepared.key, index});
      }
      break;
    }
    case Event::Kind::kRelease:
    case Event::Kind::kClose: {
      const bool all = event.kind == Event::Kind::kClose;
      const auto goes = [&](int made_by) {
        const Event& made = *events_[static_cast<std::size_t>(made_by)];
        return all ? made.library == event.name : made.name == event.name;
      };
      bool gone = false;
      if (state.definition >= 0 && goes(state.definition)) {
        state.definition = -1;
        gone = true;
      }
      gone = std::erase_if(state.kernels, [&](const Kernel& kernel) { return goes(kernel.made_by); }) != 0 || gone;
      gone = std::erase_if(state.fallbacks, [&](const Kernel& kernel) { return goes(kernel.made_by); }) != 0 || gone;
      if (!exists()) state.born = -1;
      if (!all && !gone) {
        // A registration that its library dropped is released once more, to no effect.
        const auto made = made_by_.find(event.name);
        const bool in_library =
            made != made_by_.end() && !events_[static_cast<std::size_t>(made->second)]->library.empty();
        // One that was refused is no registration, one that was released is no more.
        if (!in_library) *error = event.error == "not-found" ? event.error : "invalid-handle";
      }
      break;
    }
    default:
      break;
  }
  return event.end == kNever || event.error == *error;
}

int OperatorStates::Step(int number, int index) {
  const auto [known, fresh] = steps_.try_emplace(Pair(number, index), kRefused);
  if (!fresh) return known->second;
  const Event& event = *events_[static_cast<std::size_t>(index)];
  int next = kRefused;
  if (event.Changes()) {
    State state = *states_[static_cast<std::size_t>(number)];
    std::string error;
    if (Change(event, index, state, &error)) next = error.empty() ? Intern(std::move(state)) : number;
  } else if (event.kind == Event::Kind::kFind) {
    State state = *states_[static_cast<std::size_t>(number)];
    const std::string error = state.definition < 0 ? "not-found" : "";
    if (event.end == kNever || event.error == error) {
      if (error.empty()) {
        state.handles.emplace_back(index, state.born);
        std::sort(state.handles.begin(), state.handles.end());
      }
      next = Intern(std::move(state));
    }
  } else if (event.end == kNever || Agrees(event, Answer(number, index))) {
    next = number;
  }
  steps_[Pair(number, index)] = next;
  return next;
}

// ---- answers ----

void OperatorStates::Enter(const State& state) {
  if (entered_ == &state) return;
  entered_ = &state;
  kernels_.clear();
  for (const Kernel& kernel : state.kernels) {
    kernels_[kernel.key].push_back(&registrations_[static_cast<std::size_t>(kernel.made_by)]);
  }
  fallbacks_ = built_in_fallbacks_;
  for (const Kernel& kernel : state.fallbacks) {
    fallbacks_[kernel.key] = &registrations_[static_cast<std::size_t>(kernel.made_by)];
  }
}

Slot OperatorStates::SlotOf(const State& state, Key key) {
  Enter(state);
  return Resolve(keys_, {kernels_, fallbacks_, chains_}, key);
}

const std::string& OperatorStates::NameOf(int registration) const {
  static const std::string built_in = "builtin";
  return registration < 0 ? built_in : events_[static_cast<std::size_t>(registration)]->name;
}

OperatorStates::Reply OperatorStates::Call(const State& state, const Event& event, const Prepared& prepared) {
  Reply reply;
  if (event.by_handle) {
    const auto found = made_by_.find(event.op);
    const auto bound = std::find_if(state.handles.begin(), state.handles.end(), [&](const auto& handle) {
      return found != made_by_.end() && handle.first == found->second;
    });
    if (bound == state.handles.end()) {
      reply.error = "not-found";
      return reply;
    }
    if (state.born < 0 || bound->second != state.born) {
      reply.error = "invalid-handle";
      return reply;
    }
  }
  if (state.definition < 0) {
    reply.error = "not-found";
    return reply;
  }
  const auto slot_of = [&](Key key) { return SlotOf(state, key); };
  model::KeySet set = prepared.arguments;
  if (event.kind == Event::Kind::kCall) set = Select(keys_, slot_of, set, prepared.thread, false).effective;
  Key key = keys_.Highest(set);
  Slot slot = slot_of(key);
  // A boxed fallback of the release's own passes the call on below the autograd keys.
  if (slot.winner != nullptr && slot.winner->builtin && !slot.fallthrough() && keys_.IsAutograd(key)) {
    key = keys_.Highest(keys_.Below(set, *keys_.Find("AutogradOther")));
    slot = slot_of(key);
  }
  if (slot.rule == Rule::kMissing) {
    reply.error = key == model::kUndefined ? "no-key" : "no-kernel";
  } else if (slot.rule == Rule::kAmbiguous) {
    reply.error = "ambiguous";
  } else if (slot.fallthrough()) {
    reply.error = "fell-through";
  } else {
    reply.ran = slot.winner->builtin ? kBuiltIn : made_by_.at(slot.winner->handle);
  }
  return reply;
}

OperatorStates::Reply OperatorStates::Answer(int number, int index) {
  const Event& event = *events_[static_cast<std::size_t>(index)];
  const Prepared& prepared = prepared_[static_cast<std::size_t>(index)];
  const std::uint64_t asked = Pair(number, prepared.question);
  if (const auto known = replies_.find(asked); known != replies_.end()) return known->second;
  const State& state = *states_[static_cast<std::size_t>(number)];
  const bool exists = state.definition >= 0 || !state.kernels.empty();
  Reply reply;
  switch (event.kind) {
    case Event::Kind::kCall:
    case Event::Kind::kRedispatch:
      reply = Call(state, event, prepared);
      break;
    case Event::Kind::kHasKernel:
      if (!exists) reply.error = "not-found";
      reply.yes = std::any_of(state.kernels.begin(), state.kernels.end(),
                              [&](const Kernel& kernel) { return kernel.key == prepared.key; });
      break;
    case Event::Kind::kTable:
      if (!exists) reply.error = "not-found";
      for (Key key = 0; exists && key < keys_.slot_count(); ++key) {
        const Slot slot = SlotOf(state, key);
        if (slot.rule == Rule::kMissing || (slot.winner != nullptr && slot.winner->builtin)) continue;
        reply.table.emplace_back(keys_.Name(key), slot.winner == nullptr ? "ambiguous" : slot.winner->handle);
      }
      std::sort(reply.table.begin(), reply.table.end());
      break;
    case Event::Kind::kOperators:
      reply.yes = exists;
      break;
    default:
      break;
  }
  return replies_.emplace(asked, std::move(reply)).first->second;
}

bool OperatorStates::Agrees(const Event& event, const Reply& reply) const {
  if (event.error != reply.error) return false;
  if (!event.error.empty()) return true;
  switch (event.kind) {
    case Event::Kind::kCall:
    case Event::Kind::kRedispatch:
      return event.ran == NameOf(reply.ran);
    case Event::Kind::kHasKernel:
      return event.yes == reply.yes;
    case Event::Kind::kTable: {
      auto seen = event.table;
      std::sort(seen.begin(), seen.end());
      return seen == reply.table;
    }
    case Event::Kind::kOperators:
      return (std::find(event.listed.begin(), event.listed.end(), op_) != event.listed.end()) == reply.yes;
    default:
      return true;
  }
}

std::string OperatorStates::Expected(int number, int index) {
  const Event& event = *events_[static_cast<std::size_t>(index)];
  std::string error;
  if (event.Changes()) {
    State state = *states_[static_cast<std::size_t>(number)];
    Change(event, index, state, &error);
    return error.empty() ? "ok" : "error " + error;
  }
  if (event.kind == Event::Kind::kFind) {
    return states_[static_cast<std::size_t>(number)]->definition < 0 ? "error not-found" : "ok";
  }
  const Reply reply = Answer(number, index);
  if (!reply.error.empty()) return "error " + reply.error;
  switch (event.kind) {
    case Event::Kind::kHasKernel:
      return reply.yes ? "true" : "false";
    case Event::Kind::kOperators:
      return fmt::format("a list with{} {}", reply.yes ? "" : "out", op_);
    case Event::Kind::kTable: {
      std::string text = "{";
      for (const auto& [key, name] : reply.table)
        text += fmt::format("{} {}: {}", text.size() > 1 ? "," : "", key, name);
      return text + " }";
    }
    default:
      return NameOf(reply.ran);
  }
}

}  // namespace plumbline::race
