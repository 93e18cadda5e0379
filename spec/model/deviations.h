// Deviations: named switches that make the model predict the faulty behaviour of a real system exactly.
//
// The spec is the model without any of them. A waiver names a deviation, so that a property may accept precisely the
// outcome that the fault gives, count it, and go on; anything else still fails.
//
//   Deviations wrong;
//   wrong.insert(*FindDeviation("guard-leaks-backend-bits"));
//
// Plain data; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_DEVIATIONS_H_
#define PLUMBLINE_SPEC_MODEL_DEVIATIONS_H_

#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace plumbline::model {

// X(enumerator, "name", "what the faulty system does")
// The three `stale-` ones share one mechanism: a stored table per operator, of which a change refreshes only the slots
// that libtorch refreshes. With them a missing kernel at an inconsistent operator is an internal error. The alias
// fallback keeps such a table too.
#define PLUMBLINE_DEVIATIONS(X)                                                                                       \
  X(kStaleAutogradOther, "stale-autogradother",                                                                       \
    "a kernel at a per-backend key behind AutogradOther refreshes that backend's own autograd slot, not "             \
    "AutogradOther")                                                                                                  \
  X(kStaleAutogradNestedTensor, "stale-autogradnestedtensor",                                                         \
    "a NestedTensor kernel does not refresh AutogradNestedTensor")                                                    \
  X(kStaleAfterCompositeExplicit, "stale-after-composite-explicit",                                                   \
    "CompositeExplicitAutograd refreshes its own members only, not the slots where it keeps the implicit kernel out") \
  X(kGuardLeaksBackendBits, "guard-leaks-backend-bits",                                                               \
    "a guard over a per-backend key leaves its backend in the thread's set when it ends")                             \
  X(kGuardRestoresWhatItFound, "guard-restores-what-it-found",                                                        \
    "leaving a guard puts the thread's set back as it was when the guard was entered, whatever came since")           \
  X(kFallbackReplacesAnother, "fallback-replaces-another",                                                            \
    "at AutogradPrivateUse1 a fallback takes the place of any other, and the release of either leaves none")          \
  X(kSignatureOutlivesKernels, "signature-outlives-kernels",                                                          \
    "the first typed signature binds the operator until its last registration is gone")                               \
  X(kRefusedImplPoisonsSignature, "refused-impl-poisons-signature",                                                   \
    "the signature of a kernel that the schema refused binds the kernels after it")                                   \
  X(kRefusedImplPoisonsSymbolicCalls, "refused-impl-poisons-symbolic-calls",                                          \
    "the signature of a kernel that the schema refused binds the kernels after it, and symbolic calls by what they "  \
    "are with plain integers")                                                                                        \
  X(kAutogradMtiaHasNoBackend, "autogradmtia-has-no-backend",                                                         \
    "a kernel at MTIA does not keep CompositeImplicitAutograd out of AutogradMTIA")                                   \
  X(kMaskBeforeThreadState, "mask-before-thread-state",                                                               \
    "the backend whose fallthrough keys are masked is taken from the arguments, before guards are applied")           \
  X(kAliasFallbackFillsUndefined, "alias-fallback-fills-undefined",                                                   \
    "a fallback at an alias key is accepted, is looked up there and fills the Undefined slots computed after it")     \
  X(kHandleOutlivesDefinition, "handle-outlives-definition",                                                          \
    "a handle calls an operator whose definition is gone; a boxed call's arguments then bring no keys")               \
  X(kFallbackKeyBeatsLibrary, "fallback-key-beats-library",                                                           \
    "a fallback whose key is not that of its library is accepted, at its own key")                                    \
  X(kBoxedCallUnchecked, "boxed-call-unchecked",                                                                      \
    "a boxed call's arguments are not compared with the schema: as many as the schema has are taken off the top of "  \
    "the stack, for their keys and for the kernel, whatever they are and whoever they belong to")                     \
  X(kTypedCallUnchecked, "typed-call-unchecked",                                                                      \
    "a typed call is compared with the operator's first typed kernel of its sort only, never with the schema")

enum class Deviation {
#define PLUMBLINE_DEVIATION_ENUM(enumerator, name, what) enumerator,
  PLUMBLINE_DEVIATIONS(PLUMBLINE_DEVIATION_ENUM)
#undef PLUMBLINE_DEVIATION_ENUM
};
using Deviations = std::set<Deviation>;

struct DeviationInfo {
  Deviation deviation;
  std::string_view name, what;
};
std::span<const DeviationInfo> AllDeviations();
std::optional<Deviation> FindDeviation(std::string_view name);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_DEVIATIONS_H_
