#include "conformance/suites/generate_writer.h"

#include <algorithm>

namespace plumbline::suites {
namespace {

using scenario::KernelUse;
using scenario::Value;

// The key sets that a scenario calls with over and over, so that a change shows.
std::vector<KeySetNames> ChooseProbes(const World& world, const Ground& ground, Draw& draw) {
  std::vector<KeySetNames> all = {{}};
  for (const std::string& key : ground.backends()) {
    all.push_back({key});
    all.push_back({key, world.AutogradOf(key)});
    all.push_back({key, world.AutogradOf(key)});
  }
  for (const std::string& key : ground.autograd) all.push_back({key});
  for (const std::string& mode : ground.modes) all.push_back({draw.Of(ground.dense), mode});
  all.push_back(ground.AnyKeys(draw, 3));
  return draw.Some(std::move(all), draw.Between(2, 4));
}

}  // namespace

Writer::Writer(const World& world_in, Draw& draw_in)
    : world(world_in), draw(draw_in), ground(ChooseGround(world, draw)), probes(ChooseProbes(world, ground, draw)) {
  scenario_.release = world.release();
  scenario_.declared_keys = world.declared();
}

void Writer::Narrow() {
  const std::string key = ground.others.empty() || draw.OneIn(3) ? draw.Of(ground.dense) : draw.Of(ground.others);
  const std::string autograd = world.AutogradOf(key);
  ground.dense = {key};
  ground.others.clear();
  ground.autograd = {autograd};
  ground.modes.clear();
  ground.aliases = {"CompositeImplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd"};
  if (draw.OneIn(3)) ground.aliases.push_back(draw.Of(world.aliases()));
  probes = {{key}, {key, autograd}, {autograd}, {}};
}

std::string Writer::NewName(const std::string& prefix) { return prefix + std::to_string(++names_); }

scenario::Step& Writer::Add(scenario::Action action, const std::string& thread) {
  scenario_.steps.push_back({.action = std::move(action), .thread = thread, .expected = std::nullopt});
  return scenario_.steps.back();
}

Writer::Operator& Writer::NewOperator(const std::string& entry) {
  static const std::vector<std::pair<std::string, int>> kUsual = {
      {"tensor", 6}, {"tensor_tensor", 2}, {"tensor_optional", 1}, {"tensor_list", 1}, {"tensor_int", 1}};
  const std::string name = "demo::f" + (operators.empty() ? "" : std::to_string(operators.size()));
  return operators.emplace_back(
      Operator{name, &CatalogueEntryOf(entry.empty() ? draw.Weighted(kUsual) : entry), /*definition=*/""});
}

std::string Writer::Define(Operator& op, const std::string& library) {
  op.definition = NewName("d");
  Add(scenario::Define{.schema = SchemaOf(*op.entry, op.name), .library = library, .name = op.definition});
  live.push_back({Handle::What::kDefinition, op.definition, op.name, library, ""});
  return op.definition;
}

std::string Writer::Impl(const Operator& op, std::optional<std::string> key, KernelUse use,
                         const std::string& library) {
  const std::string name = NewName("r");
  live.push_back({Handle::What::kKernel, name, op.name, library, use.kernel});
  Add(scenario::Impl{
      .operator_name = op.name, .key = std::move(key), .kernel = std::move(use), .library = library, .name = name});
  return name;
}

std::string Writer::Fallback(std::optional<std::string> key, KernelUse use, const std::string& library) {
  const std::string name = NewName("b");
  live.push_back({Handle::What::kFallback, name, "", library, use.kernel});
  Add(scenario::Fallback{.key = std::move(key), .kernel = std::move(use), .library = library, .name = name});
  return name;
}

std::string Writer::Chain(const std::string& key, const std::string& served_by) {
  const std::string name = NewName("c");
  live.push_back({Handle::What::kChain, name, "", "", ""});
  Add(scenario::Chain{.key = key, .served_by = served_by, .name = name});
  return name;
}

std::string Writer::Listen() {
  const std::string name = NewName("l");
  live.push_back({Handle::What::kListener, name, "", "", ""});
  Add(scenario::Listen{.name = name});
  return name;
}

Writer::Library& Writer::OpenLibrary(scenario::LibraryKind kind, const std::string& name_space,
                                     std::optional<std::string> key) {
  open_libraries.push_back({NewName("lib"), kind, name_space, key});
  Add(scenario::LibraryOpen{
      .name = open_libraries.back().name, .kind = kind, .name_space = name_space, .key = std::move(key)});
  return open_libraries.back();
}

void Writer::CloseLibrary(std::size_t index) {
  const std::string name = open_libraries[index].name;
  Add(scenario::LibraryClose{.name = name});
  open_libraries.erase(open_libraries.begin() + static_cast<std::ptrdiff_t>(index));
  std::erase_if(live, [&](const Handle& handle) { return handle.library == name; });
}

KernelUse Writer::NewKernel(const Operator& op, std::vector<scenario::BodyItem> body) {
  KernelUse use = NewBoxedKernel(std::move(body));
  const bool boxed = Claims(PL_CAPABILITY(BOXED));
  if (Claims(PL_CAPABILITY(TYPED)) && (!boxed || draw.OneIn(4))) use.signature = op.entry->name;
  return use;
}

KernelUse Writer::NewBoxedKernel(std::vector<scenario::BodyItem> body) {
  KernelUse use;
  use.kernel = NewName("k");
  if (!body.empty()) scenario_.kernels.push_back({.name = use.kernel, .body = std::move(body)});
  return use;
}

KernelUse Writer::Fallthrough() {
  KernelUse use;
  use.fallthrough = true;
  return use;
}

void Writer::Release(const std::string& handle) {
  Add(scenario::Release{.name = handle});
  released.push_back(handle);
  std::erase_if(live, [&](const Handle& one) { return one.name == handle; });
  for (Operator& op : operators) {
    if (op.definition == handle) op.definition.clear();
  }
}

bool Writer::ReleaseAny() {
  if (live.empty()) return false;
  Release(std::string(draw.Of(live).name));
  return true;
}

bool Writer::ReleaseAnyOf(Handle::What what) {
  std::vector<std::string> names;
  for (const Handle& handle : live) {
    if (handle.what == what) names.push_back(handle.name);
  }
  if (names.empty()) return false;
  Release(draw.Of(names));
  return true;
}

void Writer::Call(const Operator& op, std::vector<Value> arguments, const std::string& thread) {
  scenario::Call call{.signature = "", .operator_name = op.name, .handle = "", .arguments = std::move(arguments)};
  if (Claims(PL_CAPABILITY(TYPED)) && (!Claims(PL_CAPABILITY(BOXED)) || draw.OneIn(4))) {
    call.form = scenario::CallForm::kTyped;
    call.signature = op.entry->name;
  }
  Add(std::move(call), thread);
}

std::vector<Value> Writer::ArgumentsWith(const Operator& op, const KeySetNames& keys) const {
  std::vector<Value> arguments;
  bool given = false;
  for (const std::string& type : op.entry->arguments) {
    const KeySetNames here = given ? KeySetNames{} : keys;
    if (type == "Tensor" || type == "Tensor(a!)") {
      arguments.push_back(Value::Tensor(here));
    } else if (type == "Tensor?") {
      arguments.push_back(given ? Value::None() : Value::Tensor(here));
    } else if (type == "Tensor[]" || type == "Tensor?[]") {
      arguments.push_back(Value::List({Value::Tensor(here)}));
    } else {
      arguments.push_back(AnyValueOf(type, draw, [&] { return here; }));
      continue;
    }
    given = true;
  }
  return arguments;
}

void Writer::CallWith(const Operator& op, const KeySetNames& keys, const std::string& thread) {
  Call(op, ArgumentsWith(op, keys), thread);
}

void Writer::CallAny(const Operator& op, const std::string& thread) {
  Call(op, AnyValuesOf(*op.entry, draw, [this] { return ground.TensorKeys(world, draw); }), thread);
}

void Writer::Probe(const Operator& op) {
  for (const KeySetNames& keys : probes) CallWith(op, keys);
}

void Writer::Query(scenario::QueryKind kind, const std::string& subject, std::optional<std::string> key) {
  Add(scenario::Query{.kind = kind, .subject = subject, .key = std::move(key)});
}

void Writer::QueryTable(const Operator& op) {
  if (Claims(PL_CAPABILITY(INTROSPECTION))) Query(scenario::QueryKind::kTable, op.name);
}

void Writer::Play(const std::vector<std::pair<Move, int>>& moves, int count, const Move& after_each) {
  for (int i = 0; i < count; ++i) {
    draw.Weighted(moves)();
    if (after_each) after_each();
  }
}

}  // namespace plumbline::suites
