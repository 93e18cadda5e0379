// Which rule filled a slot, in the order in which they are tried. Spelled as in scenarios and dumps.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_RULE_H_
#define PLUMBLINE_REFERENCE_REGISTRY_RULE_H_

#include <cstdint>
#include <string_view>

namespace plumbline::reference {

enum class Rule : std::uint8_t {
  kMissing = 0,
  kKernel = 1,         // registered at that very key
  kNonFunctional = 2,  // CompositeExplicitAutogradNonFunctional
  kExplicit = 3,       // CompositeExplicitAutograd
  kNested = 4,         // CompositeImplicitAutogradNestedTensor
  kImplicit = 5,       // CompositeImplicitAutograd
  kAmbiguous = 6,      // AutogradOther, claimed by the implicit kernel and by one behind it
  kAutograd = 7,       // the Autograd alias
  kBatched = 8,        // FuncTorchBatchedDecomposition
  kFallback = 9,
  kChain = 10,
};

constexpr std::string_view Spelling(Rule rule) {
  constexpr std::string_view kSpellings[] = {"missing",   "kernel",   "nonfunctional", "explicit", "nested", "implicit",
                                             "ambiguous", "autograd", "batched",       "fallback", "chain"};
  return kSpellings[static_cast<int>(rule)];
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_RULE_H_
