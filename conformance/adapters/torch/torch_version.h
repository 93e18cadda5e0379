// What differs between the libtorch releases that this adapter builds against; nothing else in the folder tests a
// version.
//
// Built and run against 1.13.1 and a current 2.x. A difference that has a feature of its own is detected by the
// feature, so that a release between the two needs no entry here.
//
// Pure declarations; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TORCH_VERSION_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TORCH_VERSION_H_

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace plumbline::torch_backend {

// The table of spec/tables that has the keys: MAIA was a key of its own before it became a backend.
#if TORCH_VERSION_MAJOR >= 2
template <class Component>
constexpr bool HasBackendMaia() {
  return requires { Component::MAIABit; };
}
inline constexpr std::string_view kRelease = HasBackendMaia<c10::BackendComponent>() ? "pytorch-2.15" : "pytorch-2.x";
#else
inline constexpr std::string_view kRelease = "pytorch-1.13";
#endif

// Optionals and string views of kernel signatures: c10's own until they became the standard's.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
template <class T>
using Optional = std::optional<T>;
inline constexpr std::nullopt_t kNullopt = std::nullopt;
#else
template <class T>
using Optional = c10::optional<T>;
inline constexpr c10::nullopt_t kNullopt = c10::nullopt;
#endif
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6)
using StringView = std::string_view;
#else
using StringView = c10::string_view;
#endif

// A warning's text: the handler's argument was (location, text, verbatim) before 2.0, one object since.
class WarningTextHandler : public c10::WarningHandler {
 public:
  virtual void Text(const std::string& text) = 0;
#if TORCH_VERSION_MAJOR >= 2
  void process(const c10::Warning& warning) final { Text(warning.msg()); }
#else
  void process(const c10::SourceLocation&, const std::string& text, const bool) final { Text(text); }
#endif
};

#if TORCH_VERSION_MAJOR >= 2
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;
// Since 2.x an override warns once a process unless warnings are told to repeat.
inline void WarnEveryTime() { c10::WarningUtils::set_warnAlways(true); }
#else
using WarningGuard = c10::Warning::WarningHandlerGuard;
inline void WarnEveryTime() { c10::Warning::set_warnAlways(true); }
#endif

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TORCH_VERSION_H_
