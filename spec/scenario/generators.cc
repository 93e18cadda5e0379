#include "spec/scenario/generators.h"

#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::scenario {
namespace {

using rc::Gen;
namespace gen = rc::gen;

// Inside gen::exec only: draws one value.
template <class T>
T Draw(const Gen<T>& generator) {
  return *generator;
}

bool Coin() { return *gen::arbitrary<bool>(); }

int Below(int limit) { return *gen::inRange(0, limit); }

std::string AnyName() {
  return Draw(gen::element<std::string>("k1", "r2", "a", "kernel-3", "x_y", "on2", "call", "b.c"));
}

// What may need quotes: keywords, blanks, marks, no characters at all, every byte.
std::string AnyText() {
  if (Below(4) > 0) {
    return Draw(gen::element<std::string>("CPU", "demo::f", "demo::f.out", "AutogradCPU", "f", "_", "own"));
  }
  if (Coin())
    return Draw(gen::element<std::string>("", "in", "typed", "a b", "x:", "=>", "\"", "[", "#", "ok", "@h", "{}"));
  return Draw(gen::container<std::string>(gen::arbitrary<char>()));
}

std::vector<std::string> Some(std::string (*one)(), int limit) {
  std::vector<std::string> items;
  for (int i = Below(limit); i > 0; --i) items.push_back(one());
  return items;
}

std::optional<std::string> Maybe(std::string (*one)()) {
  return Coin() ? std::optional<std::string>(one()) : std::nullopt;
}

std::string MaybeName() { return Coin() ? AnyName() : ""; }

double AnyReal() {
  if (Coin()) return *gen::arbitrary<double>();
  return std::bit_cast<double>(*gen::arbitrary<std::uint64_t>());  // NaNs, infinities, subnormals
}

Value DrawValue(int depth) {
  switch (Below(depth > 0 ? 8 : 7)) {
    case 0:
      return Value::None();
    case 1:
      return Value::Undefined();
    case 2:
      return Value::Tensor(Some(AnyText, 4));
    case 3:
      return Value::Int(*gen::arbitrary<std::int64_t>());
    case 4:
      return Value::Float(AnyReal());
    case 5:
      return Value::Bool(Coin());
    case 6:
      return Value::String(Draw(gen::container<std::string>(gen::arbitrary<char>())));
    default: {
      std::vector<Value> items;
      for (int i = Below(4); i > 0; --i) items.push_back(DrawValue(depth - 1));
      return Value::List(std::move(items));
    }
  }
}

std::vector<Value> DrawValues() {
  std::vector<Value> values;
  for (int i = Below(4); i > 0; --i) values.push_back(DrawValue(2));
  return values;
}

std::string AnySignature() { return Draw(gen::elementOf(Signatures())); }

std::string AnySchema() {
  if (Coin()) return "demo::f(Tensor a, str b=\" in \") -> (Tensor, int)";
  if (Coin())
    return Draw(gen::element<std::string>("f(Tensor a", "f() -> () in x", "'", " f() -> ()", "f  as ", "a;b", "#"));
  return AnyText();
}

KernelUse AnyUse() {
  KernelUse use;
  use.fallthrough = Below(3) == 0;
  if (use.fallthrough) return use;
  use.kernel = AnyName();
  if (Coin()) use.signature = AnySignature();
  return use;
}

Define AnyDefine() { return {.schema = AnySchema(), .library = MaybeName(), .name = MaybeName()}; }
Impl AnyImpl() {
  return {.operator_name = AnyText(),
          .key = Maybe(AnyText),
          .kernel = AnyUse(),
          .library = MaybeName(),
          .name = MaybeName()};
}
Fallback AnyFallback() {
  return {.key = Maybe(AnyText), .kernel = AnyUse(), .library = MaybeName(), .name = MaybeName()};
}

Query AnyQuery() {
  Query query;
  query.kind = static_cast<QueryKind>(Below(static_cast<int>(QueryKind::kHeard) + 1));
  switch (query.kind) {
    case QueryKind::kHasKernel:
    case QueryKind::kHasComputed:
      query.subject = AnyText();
      query.key = AnyText();
      break;
    case QueryKind::kHasFallback:
    case QueryKind::kOperatorsAtKey:
      query.key = AnyText();
      break;
    case QueryKind::kOperators:
    case QueryKind::kDangling:
      break;
    case QueryKind::kSchema:
    case QueryKind::kTable:
    case QueryKind::kCounters:
      query.subject = AnyText();
      break;
    case QueryKind::kDestroyed:
    case QueryKind::kHeard:
      query.subject = AnyName();
      break;
  }
  return query;
}

Call AnyCall() {
  Call call;
  if (Coin()) {
    call.form = CallForm::kTyped;
    call.signature = AnySignature();
  }
  if (Coin()) {
    call.handle = AnyName();
  } else {
    call.operator_name = AnyText();
  }
  call.arguments = DrawValues();
  return call;
}

Action AnyAction() {
  switch (Below(15)) {
    case 0:
      return Chain{.key = AnyText(), .served_by = AnyText(), .name = MaybeName()};
    case 1:
      return LibraryOpen{.name = AnyName(),
                         .kind = static_cast<LibraryKind>(Below(3)),
                         .name_space = AnyText(),
                         .key = Maybe(AnyText)};
    case 2:
      return LibraryClose{AnyName()};
    case 3:
      return AnyDefine();
    case 4:
      return AnyImpl();
    case 5:
      return AnyFallback();
    case 6:
      return Listen{AnyName()};
    case 7:
      return Release{AnyName()};
    case 8:
      return Drain{};
    case 9:
      return Find{.operator_name = AnyText(), .name = AnyName()};
    case 10:
      return AnyCall();
    case 11:
      return GuardEnter{.include = Coin(), .keys = Some(AnyText, 4), .name = AnyName()};
    case 12:
      return GuardLeave{AnyName()};
    case 13:
      return Flush{};
    default:
      return AnyQuery();
  }
}

TableRow AnyRow() {
  TableRow row;
  row.key = AnyText();
  row.rule = Draw(gen::elementOf(Rules()));
  row.fallthrough = Coin();
  row.registration = Draw(gen::element<std::string>("", "builtin", "r1", "r2"));
  return row;
}

Expectation AnyExpectation() {
  Expectation expected;
  switch (Below(8)) {
    case 0:
      expected.truth = Coin();
      return expected;
    case 1:
      expected.names = Some(AnyText, 4);
      return expected;
    case 2:
      expected.names = {Draw(gen::element<std::string>("f(Tensor a) -> Tensor", "+demo::f", "-a b"))};
      return expected;
    case 3:
      expected.table.emplace();
      for (int i = Below(8); i > 0; --i) expected.table->push_back(AnyRow());
      return expected;
    case 4:
      expected.counters = CacheCounters{*gen::arbitrary<std::uint64_t>(), *gen::arbitrary<std::uint64_t>(), 0};
      return expected;
    case 5:
      expected.count = *gen::arbitrary<std::int64_t>();
      return expected;
    default:
      break;
  }
  bool any = false;
  auto some = [&any] {
    bool yes = Coin();
    any |= yes;
    return yes;
  };
  if (some()) {
    expected.chain = std::vector<std::string>{AnyName()};
    if (Coin()) expected.chain->push_back(AnyName());
  }
  if (some()) expected.with = Some(AnyText, 3);
  if (some()) expected.sees = DrawValues();
  if (some()) {
    expected.returns = DrawValues();
    if (Coin()) expected.returns->push_back(Value::ArgumentOf(Below(5)));
  }
  if (some()) {
    expected.error = Coin() ? "any" : Draw(gen::elementOf(ErrorClasses()));
    if (Coin()) expected.says = AnyText();
  } else if (!any || Coin()) {
    expected.ok = true;
    if (Coin()) expected.warned = Coin();
  }
  return expected;
}

BodyItem AnyItem() {
  switch (Below(6)) {
    case 0:
      return BodyGuard{.include = Coin(), .keys = Some(AnyText, 4)};
    case 1: {
      BodyRedispatch redispatch;
      if (Coin()) {
        redispatch.below = AnyText();
      } else {
        redispatch.keys = Some(AnyText, 4);
      }
      redispatch.form = Coin() ? CallForm::kTyped : CallForm::kBoxed;
      return redispatch;
    }
    case 2: {
      BodyCall call;
      call.operator_name = AnyText();
      if (Coin()) call.arguments = DrawValues();
      if (Coin()) {
        call.form = CallForm::kTyped;
        call.signature = AnySignature();
      }
      call.caught = Coin();
      return call;
    }
    case 3:
      return BodyThrow{AnyText()};
    case 4: {
      BodyReturn result;
      for (const Value& value : DrawValues()) result.values.emplace_back(value);
      if (Coin()) result.values.emplace_back(BodyReturn::Argument{Below(5)});
      if (Coin()) result.values.emplace_back(BodyReturn::Inner{});
      return result;
    }
    default: {
      Step step;
      switch (Below(4)) {
        case 0:
          step.action = AnyDefine();
          break;
        case 1:
          step.action = AnyImpl();
          break;
        case 2:
          step.action = AnyFallback();
          break;
        default:
          step.action = Release{AnyName()};
          break;
      }
      BodyStep body;
      body.step.push_back(std::move(step));
      return body;
    }
  }
}

std::string AnyComment(bool blank_lines) {
  std::string text = "# a comment => error {\"";
  for (int i = Below(3); i > 0; --i) text += blank_lines && Coin() ? "\n" : "\n# more";
  return text;
}

Step AnyStep() {
  Step step;
  step.action = AnyAction();
  step.thread = Below(4) == 0 ? AnyName() : "";
  if (Coin()) step.expected = AnyExpectation();
  return step;
}

Scenario DrawScenario() {
  Scenario scenario;
  scenario.release = Coin() ? "pytorch-1.13" : AnyText();
  if (Coin()) scenario.title = "a title # with \" and => in it";
  scenario.clauses = Some(AnyText, 3);
  scenario.open = static_cast<OpenMode>(Below(3));
  for (int i = Below(3); i > 0; --i) {
    KeyDeclaration declared{
        .kind = static_cast<KeyDeclaration::Kind>(Below(3)), .name = AnyText(), .after = AnyText(), .autograd = ""};
    if (declared.kind != KeyDeclaration::Kind::kMode) declared.autograd = AnyText();
    scenario.declared_keys.push_back(std::move(declared));
  }
  for (int i = Below(3); i > 0; --i) {
    KernelDefinition kernel;
    kernel.name = "k" + std::to_string(i);
    for (int j = Below(5); j > 0; --j) kernel.body.push_back(AnyItem());
    scenario.kernels.push_back(std::move(kernel));
  }
  for (int i = Below(8); i > 0; --i) scenario.steps.push_back(AnyStep());
  int end = static_cast<int>(scenario.steps.size());
  bool more_head = !scenario.title.empty() || !scenario.clauses.empty() || scenario.open != OpenMode::kAny ||
                   !scenario.declared_keys.empty() || !scenario.kernels.empty();
  if (more_head && Below(3) == 0) scenario.comments[-1] = AnyComment(false);
  for (int i = 0; i < end; ++i) {
    if (Below(4) == 0) scenario.comments[i] = Coin() ? "" : AnyComment(true);
  }
  if (Below(3) == 0) scenario.comments[end] = AnyComment(true) + "\n# the last";
  return scenario;
}

Outcome DrawOutcome() {
  Outcome outcome;
  outcome.error = Coin() ? "" : Draw(gen::elementOf(ErrorClasses()));
  outcome.message = AnyText();
  for (int i = Below(3); i > 0; --i) {
    outcome.runs.push_back({.kernel = AnyText(),
                            .operator_name = AnyText(),
                            .keys = Some(AnyText, 3),
                            .arguments = DrawValues(),
                            .depth = Below(4)});
  }
  outcome.returns = DrawValues();
  if (!outcome.returns.empty()) outcome.returns[0].argument = Below(3) - 1;
  outcome.warned = Coin();
  if (Coin()) outcome.truth = Coin();
  if (Coin()) outcome.names = Some(AnyText, 3);
  if (Coin()) {
    outcome.table.emplace();
    for (int i = Below(4); i > 0; --i) {
      outcome.table->push_back(AnyRow());
      outcome.table->back().key = "Key" + std::to_string(i);  // a slot is told once
    }
  }
  if (Coin()) outcome.counters = CacheCounters{*gen::arbitrary<std::uint64_t>(), 0, *gen::arbitrary<std::uint64_t>()};
  if (Coin()) outcome.count = *gen::arbitrary<std::int64_t>();
  return outcome;
}

}  // namespace

Gen<Value> AnyValue() {
  return gen::exec([] { return DrawValue(2); });
}
Gen<Scenario> AnyScenario() { return gen::exec(DrawScenario); }
Gen<Outcome> AnyOutcome() { return gen::exec(DrawOutcome); }

}  // namespace plumbline::scenario
