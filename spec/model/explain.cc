#include "spec/model/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "spec/model/call.h"
#include "spec/model/canonical.h"
#include "spec/model/names.h"
#include "spec/model/registry.h"
#include "spec/scenario/print.h"

namespace plumbline::model {
namespace {

using scenario::Outcome;
using scenario::Scenario;
using scenario::Step;

const char* ClauseOf(const std::string& kind) {
  static const std::map<std::string, const char*> clauses = {
      {"key differs", "RES-018"},
      {"a higher key answers first", "RES-016"},
      {"a higher key has no kernel", "RES-018"},
      {"a higher rule answers first", "RES-047"},
      {"held off", "RES-036"},
      {"falls through", "RES-012"},
      {"excluded by a guard", "RES-007"},
      {"shadowed", "RES-004"},
      {"ambiguous", "RES-042"},
      {"misspelt operator", "ERR-004"},
      {"misspelt namespace", "ERR-004"},
      {"other overload", "REG-002"},
      {"never registered", "ERR-001"},
      {"registration refused", "REG-051"},
      {"no key is given", "REG-024"},
      {"never defined", "ERR-005"},
      {"registered after the call", "CACHE-001"},
      {"released before the call", "CACHE-002"},
      {"inner operator lacks a kernel", "CALL-025"},
      {"calls without end", "CALL-026"},
      {"a stale answer", "CACHE-004"},
  };
  const auto it = clauses.find(kind);
  return it == clauses.end() ? "" : it->second;
}

std::string LineOf(int line) { return line > 0 ? ", line " + std::to_string(line) : ""; }

// The registrations that made slots of an outdated table differ from the rules: what a stale answer comes from.
class StaleWatch {
 public:
  StaleWatch(const Scenario& scenario, Settings settings) {
    settings.deviations.insert({Deviation::kStaleAutogradOther, Deviation::kStaleAutogradNestedTensor,
                                Deviation::kStaleAfterCompositeExplicit});
    settings.record = true;
    machine_.emplace(scenario, settings);
  }

  Outcome Run(const Step& step) {
    Outcome outcome = machine_->Run(step);
    if (machine_->registry().chains() != chains_) {  // what is concerned follows them
      chains_ = machine_->registry().chains();
      concerned_.clear();
    }
    for (const auto& [name, key] : machine_->registry().TakeChanges()) {
      const Operator* op = machine_->registry().FindOperator(name);
      if (op == nullptr) {
        origins_.erase(name);
        continue;
      }
      auto concerned = concerned_.find(key);
      if (concerned == concerned_.end()) {
        concerned = concerned_.emplace(key, machine_->registry().Concerned(key)).first;
      }
      std::map<Key, std::string>& origins = origins_[name];
      for (const Key slot : concerned->second) {
        const auto stored = op->stored.find(slot);
        if (stored == op->stored.end()) continue;
        if (stored->second == machine_->registry().Computed(*op, slot)) {
          origins.erase(slot);
        } else {
          origins.try_emplace(slot, Describe(step));
        }
      }
    }
    return outcome;
  }

  // The change that the slot of the last call should have followed; "" if none.
  std::string Origin() const {
    for (const CallRecord& call : machine_->last_calls()) {
      const auto op = origins_.find(call.operator_name);
      if (op == origins_.end() || op->second.empty()) continue;
      const auto slot = op->second.find(call.selection.key);
      return slot != op->second.end() ? slot->second : op->second.begin()->second;
    }
    return "";
  }

 private:
  std::string Describe(const Step& step) const {
    if (std::holds_alternative<scenario::Impl>(step.action)) {
      const Registration& newest = machine_->registry().registrations().back();
      return "the registration of " + Label(newest) + " at " + machine_->keys().Name(newest.key);
    }
    if (const auto* release = std::get_if<scenario::Release>(&step.action)) {
      for (const Registration& registration : machine_->registry().registrations()) {
        if (registration.handle == release->name) {
          return "the release of " + Label(registration) + " at " + machine_->keys().Name(registration.key);
        }
      }
    }
    return "'" + scenario::PrintStep(step) + "'";
  }
  static std::string Label(const Registration& registration) {
    return registration.fallthrough ? "the fallthrough" : registration.kernel;
  }

  std::optional<Machine> machine_;
  std::map<std::string, std::map<Key, std::string>> origins_;
  std::map<Key, std::set<Key>> concerned_;  // by the key of the change
  Chains chains_;
};

std::vector<std::string> KeyNames(const KeyTable& keys) {
  std::vector<std::string> names;
  for (Key key = 0; key < keys.key_count(); ++key) names.push_back(keys.Name(key));
  return names;
}

// After `impl OP` one word is a kernel; the key that it may have been meant for, or empty.
std::string KeyMeant(const scenario::Impl& impl, const KeyTable& keys) {
  constexpr std::size_t kShortest = 6;  // of a name that looks like a key's where it is none
  const std::string& word = impl.kernel.kernel;
  if (impl.key || impl.kernel.fallthrough || !impl.library.empty()) return "";
  if (const std::optional<Key> key = keys.Find(word)) return keys.Name(*key);
  if (word.size() < kShortest) return "";
  const std::vector<std::string> near = Nearest(word, KeyNames(keys));
  return near.empty() ? "" : near.front();
}

// What the steps do, by what they are about, so that no call has to look through all of them.
struct Steps {
  std::map<std::string, std::vector<std::size_t>> defines, impls;  // of an operator, as it is written
  std::vector<std::size_t> fallbacks;
  std::map<std::string, std::vector<std::size_t>> releases;           // of a handle
  std::map<std::string, std::vector<const Registration*>> by_handle;  // made so far
  std::size_t registrations = 0;                                      // that `by_handle` knows
  using ByStep = std::map<std::size_t, std::string>;
  static constexpr const char* kFallbacks = "";
  std::map<std::string, ByStep> refused;         // so far: their error; of an operator, or of kFallbacks
  std::map<std::string, ByStep> key_for_kernel;  // so far, of an operator: the key that the kernel's name reads as

  explicit Steps(const Scenario& scenario) {
    for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
      const scenario::Action& action = scenario.steps[i].action;
      if (const auto* define = std::get_if<scenario::Define>(&action)) {
        const scenario::SchemaResult parsed = scenario::ParseSchema(define->schema);
        if (parsed.schema) defines[parsed.schema->FullName()].push_back(i);
      } else if (const auto* impl = std::get_if<scenario::Impl>(&action)) {
        impls[impl->operator_name].push_back(i);
      } else if (std::holds_alternative<scenario::Fallback>(action)) {
        fallbacks.push_back(i);
      } else if (const auto* release = std::get_if<scenario::Release>(&action)) {
        releases[release->name].push_back(i);
      }
    }
  }

  void Follow(std::size_t step, const scenario::Action& action, const Outcome& outcome, const Machine& machine) {
    if (const auto* impl = std::get_if<scenario::Impl>(&action)) {
      if (!outcome.error.empty()) {
        refused[impl->operator_name][step] = outcome.error;
      } else if (const std::string key = KeyMeant(*impl, machine.keys()); !key.empty()) {
        key_for_kernel[impl->operator_name][step] = key;
      }
    } else if (std::holds_alternative<scenario::Fallback>(action) && !outcome.error.empty()) {
      refused[kFallbacks][step] = outcome.error;
    }
    const Registry& registry = machine.registry();
    for (; registrations < registry.registrations().size(); ++registrations) {
      const Registration& made = registry.registrations()[registrations];
      if (!made.handle.empty()) by_handle[made.handle].push_back(&made);
    }
  }

  // The steps of a list after a given one.
  static std::span<const std::size_t> After(const std::vector<std::size_t>& list, std::size_t step) {
    return {std::upper_bound(list.begin(), list.end(), step), list.end()};
  }
};

// So many alike are told of; more would hide the others.
constexpr int kMostAlike = 3;

// The causes that hold for one call.
class Diagnosis {
 public:
  Diagnosis(const Scenario& scenario, const Steps& steps, std::size_t step, const Machine& machine,
            const Outcome& outcome)
      : scenario_(scenario),
        steps_(steps),
        step_(step),
        keys_(machine.keys()),
        registry_(machine.registry()),
        calls_(machine.last_calls()),
        outcome_(outcome) {}

  std::vector<Cause> Run() {
    if (calls_.empty()) return {};
    const CallRecord* call = &calls_.front();
    if (!outcome_.error.empty()) {
      for (const CallRecord& record : calls_) {
        if (record.error == outcome_.error) call = &record;
      }
      if (call->depth > 0) InnerOperator(*call);
    }
    if (call->refused) {
      if (call->error == "not-found") NotFound(call->operator_name);
      return Sorted();
    }
    const Operator* op = registry_.FindOperator(call->operator_name);
    if (op == nullptr) return Sorted();
    if (call->error == "no-kernel" || call->error == "no-key") NothingServes(*call, *op);
    Refused(*op);
    KeyTakenForAKernel(*op);
    for (const auto& [key, stack] : op->kernels) {
      const Registration* newest = stack.back();
      int alike = 0;
      for (auto kernel = stack.rbegin(); kernel != stack.rend(); ++kernel) {
        if ((*kernel)->fallthrough || Ran(**kernel)) continue;
        if (*kernel == newest) {
          WhyNot(*call, *op, *newest);
        } else if (++alike <= kMostAlike) {
          Shadowed(**kernel, *newest);
        } else {
          Earlier(*newest, static_cast<std::size_t>(stack.rend() - kernel));
          break;
        }
      }
    }
    return Sorted();
  }

 private:
  void Add(const std::string& kind, const std::string& detail, const Registration* kernel = nullptr,
           const char* clause = nullptr) {
    Cause cause;
    cause.kind = kind;
    cause.detail = detail;
    cause.clause = clause != nullptr ? clause : ClauseOf(kind);
    if (kernel != nullptr) cause.kernel = kernel->kernel + " (" + keys_.Name(kernel->key) + ")";
    for (const Cause& known : causes_) {
      if (known.Text() == cause.Text() && known.kernel == cause.kernel) return;
    }
    causes_.push_back(std::move(cause));
  }

  // That the key differs says little beside any other cause.
  std::vector<Cause> Sorted() {
    std::stable_partition(causes_.begin(), causes_.end(), [](const Cause& c) { return c.kind != "key differs"; });
    return causes_;
  }

  bool Ran(const Registration& kernel) const {
    return std::any_of(calls_.begin(), calls_.end(), [&](const CallRecord& r) { return r.slot.winner == &kernel; });
  }

  // ---- the call as a whole ----

  void InnerOperator(const CallRecord& failed) {
    // The path to the failure: at each depth the last call that was entered before it.
    std::vector<std::string> path(failed.depth + 1);
    for (const CallRecord& record : calls_) {
      if (record.depth <= failed.depth) path[record.depth] = record.operator_name;
      if (&record == &failed) break;
    }
    if (failed.refused && failed.error == "overflow") return WithoutEnd(path);
    path.erase(std::unique(path.begin(), path.end()), path.end());
    if (path.size() < 2) return;
    std::string what = failed.error;
    if (failed.error == "no-kernel") what = "no kernel at " + keys_.Name(failed.selection.key);
    if (failed.error == "no-key") what = "no key and no composite kernel";
    if (failed.error == "not-found") what = "no such operator";
    if (failed.error == "kernel-raised") return;
    Add("inner operator lacks a kernel", Join(path, " > ") + ", " + what);
  }

  // The language stopped the kernels: from the last operator back to where it was called before.
  void WithoutEnd(const std::vector<std::string>& path) {
    const auto before = std::find(path.rbegin() + 1, path.rend(), path.back());
    const auto from = before == path.rend() ? path.begin() : before.base() - 1;
    Add("calls without end", Join({from, path.end()}, " > ") + ", again and again; an excluded key, or a redispatch " +
                                 "below the kernel's own key, would end it");
  }

  void NotFound(const std::string& name) {
    const Operator* op = registry_.FindOperator(name);
    if (op != nullptr && !op->defined) {
      std::vector<std::string> at;
      for (const auto& [key, stack] : op->kernels) at.push_back(keys_.Name(key));
      Add("never defined", name + " has a kernel at " + Join(at, ", ") + " and no definition; is the library loaded");
    }
    if (const auto defines = steps_.defines.find(name); defines != steps_.defines.end()) {
      const std::span<const std::size_t> later = Steps::After(defines->second, step_);
      for (const std::size_t i : later.first(std::min<std::size_t>(kMostAlike, later.size()))) {
        Add("registered after the call", "the definition of " + name + LineOf(scenario_.steps[i].line));
      }
      if (op == nullptr && defines->second.front() < step_) {
        Add("released before the call", "the definition of " + name);
      }
    }
    if (op != nullptr || !causes_.empty()) return;

    std::vector<std::string> known;
    for (const auto& [other, it] : registry_.operators()) known.push_back(other);
    const NameParts wanted = SplitName(name);
    for (const std::string& other : known) {
      const NameParts parts = SplitName(other);
      if (parts.base == wanted.base && parts.name_space == wanted.name_space) {
        Add("other overload", "there is " + other);
      }
    }
    if (!causes_.empty()) return;
    for (const std::string& near : Nearest(name, known)) {
      const NameParts parts = SplitName(near);
      const bool only_namespace = parts.base == wanted.base && parts.overload == wanted.overload;
      Add(only_namespace ? "misspelt namespace" : "misspelt operator", "did you mean " + near);
    }
    if (causes_.empty()) Add("never registered", "no operator " + name + "; is the library loaded", nullptr, "ERR-004");
  }

  bool Serves(Key registered, Key slot) const {
    if (registered == slot) return true;
    if (!keys_.IsAlias(registered)) return false;
    return slot == kUndefined ? keys_.Name(registered).starts_with("Composite") : keys_.InAlias(slot, registered);
  }

  void NothingServes(const CallRecord& call, const Operator& op) {
    const Key slot = call.selection.key;
    RegisteredAfter(op, slot);
    ReleasedBefore(op, slot);
    if (!op.kernels.empty()) return;
    for (const auto& [name, other] : registry_.operators()) {
      const NameParts parts = SplitName(name), wanted = SplitName(op.name);
      if (name != op.name && parts.name_space == wanted.name_space && parts.base == wanted.base &&
          !other.kernels.empty()) {
        Add("other overload", "the kernel is registered for " + name);
      }
    }
    Refused(op);  // before what follows from there being no other cause
    MeantForThis(op);
    if (causes_.empty()) {
      Add("never registered", "no kernel for " + op.name + " at any key; is the library loaded");
    }
  }

  // Kernels for the operator, and fallbacks, that the registry did not take: the latest few.
  void Refused(const Operator& op) {
    for (const std::string& name : {op.name, std::string(Steps::kFallbacks)}) {
      const auto refused = steps_.refused.find(name);
      if (refused == steps_.refused.end()) continue;
      int alike = 0;
      for (auto at = refused->second.rbegin(); at != refused->second.rend() && alike < kMostAlike; ++at, ++alike) {
        const Step& step = scenario_.steps[at->first];
        if (const auto* impl = std::get_if<scenario::Impl>(&step.action)) {
          Refused(step, impl->key, impl->kernel, at->second);
        } else if (const auto* fallback = std::get_if<scenario::Fallback>(&step.action)) {
          Refused(step, fallback->key, fallback->kernel, at->second);
        }
      }
    }
  }

  void Refused(const Step& step, const std::optional<std::string>& key, const scenario::KernelUse& use,
               const std::string& error) {
    const std::string what = (use.fallthrough ? "the fallthrough" : use.kernel) + LineOf(step.line);
    if (!key || keys_.Find(*key)) return Add("registration refused", what + ": " + error);
    const std::vector<std::string> near = Nearest(*key, KeyNames(keys_));
    Add("registration refused",
        what + ": there is no key " + *key + (near.empty() ? "" : "; did you mean " + Join(near, " or ")), nullptr,
        "ERR-006");
  }

  void KeyTakenForAKernel(const Operator& op) {
    const auto impls = steps_.key_for_kernel.find(op.name);
    if (impls == steps_.key_for_kernel.end()) return;
    int alike = 0;
    for (const auto& [index, key] : impls->second) {
      if (++alike > kMostAlike) break;
      const Step& step = scenario_.steps[index];
      Add("no key is given", std::get<scenario::Impl>(step.action).kernel.kernel + LineOf(step.line) +
                                 " is taken for the kernel; for the key " + key + " write `impl " + op.name + " " +
                                 key + " KERNEL`");
    }
  }

  // Kernels that wait for an operator that nobody defined, of nearly this name.
  void MeantForThis(const Operator& op) {
    std::vector<std::string> waiting;
    for (const auto& [name, other] : registry_.operators()) {
      if (!other.defined && !other.kernels.empty()) waiting.push_back(name);
    }
    const NameParts wanted = SplitName(op.name);
    for (const std::string& near : Nearest(op.name, waiting)) {
      const NameParts parts = SplitName(near);
      const bool only_namespace = parts.base == wanted.base && parts.overload == wanted.overload;
      const auto& [key, stack] = *registry_.FindOperator(near)->kernels.begin();
      Add(only_namespace ? "misspelt namespace" : "misspelt operator", Words(*stack.back()) + " at " + keys_.Name(key) +
                                                                           LineOf(stack.back()->line) + ": it is for " +
                                                                           near + ", which nobody defined");
    }
  }

  void RegisteredAfter(const Operator& op, Key slot) {
    int alike = 0;
    const auto impls = steps_.impls.find(op.name);
    for (const std::size_t i :
         impls == steps_.impls.end() ? std::span<const std::size_t>() : Steps::After(impls->second, step_)) {
      const Step& step = scenario_.steps[i];
      const auto& impl = std::get<scenario::Impl>(step.action);
      const Key key = impl.key ? keys_.Find(*impl.key).value_or(kUndefined) : kUndefined;
      const Key at = key == kUndefined ? keys_.Find("CompositeImplicitAutograd").value_or(kUndefined) : key;
      if (!Serves(at, slot)) continue;
      Add("registered after the call", impl.kernel.kernel + " at " + keys_.Name(at) + LineOf(step.line));
      if (++alike == kMostAlike) break;
    }
    for (const std::size_t i : Steps::After(steps_.fallbacks, step_)) {
      const Step& step = scenario_.steps[i];
      const auto& fallback = std::get<scenario::Fallback>(step.action);
      if (!fallback.key || keys_.Find(*fallback.key) != slot) continue;
      Add("registered after the call", "a fallback at " + *fallback.key + LineOf(step.line), nullptr, "CACHE-006");
      break;
    }
  }

  // The newest first: what went last is likeliest to be missed.
  void ReleasedBefore(const Operator& op, Key slot) {
    int alike = 0;
    const auto look_at = [&](const std::vector<std::size_t>& made_by) {
      for (auto i = made_by.rbegin(); i != made_by.rend() && alike < kMostAlike; ++i) {
        if (*i >= step_) continue;
        const scenario::Action& action = scenario_.steps[*i].action;
        const auto* impl = std::get_if<scenario::Impl>(&action);
        const std::string& handle = impl != nullptr ? impl->name : std::get<scenario::Fallback>(action).name;
        const auto releases = steps_.releases.find(handle);
        const auto made = steps_.by_handle.find(handle);
        if (releases == steps_.releases.end() || made == steps_.by_handle.end()) continue;
        const std::span<const std::size_t> after = Steps::After(releases->second, *i);
        if (after.empty() || after.front() >= step_) continue;
        for (const Registration* registration : made->second) {
          if (registration->line != scenario_.steps[*i].line || !registry_.Released(*registration)) continue;
          if (!Serves(registration->key, slot)) continue;
          Add("released before the call", Words(*registration) + " at " + keys_.Name(registration->key) +
                                              LineOf(scenario_.steps[after.front()].line));
          ++alike;
        }
      }
    };
    if (const auto impls = steps_.impls.find(op.name); impls != steps_.impls.end()) look_at(impls->second);
    look_at(steps_.fallbacks);
  }

  // ---- one kernel that did not run ----

  std::string By(const Slot& slot) const {
    if (slot.winner == nullptr) return "nothing";
    if (slot.rule == Rule::kFallback) {
      return (slot.winner->builtin ? "the release's fallback at " : "the fallback at ") + keys_.Name(slot.winner->key);
    }
    return "the kernel at " + keys_.Name(slot.winner->key);
  }

  void Ambiguous(const Operator& op, Key key, const Registration& kernel) {
    std::vector<std::string> claims = {"CompositeImplicitAutograd"};
    for (Key backend : keys_.Behind(key)) {
      if (op.kernels.contains(backend)) claims.push_back(keys_.Name(backend));
    }
    Add("ambiguous", Join(claims, " and ") + " claim " + keys_.Name(key), &kernel);
  }

  static std::string Words(const Registration& kernel) { return kernel.fallthrough ? "a fallthrough" : kernel.kernel; }

  void Shadowed(const Registration& kernel, const Registration& newest) {
    Add("shadowed", Words(newest) + " was registered later at " + keys_.Name(newest.key), &kernel);
  }

  void Earlier(const Registration& newest, std::size_t count) {
    Cause cause;
    cause.kind = "shadowed";
    cause.detail = Words(newest) + " was registered later at " + keys_.Name(newest.key) + " than these too";
    cause.clause = ClauseOf(cause.kind);
    cause.kernel = std::to_string(count) + " more (" + keys_.Name(newest.key) + ")";
    causes_.push_back(std::move(cause));
  }

  // The newest of its key.
  void WhyNot(const CallRecord& call, const Operator& op, const Registration& kernel) {
    const std::string at = keys_.Name(kernel.key);
    const Key chosen = call.selection.key;
    if (Serves(kernel.key, chosen)) {
      HigherRule(call, op, kernel);
      return;
    }
    // The keys of the call that this kernel could serve, highest first.
    const auto served_of = [&](std::vector<Key> of) {
      std::erase_if(of, [&](Key key) { return !Serves(kernel.key, key); });
      std::reverse(of.begin(), of.end());
      return of;
    };
    for (Key key : served_of(call.selection.fell_through)) {
      const Slot slot = registry_.Computed(op, key);
      if (slot.rule != Rule::kKernel) continue;
      Add("falls through", "the fallthrough at " + keys_.Name(key) + " outranks the kernel at " + at, &kernel);
      return;
    }
    for (Key key : served_of(keys_.Keys(call.selection.effective))) {
      if (call.slot.rule == Rule::kAmbiguous) {
        Ambiguous(op, chosen, kernel);
      } else if (call.slot.winner == nullptr) {
        Add("a higher key has no kernel", keys_.Name(chosen) + " has neither kernel nor fallback", &kernel);
      } else {
        Add("a higher key answers first", keys_.Name(chosen) + ", by " + By(call.slot) + ", before " + keys_.Name(key),
            &kernel);
      }
      return;
    }
    if (!call.redispatch) {
      const KeySet brought = Union(call.selection.arguments, call.thread.included);
      for (Key key : served_of(keys_.Keys(brought))) {
        const bool excluded = (keys_.SetOf(key).functionalities & call.thread.excluded.functionalities).any();
        if (!excluded) continue;
        Add("excluded by a guard", keys_.Name(key) + " is not in the set", &kernel);
        return;
      }
    }
    const std::vector<std::string> names = keys_.Names(call.selection.effective);
    Add("key differs",
        "the arguments bring " + (names.empty() ? "no key" : Join(names, " ")) + ", the kernel is registered at " + at,
        &kernel, call.slot.winner != nullptr ? "RES-016" : nullptr);
  }

  // The kernel could serve the chosen slot, and another did, or none.
  void HigherRule(const CallRecord& call, const Operator& op, const Registration& kernel) {
    const std::string at = keys_.Name(kernel.key);
    const std::string slot = keys_.Name(call.selection.key);
    if (call.slot.rule == Rule::kAmbiguous) return Ambiguous(op, call.selection.key, kernel);
    for (const Trial& trial : call.trials) {
      if (trial.rule == Rule::kImplicit && !trial.applies && at == "CompositeImplicitAutograd" &&
          trial.why.starts_with("held off by ")) {
        Add("held off", trial.why.substr(12) + " keeps " + at + " out of " + slot, &kernel, trial.clause.c_str());
        return;
      }
    }
    if (call.slot.winner == nullptr) return;
    const std::string winner = keys_.Name(call.slot.winner->key);
    const char* clause = nullptr;
    for (const Trial& trial : call.trials) {
      if (trial.applies) clause = trial.clause.c_str();
    }
    if (winner == "CompositeImplicitAutograd" && at == "Autograd") clause = "RES-047";
    Add("a higher rule answers first", winner + " serves " + slot + " before " + at, &kernel, clause);
  }

  const Scenario& scenario_;
  const Steps& steps_;
  const std::size_t step_;
  const KeyTable& keys_;
  const Registry& registry_;
  const std::vector<CallRecord>& calls_;
  const Outcome& outcome_;
  std::vector<Cause> causes_;
};

CallExplanation Tell(const CallRecord& record, const KeyTable& keys) {
  CallExplanation told;
  told.operator_name = record.operator_name;
  told.depth = record.depth;
  told.redispatch = record.redispatch;
  told.refused = record.refused;
  told.error = record.error;
  told.message = record.message;
  if (record.refused) return told;
  if (!record.redispatch) {
    for (const KeySet& set : record.by_argument) told.arguments.push_back(keys.Print(set));
    told.brought = keys.Print(record.selection.arguments);
    told.included = keys.Print(record.thread.included);
    told.excluded = keys.Print(record.thread.excluded);
    told.with_thread = keys.Print(record.selection.with_thread);
    std::vector<std::string> before = keys.Names(record.selection.arguments);
    std::vector<std::string> after = keys.Names(record.selection.with_thread);
    for (const std::string& name : after) {
      if (std::find(before.begin(), before.end(), name) == before.end()) told.added.push_back(name);
    }
    for (const std::string& name : before) {
      if (std::find(after.begin(), after.end(), name) == after.end()) told.removed.push_back(name);
    }
    if (record.selection.component) told.backend = keys.components()[*record.selection.component];
    for (Key key : record.selection.fell_through) told.fell_through.push_back(keys.Name(key));
  }
  told.received = keys.Print(record.selection.effective);
  told.key = keys.Name(record.selection.key);
  for (const Trial& trial : record.trials) {
    told.rules.push_back({Spelling(trial.rule), trial.applies, trial.why, trial.clause});
  }
  if (const Registration* winner = record.slot.winner) {
    told.winner = (winner->fallthrough ? "a fallthrough" : "kernel '" + winner->kernel + "'") +
                  (winner->builtin ? ", the release's own fallback at " : ", registered at ") + keys.Name(winner->key) +
                  LineOf(winner->line);
  }
  told.hit = record.hit;
  return told;
}

std::string FirstKernel(const Outcome& outcome) {
  return outcome.runs.empty() ? "an error of class " + outcome.error : outcome.runs[0].kernel;
}

bool SameAnswer(const Outcome& a, const Outcome& b) {
  if (a.error != b.error || a.runs.size() != b.runs.size()) return false;
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    if (a.runs[i].kernel != b.runs[i].kernel) return false;
  }
  return true;
}

// What the call leads to; of kernels whose bodies are not known just which one is reached.
std::string OutcomeText(const Explanation& explanation, Bodies bodies) {
  const bool reached = !explanation.outcome.runs.empty();
  if (bodies == Bodies::kKnown || !reached) return scenario::PrintOutcome(explanation.outcome);
  return explanation.outcome.runs.front().kernel + " runs; what it does then is not told here";
}

}  // namespace

std::string Cause::Text() const {
  return kind + (condition.empty() ? "" : " if " + condition) + (detail.empty() ? "" : ": " + detail);
}

std::vector<Explanation> Explain(const Scenario& scenario, const Settings& settings,
                                 const std::vector<Outcome>* observed) {
  Settings recording = settings;
  recording.record = true;
  Machine machine(scenario, recording);
  std::vector<Explanation> explanations;
  if (!machine.problem().empty()) return explanations;
  StaleWatch stale(scenario, settings);
  Steps steps(scenario);
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    const Step& step = scenario.steps[i];
    const Outcome outcome = machine.Run(step);
    const Outcome outdated = stale.Run(step);
    steps.Follow(i, step.action, outcome, machine);
    if (!std::holds_alternative<scenario::Call>(step.action)) continue;
    Explanation& e = explanations.emplace_back();
    e.step = i;
    e.line = step.line;
    Step bare = step;
    bare.expected.reset();
    e.text = scenario::PrintStep(bare);
    e.outcome = outcome;
    if (step.expected)
      e.mismatch = scenario::Mismatch(*step.expected, outcome, CanonicalBy(machine.keys())).value_or("");
    for (const CallRecord& record : machine.last_calls()) e.calls.push_back(Tell(record, machine.keys()));
    e.causes = Diagnosis(scenario, steps, i, machine, outcome).Run();

    const bool differs = observed != nullptr && i < observed->size() && !SameAnswer((*observed)[i], outcome);
    if (!SameAnswer(outdated, outcome) && (observed == nullptr || differs)) {
      const bool seen = differs && SameAnswer((*observed)[i], outdated);
      Cause cause;
      cause.kind = "a stale answer";
      cause.clause = ClauseOf(cause.kind);
      const std::string origin = stale.Origin();
      if (seen) {
        cause.detail = FirstKernel(outdated) + " ran, though " + origin + " came before this call";
        e.causes.insert(e.causes.begin(), std::move(cause));
      } else {
        cause.condition = FirstKernel(outdated) + (outdated.runs.empty() ? " comes" : " runs");
        cause.detail = origin + " came before this call";
        e.causes.push_back(std::move(cause));
      }
    }
  }
  return explanations;
}

std::string Print(const Explanation& explanation, Bodies bodies) {
  std::string text;
  if (explanation.line > 0) text += "line " + std::to_string(explanation.line) + ": ";
  text += explanation.text + "\n";
  // Of kernels that call each other without end the first and the last calls tell enough.
  constexpr std::size_t kFirst = 20, kLast = 2;
  const std::size_t count = explanation.calls.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i == kFirst && count > kFirst + kLast) {
      text += "  ... " + std::to_string(count - kFirst - kLast) + " more calls ...\n";
      i = count - kLast;
    }
    const CallExplanation& call = explanation.calls[i];
    const std::string indent(2 + 2 * std::min<std::size_t>(static_cast<std::size_t>(call.depth), kFirst), ' ');
    const auto line = [&](const std::string& what) { text += indent + "  " + what + "\n"; };
    text += indent + (call.redispatch ? "redispatch of " : "call of ") + call.operator_name + "\n";
    if (call.refused) {
      line("refused: " + call.error + ": " + call.message);
      continue;
    }
    if (!call.redispatch) {
      for (std::size_t a = 0; a < call.arguments.size(); ++a) {
        line("argument " + std::to_string(a + 1) + " brings " +
             (call.arguments[a] == "[]" ? "no key" : call.arguments[a]));
      }
      line("all arguments together bring " + call.brought);
      if (!call.added.empty()) line("the thread adds " + Join(call.added, " "));
      if (!call.removed.empty()) line("the thread takes out " + Join(call.removed, " "));
      if (!call.fell_through.empty()) {
        line("a fallthrough sends the call past" + (call.backend.empty() ? "" : ", for " + call.backend) + ": " +
             Join(call.fell_through, " "));
      }
    }
    line(call.received == "[]" ? "no key is left, so " + call.key + " decides"
                               : "keys that are left: " + call.received + "; the highest decides: " + call.key);
    line("who answers at " + call.key + ", by the rules in their order:");
    for (const RuleTried& rule : call.rules) {
      std::string name = rule.rule;
      name.resize(14, ' ');
      line("  " + name + (rule.applies ? "yes  " : "no   ") + rule.why + "  [" + rule.clause + "]");
    }
    const char* cache = bodies == Bodies::kUnknown ? ""  // of a call that was not made
                        : call.hit                 ? " (looked up before: cache hit)"
                                                   : " (looked up for the first time: cache miss)";
    line((call.winner.empty() ? "nothing answers" : "answer: " + call.winner) + cache);
    if (!call.error.empty()) line("failed: " + call.error + ": " + call.message);
  }
  if (explanation.calls.empty() && !explanation.outcome.error.empty()) {
    text += "  refused: " + explanation.outcome.error + ": " + explanation.outcome.message + "\n";
  }
  text += "  outcome: " + OutcomeText(explanation, bodies) + "\n";
  if (!explanation.mismatch.empty()) text += "  the scenario says otherwise: " + explanation.mismatch + "\n";
  for (const Cause& cause : explanation.causes) {
    text += "  " + (cause.kernel.empty() ? std::string("why") : "why not " + cause.kernel) + ": " + cause.Text() +
            "  [" + cause.clause + "]\n";
  }
  return text;
}

}  // namespace plumbline::model
