// Writes one scenario step by step, and remembers what it made: the operators, what can be released, which library is
// open. Chapters' properties choose the moves; this knows how each is written on the backend at hand.
//
//   Writer writer(world, draw);
//   Writer::Operator& f = writer.NewOperator("tensor");
//   writer.Define(f);
//   writer.Impl(f, writer.ground.KernelKey(draw), writer.NewKernel(f));
//   writer.Probe(f);                    // calls f with each of a few key sets of the scenario
//   writer.ReleaseAny();
//   return writer.Take();
//
// What it remembers is what the steps would make if none were refused; the model says what they really do. Belongs to
// one thread; borrows world and draw.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WRITER_H_
#define PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WRITER_H_

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "conformance/suites/generate_values.h"
#include "conformance/suites/generate_world.h"
#include "spec/abi/abi.h"
#include "spec/scenario/scenario.h"

namespace plumbline::suites {

using KeySetNames = std::vector<std::string>;

class Writer {
 public:
  struct Operator {
    std::string name;  // "demo::f"
    const CatalogueEntry* entry = nullptr;
    std::string definition;  // handle of the newest; "" if it has none
  };
  struct Handle {
    enum class What { kDefinition, kKernel, kFallback, kChain, kListener } what;
    std::string name;
    std::string operator_name;  // kDefinition, kKernel
    std::string library;
    std::string kernel;  // "" for a fallthrough
  };
  struct Library {
    std::string name;
    scenario::LibraryKind kind;
    std::string name_space;
    std::optional<std::string> key;
  };

  Writer(const World& world, Draw& draw);

  const World& world;
  Draw& draw;
  Ground ground;
  std::deque<Operator> operators;  // stay where they are
  std::vector<Handle> live;
  std::vector<std::string> released;
  std::vector<Library> open_libraries;
  std::vector<KeySetNames> probes;

  // Plays with one backend key only, its autograd key and most aliases, and calls these.
  void Narrow();

  bool Claims(std::uint64_t bits) const { return world.Claims(bits); }
  std::string NewName(const std::string& prefix);  // "k1", "r2"
  // The name that NewName will give after `skip` others.
  std::string NameAfter(int skip, const std::string& prefix) const {
    return prefix + std::to_string(names_ + 1 + skip);
  }
  scenario::Step& Add(scenario::Action action, const std::string& thread = "");

  // ---- registering; each returns the handle that it gave ----
  Operator& NewOperator(const std::string& entry);  // no step; "" chooses one that a probe can call
  Operator& AnyOperator() {
    return operators[static_cast<std::size_t>(draw.Below(static_cast<int>(operators.size())))];
  }
  std::string Define(Operator& op, const std::string& library = "");
  std::string Impl(const Operator& op, std::optional<std::string> key, scenario::KernelUse use,
                   const std::string& library = "");
  std::string Fallback(std::optional<std::string> key, scenario::KernelUse use, const std::string& library = "");
  std::string Chain(const std::string& key, const std::string& served_by);
  std::string Listen();
  Library& OpenLibrary(scenario::LibraryKind kind, const std::string& name_space, std::optional<std::string> key);
  void CloseLibrary(std::size_t index);
  // A kernel of a new name, boxed or typed as the backend can; `body` may be empty.
  scenario::KernelUse NewKernel(const Operator& op, std::vector<scenario::BodyItem> body = {});
  scenario::KernelUse NewBoxedKernel(std::vector<scenario::BodyItem> body = {});
  static scenario::KernelUse Fallthrough();

  void Release(const std::string& handle);
  bool ReleaseAny();  // false: nothing to release
  bool ReleaseAnyOf(Handle::What what);

  // ---- calling ----
  void Call(const Operator& op, std::vector<scenario::Value> arguments, const std::string& thread = "");
  // With these keys on the first argument that takes a tensor; the others bring none.
  void CallWith(const Operator& op, const KeySetNames& keys, const std::string& thread = "");
  std::vector<scenario::Value> ArgumentsWith(const Operator& op, const KeySetNames& keys) const;
  // With tensors of the ground in every place.
  void CallAny(const Operator& op, const std::string& thread = "");
  void Probe(const Operator& op);
  void Query(scenario::QueryKind kind, const std::string& subject, std::optional<std::string> key = std::nullopt);
  void QueryTable(const Operator& op);  // where introspection is claimed

  // Repeats one of the moves, by weight, `count` times.
  using Move = std::function<void()>;
  void Play(const std::vector<std::pair<Move, int>>& moves, int count, const Move& after_each = {});

  scenario::Step& last() { return scenario_.steps.back(); }
  scenario::Scenario Take() { return std::move(scenario_); }

 private:
  scenario::Scenario scenario_;
  int names_ = 0;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WRITER_H_
