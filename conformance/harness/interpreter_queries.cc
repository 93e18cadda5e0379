#include "conformance/harness/interpreter_state.h"

namespace plumbline::harness {
namespace {

using abi::Borrow;
using scenario::Outcome;
using scenario::Step;

std::string_view RuleSpelling(std::uint32_t rule) {
  static constexpr std::string_view kSpellings[] = {"",        "kernel",   "nonfunctional", "explicit",
                                                    "nested",  "implicit", "ambiguous",     "autograd",
                                                    "batched", "fallback", "chain"};
  return rule < std::size(kSpellings) ? kSpellings[rule] : "unknown rule";
}

}  // namespace

Outcome Interpreter::QueryList(std::uint32_t which, pl_key key) {
  std::vector<std::string> names;
  const pl_string_sink sink{&names, [](void* context, pl_string text) {
                              static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                            }};
  if (MaybeFailure failure = PLUMBLINE_CALL(list_operators, registry_, which, key, sink)) return Fail(*failure);
  std::erase_if(names, [this](const std::string& name) { return !renaming_.Owns(name); });
  for (std::string& name : names) name = renaming_.Out(name);
  std::sort(names.begin(), names.end());
  Outcome outcome;
  outcome.names = std::move(names);
  return outcome;
}

Outcome Interpreter::QueryTable(const std::string& operator_name) {
  struct Collected {
    Interpreter* self;
    std::vector<scenario::TableRow> rows;
  } collected{this, {}};
  const pl_table_sink sink{&collected, [](void* context, const pl_table_row* row) {
                             auto* into = static_cast<Collected*>(context);
                             const std::string place(abi::View(row->place));
                             const auto at = into->self->handle_at_place_.find(place);
                             std::string winner = at != into->self->handle_at_place_.end() ? at->second : place;
                             if (place.empty() && row->rule != PL_RULE_AMBIGUOUS) winner = "builtin";
                             into->rows.push_back({.key = into->self->KeyName(row->key),
                                                   .rule = std::string(RuleSpelling(row->rule)),
                                                   .fallthrough = row->fallthrough != 0,
                                                   .registration = winner});
                           }};
  if (MaybeFailure failure = PLUMBLINE_CALL(dump_table, registry_, Borrow(operator_name), sink)) return Fail(*failure);
  const auto rank = [this](const scenario::TableRow& row) { return keys_.Find(row.key).value_or(keys_.key_count()); };
  std::stable_sort(collected.rows.begin(), collected.rows.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  Outcome outcome;
  outcome.table = std::move(collected.rows);
  return outcome;
}

Outcome Interpreter::Act(const scenario::Query& step, const Step&) {
  const std::string subject = renaming_.In(step.subject);
  pl_key key = PL_NO_KEY;
  if (step.key) {
    if (MaybeFailure failure = InternKey(*step.key, key)) return Fail(*failure);
  }
  Outcome outcome;
  std::uint32_t yes = 0;
  switch (step.kind) {
    case scenario::QueryKind::kHasKernel:
    case scenario::QueryKind::kHasComputed: {
      const std::uint32_t which = step.kind == scenario::QueryKind::kHasKernel ? PL_QUERY_DIRECT : PL_QUERY_COMPUTED;
      if (MaybeFailure failure = PLUMBLINE_CALL(has_kernel, registry_, Borrow(subject), key, which, &yes)) {
        return Fail(*failure);
      }
      outcome.truth = yes != 0;
      return outcome;
    }
    case scenario::QueryKind::kHasFallback:
      if (MaybeFailure failure = PLUMBLINE_CALL(has_fallback, registry_, key, &yes)) return Fail(*failure);
      outcome.truth = yes != 0;
      return outcome;
    case scenario::QueryKind::kOperators:
      return QueryList(PL_LIST_ALL, PL_NO_KEY);
    case scenario::QueryKind::kDangling:
      return QueryList(PL_LIST_DANGLING, PL_NO_KEY);
    case scenario::QueryKind::kOperatorsAtKey:
      return QueryList(PL_LIST_AT_KEY, key);
    case scenario::QueryKind::kSchema: {
      std::vector<std::string> texts;
      const pl_string_sink sink{&texts, [](void* context, pl_string text) {
                                  static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                                }};
      if (MaybeFailure failure = PLUMBLINE_CALL(schema_of, registry_, Borrow(subject), sink)) return Fail(*failure);
      for (std::string& text : texts) text = renaming_.Out(text);
      outcome.names = std::move(texts);
      return outcome;
    }
    case scenario::QueryKind::kTable:
      return QueryTable(subject);
    case scenario::QueryKind::kCounters: {
      pl_operator* op = nullptr;
      if (MaybeFailure failure = PLUMBLINE_CALL(find_operator, registry_, Borrow(subject), &op)) return Fail(*failure);
      pl_cache_counters now{};
      now.struct_size = sizeof(now);
      const MaybeFailure failure = PLUMBLINE_CALL(cache_counters, registry_, op, &now);
      adapter_.operator_release(op);
      if (failure) return Fail(*failure);
      const pl_cache_counters before = std::exchange(counted_[subject], now);
      outcome.counters = scenario::CacheCounters{.hits = now.hits - before.hits,
                                                 .misses = now.misses - before.misses,
                                                 .invalidations = now.invalidations - before.invalidations};
      return outcome;
    }
    case scenario::QueryKind::kDestroyed: {
      std::int64_t count = 0;
      for (const auto& probe : probes_) count += probe->kernel == step.subject ? probe->destroyed.load() : 0;
      outcome.count = count;
      return outcome;
    }
    case scenario::QueryKind::kHeard: {
      const auto at = listeners_.find(step.subject);
      if (at == listeners_.end()) return Fail(NotFound("listener", step.subject));
      outcome.names = std::exchange(at->second->events, {});
      return outcome;
    }
  }
  return outcome;
}

}  // namespace plumbline::harness
