// What registering and releasing do: any order gives the same, a refusal leaves no trace, every context is destroyed
// once.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "conformance/suites/properties_check.h"

namespace plumbline::suites {
namespace {

using harness::Tier;
using scenario::KernelUse;
using scenario::LibraryKind;
using scenario::QueryKind;
using Operator = Writer::Operator;
using What = Writer::Handle::What;

// ---- order ----

// One registration of a set whose order is tried: a kernel at a key, or the definition.
struct Item {
  bool definition = false;
  std::optional<std::string> key;
  bool fallthrough = false;
  bool typed = false;
};

// How many, if all their orders are to be tried.
int FewItems(Writer& w) { return w.draw.OneIn(4) ? 2 : w.draw.Count(3, 4); }

// Half of the time the definition is one of them; else the operator is defined before.
std::vector<Item> ChooseItems(Writer& w, int count) {
  // Mostly around one backend: then the rules that set its kernels against the composites all have a say.
  if (!w.draw.OneIn(3)) w.Narrow();
  std::vector<Item> items;
  if (w.draw.Coin()) items.push_back({.definition = true, .key = std::nullopt});
  while (static_cast<int>(items.size()) < count) {
    items.push_back({.definition = false,
                     .key = w.draw.OneIn(10) ? std::nullopt : std::optional(w.ground.KernelKey(w.draw)),
                     .fallthrough = w.draw.OneIn(5),
                     .typed = w.Claims(PL_CAPABILITY(TYPED)) && w.draw.OneIn(4)});
  }
  return items;
}

bool DefinesItself(const std::vector<Item>& items) {
  return std::any_of(items.begin(), items.end(), [](const Item& item) { return item.definition; });
}

std::string Register(Writer& w, Operator& op, const Item& item) {
  if (item.definition) return w.Define(op);
  KernelUse use = item.fallthrough ? Writer::Fallthrough() : w.NewBoxedKernel();
  if (item.typed && !item.fallthrough) use.signature = op.entry->name;
  return w.Impl(op, item.key, std::move(use));
}

std::vector<std::vector<std::size_t>> Permutations(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::vector<std::vector<std::size_t>> all;
  do {
    all.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

// A set of two to four registrations, each permutation on an operator of its own. The calls after them are the same.
void EveryOrderOfRegistration(Writer& w) {
  const std::vector<Item> items = ChooseItems(w, FewItems(w));
  const std::string entry = w.draw.OneIn(3) ? "tensor_tensor" : "tensor";
  for (const std::vector<std::size_t>& order : Permutations(items.size())) {
    Operator& op = w.NewOperator(entry);
    if (!DefinesItself(items)) w.Define(op);
    for (const std::size_t i : order) Register(w, op, items[i]);
    w.Probe(op);
  }
}

PL_CASE("registration", "every-order", Tier::kQuick,
        PL_CLAUSES("REG-008", "REG-018", "REG-019", "REG-020", "REG-021", "REG-022", "REG-023", "RES-039", "RES-043",
                   "RES-055"),
        kUsual) {
  CheckScenarios(ctx, EveryOrderOfRegistration);
}

// The same for releases: registered in one order, released in each, with calls after each release.
void EveryOrderOfRelease(Writer& w) {
  const std::vector<Item> items = ChooseItems(w, FewItems(w));
  if (w.probes.size() > 2) w.probes.resize(2);
  for (const std::vector<std::size_t>& order : Permutations(items.size())) {
    Operator& op = w.NewOperator("tensor");
    if (!DefinesItself(items)) w.Define(op);
    std::vector<std::string> handles;
    for (const Item& item : items) handles.push_back(Register(w, op, item));
    for (const std::size_t i : order) {
      w.Release(handles[i]);
      w.Probe(op);
    }
  }
}

PL_CASE("registration", "every-order-of-release", Tier::kQuick,
        PL_CLAUSES("REG-010", "REG-011", "REG-018", "REG-019", "REG-020", "REG-021", "REG-022", "REG-023", "REG-025",
                   "REG-026", "REG-027", "REG-028", "REG-029", "REG-068"),
        kUsual) {
  CheckScenarios(ctx, EveryOrderOfRelease);
}

// Many registrations of one set, in two random orders on two operators; then both are taken down in random orders.
void LargeSets(Writer& w) {
  const std::vector<Item> items = ChooseItems(w, w.draw.Count(3, 14));
  for (int side = 0; side < 2; ++side) {
    Operator& op = w.NewOperator("tensor");
    if (!DefinesItself(items)) w.Define(op);
    std::vector<std::string> handles;
    for (const Item& item : w.draw.Shuffled(items)) {
      handles.push_back(Register(w, op, item));
      if (w.draw.OneIn(3)) w.Probe(op);
    }
    w.Probe(op);
    for (const std::string& handle : w.draw.Shuffled(handles)) {
      w.Release(handle);
      w.Probe(op);
    }
  }
}

PL_CASE("registration", "random-orders", Tier::kQuick,
        PL_CLAUSES("RES-004", "REG-010", "REG-023", "REG-025", "REG-026", "REG-027", "REG-028", "REG-029", "REG-067",
                   "REG-068"),
        kUsual) {
  CheckScenarios(ctx, LargeSets, 100);
}

// ---- refusal ----

std::string ChangedCase(std::string name) {
  if (!name.empty()) name.front() = name.front() == 'x' ? 'y' : 'x';
  return name;
}

// A step that has to be refused, or that the rest of the scenario makes so.
void Refused(Writer& w) {
  Operator& f = w.AnyOperator();
  std::vector<std::pair<Writer::Move, int>> moves = {
      {[&] {
         // A definition of the same name, alike or not. Its handle is none, so it must not be taken for the operator's.
         w.Add(scenario::Define{
             .schema = w.draw.Coin() ? SchemaOf(*f.entry, f.name) : f.name + "(int a, int b, int c) -> int",
             .library = "",
             .name = w.NewName("x")});
       },
       3},
      {[&] {
         static const std::vector<std::string> kMalformed = {"demo::broken(Tensor a -> Tensor",
                                                             "demo::broken(Foo a) -> Tensor",
                                                             "demo::broken",
                                                             "(Tensor a) -> Tensor",
                                                             "demo::broken.default(Tensor a) -> Tensor",
                                                             "demo::broken.__x(Tensor a) -> Tensor"};
         w.Add(scenario::Define{.schema = w.draw.Of(kMalformed), .library = "", .name = w.NewName("x")});
         w.CallWith({"demo::broken", f.entry, ""}, w.draw.Of(w.probes));
       },
       2},
      {[&] { w.Impl(f, ChangedCase(w.draw.Of(w.ground.runtime())), w.NewKernel(f)); }, 2},
      {[&] {
         // A schema that no kernel of the catalogue's other shapes fits.
         KernelUse use = w.NewBoxedKernel();
         static const std::vector<std::string> kOther = {"tensor8", "tensor_str", "tensor_nothing", "tensor_float",
                                                         "int_to_int"};
         use.signature = w.draw.Of(kOther);
         w.Impl(f, w.ground.KernelKey(w.draw), std::move(use));
         const KernelUse refused = std::get<scenario::Impl>(w.last().action).kernel;
         w.Query(QueryKind::kDestroyed, refused.kernel);
         w.live.pop_back();
       },
       w.Claims(PL_CAPABILITY(TYPED) | PL_CAPABILITY(SIGNATURE_CHECK)) ? 4 : 0},
      {[&] {
         const std::string key = w.draw.Of(w.ground.runtime());
         w.Fallback(key, w.NewBoxedKernel());
         w.Fallback(key, w.NewBoxedKernel());
         w.live.pop_back();
       },
       w.Claims(PL_CAPABILITY(FALLBACKS)) ? 2 : 0},
      {[&] {
         const std::string key = w.draw.Of(w.ground.runtime());
         w.Chain(key, key);
         w.live.pop_back();
         w.Chain(w.draw.Of(w.ground.aliases), key);
         w.live.pop_back();
       },
       w.Claims(PL_CAPABILITY(CHAINS)) ? 1 : 0}};
  w.draw.Weighted(moves)();
}

void Refusals(Writer& w) {
  Operator& first = w.NewOperator("");
  w.Define(first);
  w.Play({{[&] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.ground.KernelKey(w.draw), w.NewKernel(op));
           },
           4},
          {[&] {
             Operator& op = w.AnyOperator();
             if (op.definition.empty()) w.Define(op);
           },
           1},
          {[&] { w.ReleaseAny(); }, 2},
          {[&] { Refused(w); }, 3}},
         w.draw.Count(2, 9), [&] { w.Probe(w.AnyOperator()); });
  Refused(w);
  w.Probe(first);
  w.QueryTable(first);
  for (int i = w.draw.Between(0, 3); i > 0; --i) {
    w.Impl(first, w.ground.KernelKey(w.draw), w.NewKernel(first));
    w.Probe(first);
    w.ReleaseAny();
    w.Probe(first);
  }
}

PL_CASE("registration", "refusals", Tier::kQuick,
        PL_CLAUSES("REG-003", "REG-004", "REG-005", "REG-035", "REG-036", "REG-037", "REG-050", "REG-051", "REG-052",
                   "REG-053", "REG-061", "CHAIN-004", "CHAIN-008", "KEY-001"),
        kUsual) {
  CheckScenarios(ctx, Refusals);
}

// ---- definitions and operators ----

void Definitions(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  Operator& overload = w.NewOperator("tensor_int");
  overload.name = f.name + ".other";
  if (!w.draw.OneIn(4)) w.Define(f);
  w.Play({{[&] {
             Operator& op = w.AnyOperator();
             if (op.definition.empty() || w.draw.OneIn(4)) w.Define(op);
           },
           4},
          {[&] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.ground.KernelKey(w.draw), w.NewKernel(op));
           },
           4},
          {[&] { w.ReleaseAnyOf(What::kDefinition); }, 2},
          {[&] { w.ReleaseAny(); }, 2}},
         w.draw.Count(2, 12), [&] { w.Probe(w.AnyOperator()); });
}

PL_CASE("registration", "definitions", Tier::kQuick,
        PL_CLAUSES("REG-001", "REG-002", "REG-004", "REG-008", "REG-010", "REG-011", "CACHE-008", "ERR-004", "ERR-005"),
        kUsual) {
  CheckScenarios(ctx, Definitions);
}

// Handles to operators, kept while definitions and kernels come and go. Calls go through those whose operator is there,
// or, where `stale`, through those whose operator went.
void OperatorHandles(Writer& w, bool stale) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  std::vector<std::string> found, gone;
  w.Play({{[&] {
             found.push_back(w.NewName("h"));
             w.Add(scenario::Find{.operator_name = f.name, .name = found.back()});
           },
           3},
          {[&] {
             if (f.definition.empty()) w.Define(f);
           },
           2},
          {[&] { w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f)); }, 3},
          {[&] {
             w.ReleaseAny();
             const auto of_f = [&](const Writer::Handle& handle) { return handle.operator_name == f.name; };
             if (std::none_of(w.live.begin(), w.live.end(), of_f)) {
               gone.insert(gone.end(), found.begin(), found.end());
               found.clear();
             }
           },
           3}},
         w.draw.Count(2, 10), [&] {
           w.Probe(f);
           const std::vector<std::string>& handles = stale ? gone : found;
           if (handles.empty()) return;
           w.CallWith(f, w.draw.Of(w.probes));
           auto& call = std::get<scenario::Call>(w.last().action);
           call.operator_name.clear();
           call.handle = w.draw.Of(handles);
         });
}

PL_CASE("registration", "handles", Tier::kStandard, PL_CLAUSES("CALL-036", "CACHE-009"), kUsual) {
  CheckScenarios(
      ctx, [](Writer& w) { OperatorHandles(w, /*stale=*/false); }, 100);
}

PL_CASE("registration", "stale-handles", Tier::kStandard, PL_CLAUSES("REG-012", "ERR-007"), kUsual) {
  CheckScenarios(
      ctx, [](Writer& w) { OperatorHandles(w, /*stale=*/true); }, 100);
}

// ---- typed kernels ----

// An operator whose schema the catalogue knows, or knows almost.
struct Shape {
  std::string schema;                   // after the name
  std::vector<std::string> signatures;  // that fit, and some that do not
};

const std::vector<Shape>& Shapes() {
  static const std::vector<Shape> kShapes = {
      {"(Tensor a) -> Tensor", {"tensor", "tensor", "tensor_nothing", "tensor_tensor"}},
      {"(Tensor a, Tensor b) -> Tensor", {"tensor_tensor", "tensor_tensor", "inplace", "tensor_tensor_int"}},
      {"(Tensor(a!) self, Tensor b) -> Tensor(a!)", {"inplace", "inplace", "tensor_tensor"}},
      {"(Tensor a, SymInt b) -> Tensor", {"tensor_symint", "tensor_int", "tensor_float"}},
      {"(Tensor a, int b=3) -> Tensor", {"tensor_int", "tensor_int", "tensor_symint", "tensor_int_two"}},
      {"(Tensor a, int b) -> (Tensor, int)", {"tensor_int_two", "tensor_int"}},
      {"(Tensor a, Tensor? b=None) -> Tensor", {"tensor_optional", "tensor_optional", "tensor_tensor"}},
      {"(Tensor[] a) -> Tensor", {"tensor_list", "tensor_list", "tensor"}},
      {"(Tensor a, SymInt[2] size) -> Tensor", {"tensor_symint_list", "tensor_list"}},
      {"(Tensor a, *, Scalar b=1) -> Tensor", {"tensor_scalar", "tensor_float", "tensor_int"}},
  };
  return kShapes;
}

void TypedKernels(Writer& w) {
  const Shape& shape = w.draw.Of(Shapes());
  Operator& f = w.NewOperator(shape.signatures.front());
  w.Play({{[&] {
             f.definition = w.NewName("d");
             w.live.push_back({What::kDefinition, f.definition, f.name, "", ""});
             w.Add(scenario::Define{.schema = f.name + shape.schema, .library = "", .name = f.definition});
           },
           2},
          {[&] {
             KernelUse use = w.NewBoxedKernel();
             use.signature = w.draw.Of(shape.signatures);
             w.Impl(f, w.draw.Of(w.ground.dense), std::move(use));
           },
           6},
          {[&] { w.Impl(f, w.draw.Of(w.ground.dense), w.NewBoxedKernel()); }, 1},
          {[&] { w.ReleaseAny(); }, 3}},
         w.draw.Count(2, 9), [&] {
           scenario::Call call{.signature = "",
                               .operator_name = f.name,
                               .handle = "",
                               .arguments = w.ArgumentsWith(f, {w.draw.Of(w.ground.dense)})};
           if (call.arguments.size() > 1 && shape.schema.find("SymInt[2]") != std::string::npos) {
             call.arguments[1] = scenario::Value::List({scenario::Value::Int(4), scenario::Value::Int(5)});
           }
           w.Add(std::move(call));
         });
}

PL_CASE("registration", "typed-kernels", Tier::kQuick,
        PL_CLAUSES("REG-035", "REG-036", "REG-037", "REG-038", "REG-039", "REG-040", "REG-041", "REG-042", "REG-043",
                   "REG-044", "REG-050", "REG-051"),
        kUsual | PL_CAPABILITY(TYPED) | PL_CAPABILITY(SIGNATURE_CHECK)) {
  CheckScenarios(ctx, TypedKernels);
}

// ---- libraries ----

// Libraries of two namespaces opened and closed in any order, with what is made in them.
void PlayLibraries(Writer& w, bool release_inside) {
  Operator& f = w.NewOperator("tensor");
  Operator& g = w.NewOperator("tensor");
  g.name = "other::g";
  const auto any_library = [&] { return w.draw.Below(static_cast<int>(w.open_libraries.size())); };
  const auto short_name = [&](const std::string& name) {
    return w.draw.Coin() ? name : name.substr(name.find("::") + 2);
  };
  const auto open = [&] {
    const LibraryKind kind =
        w.draw.Weighted<LibraryKind>({{LibraryKind::kDef, 2}, {LibraryKind::kFragment, 2}, {LibraryKind::kImpl, 3}});
    const bool keyed = kind == LibraryKind::kImpl && w.draw.Coin();
    w.OpenLibrary(kind, w.draw.OneIn(4) ? "other" : "demo",
                  keyed ? std::optional(w.ground.KernelKey(w.draw)) : std::nullopt);
  };
  open();
  w.Play({{open, 2},
          {[&] {
             Operator& op = w.AnyOperator();
             if (w.open_libraries.empty() || w.draw.OneIn(5)) {
               w.Define(op);
             } else {
               const std::string full = op.name;
               op.name = short_name(full);
               w.Define(op, w.open_libraries[static_cast<std::size_t>(any_library())].name);
               op.name = full;
             }
           },
           4},
          {[&] {
             const Operator& op = w.AnyOperator();
             if (w.open_libraries.empty() || w.draw.OneIn(5)) {
               w.Impl(op, w.ground.KernelKey(w.draw), w.NewKernel(op));
               return;
             }
             const Writer::Library& library = w.open_libraries[static_cast<std::size_t>(any_library())];
             Operator named = op;
             named.name = short_name(op.name);
             std::optional<std::string> key;
             if (!library.key || w.draw.OneIn(4))
               key = w.draw.OneIn(6) ? std::nullopt : std::optional(w.ground.KernelKey(w.draw));
             w.Impl(named, key, w.NewKernel(op), library.name);
           },
           6},
          {[&] {
             if (!w.open_libraries.empty()) w.CloseLibrary(static_cast<std::size_t>(any_library()));
           },
           2},
          {[&] {
             std::vector<std::string> names;
             for (const Writer::Handle& handle : w.live) {
               if (release_inside || handle.library.empty()) names.push_back(handle.name);
             }
             if (!names.empty()) w.Release(w.draw.Of(names));
           },
           2}},
         w.draw.Count(2, 12), [&] { w.Probe(w.AnyOperator()); });
  while (!w.open_libraries.empty() && w.draw.Below(4) > 0) {
    w.CloseLibrary(static_cast<std::size_t>(any_library()));
    w.Probe(f);
  }
}

PL_CASE("registration", "libraries", Tier::kQuick,
        PL_CLAUSES("REG-070", "REG-071", "REG-072", "REG-073", "REG-074", "REG-075", "REG-076", "REG-080"),
        kUsual | PL_CAPABILITY(LIBRARIES)) {
  CheckScenarios(ctx, [](Writer& w) { PlayLibraries(w, /*release_inside=*/false); });
}

PL_CASE("registration", "handles-in-libraries", Tier::kStandard, PL_CLAUSES("REG-080", "REG-081", "REG-082"),
        kUsual | PL_CAPABILITY(LIBRARIES)) {
  CheckScenarios(
      ctx, [](Writer& w) { PlayLibraries(w, /*release_inside=*/true); }, 100);
}

// Fallbacks in libraries: only one sort of library takes them.
void LibraryFallbacks(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  const std::vector<std::string> keys = w.draw.Some(w.ground.runtime(), 2);
  w.probes.clear();
  for (const std::string& key : keys) w.probes.push_back({key});
  w.Play({{[&] {
             const bool wildcard = !w.draw.OneIn(6);
             const bool impl = !w.draw.OneIn(6);
             const bool keyed = impl && !w.draw.OneIn(6);
             // A DEF of the wildcard namespace is undefined in PyTorch: REG-077-wildcard.
             w.OpenLibrary(impl                         ? LibraryKind::kImpl
                           : w.draw.Coin() && !wildcard ? LibraryKind::kDef
                                                        : LibraryKind::kFragment,
                           wildcard ? "_" : "demo", keyed ? std::optional(w.draw.Of(keys)) : std::nullopt);
           },
           3},
          {[&] {
             if (w.open_libraries.empty()) return;
             const Writer::Library& library = w.draw.Of(w.open_libraries);
             w.Fallback(w.draw.OneIn(3) ? std::optional(w.draw.Of(keys)) : std::nullopt,
                        w.draw.OneIn(4) ? Writer::Fallthrough() : w.NewBoxedKernel(), library.name);
           },
           5},
          {[&] {
             if (w.open_libraries.empty()) return;
             w.CloseLibrary(static_cast<std::size_t>(w.draw.Below(static_cast<int>(w.open_libraries.size()))));
           },
           2}},
         w.draw.Count(2, 10), [&] { w.Probe(f); });
}

PL_CASE("registration", "fallbacks-in-libraries", Tier::kQuick, PL_CLAUSES("REG-077", "REG-079", "REG-080"),
        kUsual | PL_CAPABILITY(LIBRARIES) | PL_CAPABILITY(FALLBACKS)) {
  CheckScenarios(ctx, LibraryFallbacks, 100);
}

// ---- what the host sees ----

// Every kernel's context is counted after every step, also of kernels that were refused or shadowed.
void Contexts(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  std::vector<std::string> kernels;
  const auto note = [&] {
    if (const auto* impl = std::get_if<scenario::Impl>(&w.last().action)) kernels.push_back(impl->kernel.kernel);
    if (const auto* made = std::get_if<scenario::Fallback>(&w.last().action)) kernels.push_back(made->kernel.kernel);
  };
  w.Play({{[&] { w.Define(f); }, 1},
          {[&] {
             w.Impl(f, w.ground.KernelKey(w.draw), w.NewKernel(f));
             note();
           },
           5},
          {[&] {
             w.Fallback(w.draw.Of(w.ground.runtime()), w.NewBoxedKernel());
             note();
           },
           w.Claims(PL_CAPABILITY(FALLBACKS)) ? 2 : 0},
          {[&] { w.ReleaseAny(); }, 5},
          {[&] { w.Add(scenario::Drain{}); }, w.Claims(PL_CAPABILITY(DRAIN)) ? 1 : 0}},
         w.draw.Count(2, 12), [&] {
           for (const std::string& kernel : w.draw.Some(kernels, 3)) w.Query(QueryKind::kDestroyed, kernel);
           if (w.draw.OneIn(3)) w.Probe(f);
         });
}

PL_CASE("registration", "contexts", Tier::kQuick, PL_CLAUSES("REG-030", "REG-053", "REG-027"), kUsual) {
  CheckScenarios(ctx, Contexts);
}

void Listeners(Writer& w) {
  w.NewOperator("tensor");
  w.NewOperator("tensor");
  std::vector<std::string> listeners;
  w.Play({{[&] { listeners.push_back(w.Listen()); }, 2},
          {[&] { w.Define(w.AnyOperator()); }, 4},
          {[&] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.ground.KernelKey(w.draw), w.NewKernel(op));
           },
           2},
          {[&] { w.ReleaseAny(); }, 3},
          {[&] {
             if (!listeners.empty()) w.Query(QueryKind::kHeard, w.draw.Of(listeners));
           },
           3}},
         w.draw.Count(2, 14));
  for (const std::string& listener : listeners) w.Query(QueryKind::kHeard, listener);
}

PL_CASE("registration", "listeners", Tier::kQuick, PL_CLAUSES("REG-085", "REG-086", "REG-087", "REG-088"),
        kUsual | PL_CAPABILITY(LISTENERS)) {
  CheckScenarios(ctx, Listeners);
}

// Few keys, so that kernels shadow each other; the harness compares every step's warning.
void Warnings(Writer& w) {
  Operator& f = w.NewOperator("tensor");
  w.Define(f);
  w.NewOperator("tensor");
  const std::vector<std::string> keys = {w.ground.KernelKey(w.draw), w.ground.KernelKey(w.draw)};
  w.Play({{[&] {
             const Operator& op = w.AnyOperator();
             w.Impl(op, w.draw.Of(keys), w.draw.OneIn(4) ? Writer::Fallthrough() : w.NewKernel(op));
           },
           3},
          {[&] { w.ReleaseAny(); }, 1}},
         w.draw.Count(1, 9));
}

PL_CASE("registration", "warnings", Tier::kQuick, PL_CLAUSES("REG-090", "REG-091"), kUsual | PL_CAPABILITY(WARNINGS)) {
  CheckScenarios(ctx, Warnings, 100);
}

}  // namespace
}  // namespace plumbline::suites
