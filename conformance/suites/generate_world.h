// What a generator may use on a backend, and the few keys that one scenario plays with.
//
//   const auto world = std::make_shared<const World>(ctx.backend());
//   Ground ground = ChooseGround(*world, draw);   // two components, Sparse, AutogradOther, one mode ...
//
// Few keys, so that registrations meet: kernels of one backend at several functionalities, their autograd keys, the
// backends that share AutogradOther, the aliases over all of them. A World is immutable; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WORLD_H_
#define PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WORLD_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/suites/generate_draw.h"
#include "spec/model/key_table.h"

namespace plumbline::suites {

class World {
 public:
  // With keys that a scenario declares on top of those of the backend.
  explicit World(const harness::BackendFacts& facts, std::vector<scenario::KeyDeclaration> declared = {});

  bool Claims(std::uint64_t bits) const { return facts_.Claims(bits); }
  const std::string& release() const { return facts_.release; }
  const std::vector<scenario::KeyDeclaration>& declared() const { return declared_; }
  const model::KeyTable& keys() const { return keys_; }
  bool Has(const std::string& key) const { return keys_.Find(key).has_value(); }

  // ---- by sort; lowest first ----
  const std::vector<std::string>& components() const { return keys_.components(); }
  const std::vector<std::string>& backend_functionalities() const { return backend_functionalities_; }
  const std::vector<std::string>& plain_backends() const { return plain_backends_; }  // FPGA, ...
  // Modes that a tensor may bring although nothing is registered there: without a kernel of the release's own, which
  // may need more than a dispatcher.
  const std::vector<std::string>& modes() const { return modes_; }
  const std::vector<std::string>& aliases() const { return aliases_; }
  bool IsBuiltin(const std::string& key) const { return builtin_.contains(key); }

  // "SparseCUDA"; functionality "" is the dense one.
  std::string BackendKey(const std::string& functionality, const std::string& component) const;
  // The autograd key that tensors of a backend key carry.
  std::string AutogradOf(const std::string& backend_key) const;

 private:
  const harness::BackendFacts facts_;
  const std::vector<scenario::KeyDeclaration> declared_;
  const model::KeyTable keys_;
  std::map<std::string, bool> builtin_;  // key -> is a fallthrough
  std::map<std::string, std::string> prefixes_;
  std::vector<std::string> backend_functionalities_, plain_backends_, modes_, aliases_;
};

struct Ground {
  std::vector<std::string> components;
  std::vector<std::string> dense;     // their dense keys
  std::vector<std::string> others;    // other backend keys, of these components and plain ones
  std::vector<std::string> autograd;  // that tensors of these keys carry
  std::vector<std::string> modes;
  std::vector<std::string> aliases;

  std::vector<std::string> backends() const;  // dense and others
  std::vector<std::string> runtime() const;   // all but the aliases

  // ---- choices ----
  // As a tensor of a backend has them: a backend key, mostly with its autograd key, sometimes with a mode.
  std::vector<std::string> TensorKeys(const World& world, Draw& draw) const;
  // Any of them.
  std::vector<std::string> AnyKeys(Draw& draw, int most) const;
  // Where to register.
  std::string KernelKey(Draw& draw) const;
};

Ground ChooseGround(const World& world, Draw& draw);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_GENERATE_WORLD_H_
