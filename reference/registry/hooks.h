// Where higher layers listen in: calls (the dispatch trace) and registrations (the registration log).
//
// An observer of calls costs the others nothing: while a registry has one, the number that its operators show to the
// call path is 0, so that every call takes the slow path, which reports it. Observers are told outside of all locks, on
// the thread that called; they must not throw. They outlive the registries that they observe.
#ifndef PLUMBLINE_REFERENCE_REGISTRY_HOOKS_H_
#define PLUMBLINE_REFERENCE_REGISTRY_HOOKS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "reference/boxing/kernel.h"
#include "reference/registry/rule.h"

namespace plumbline::reference {

class OperatorEntry;

struct CallEvent {
  enum class Kind { kCall, kRedispatch } kind = Kind::kCall;
  bool boxed = false;
  const OperatorEntry* op = nullptr;
  KeySet keys;              // what the kernel receives
  Key chosen = kUndefined;  // the slot
  Rule rule = Rule::kMissing;
  std::string_view place;  // of the kernel; empty if none answers
  bool fallthrough = false;
  bool hit = false;         // the slot was resolved before
  std::uint32_t depth = 0;  // 0: not inside another observed call
};

// Which of its instances a kernel chose: keys tell devices apart, and dtypes are told apart inside of the kernel.
struct InstanceEvent {
  std::string_view op, dtype;
  std::string_view device;  // "cpu", "privateuseone:0"
  std::uint32_t depth = 1;  // inside the kernel's call
};

class CallObserver {
 public:
  virtual void OnCall(const CallEvent& event) = 0;
  virtual void OnInstance(const InstanceEvent&) {}

 protected:
  ~CallObserver() = default;
};

struct RegistrationEvent {
  enum class What { kDefine, kImpl, kFallback, kChain, kListener, kLibrary } what = What::kDefine;
  bool released = false;
  std::string_view subject;  // operator, namespace, or for a chain the key that serves
  std::string_view key;      // empty: none
  std::string_view place;
  std::string_view shadows;  // place of the kernel that it takes over from (released: that takes over), or empty
};

class RegistrationObserver {
 public:
  virtual void OnRegistration(const RegistrationEvent& event) = 0;

 protected:
  ~RegistrationObserver() = default;
};

// What new registries start with; null: none. Set while the library is loaded, by introspect.
extern constinit std::atomic<CallObserver*> default_call_observer;
extern constinit std::atomic<RegistrationObserver*> default_registration_observer;

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_REGISTRY_HOOKS_H_
