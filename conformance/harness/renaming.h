// Gives a scenario namespaces of its own in a registry that it shares with others, and takes them back out of what the
// backend says.
//
//   Renaming renaming(scenario, "_pl7x");
//   renaming.In("demo::f(Tensor a) -> Tensor");   // "demo_pl7x::f(Tensor a) -> Tensor"
//   renaming.Out("no kernel for demo_pl7x::f");   // "no kernel for demo::f"
//
// With an empty suffix names stay as they are. Immutable; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_RENAMING_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_RENAMING_H_

#include <set>
#include <string>
#include <string_view>

#include "spec/scenario/scenario.h"

namespace plumbline::harness {

class Renaming {
 public:
  Renaming(const scenario::Scenario& scenario, std::string suffix);

  std::string In(std::string_view operator_or_schema) const;  // one without a namespace stays as it is
  std::string Namespace(std::string_view name_space) const;   // the wildcard stays as it is
  std::string Out(std::string_view text) const;

  // True for an operator (renamed) in one of the scenario's namespaces.
  bool Owns(std::string_view operator_name) const;

 private:
  void Note(const scenario::Step& step);

  std::string suffix_;
  std::set<std::string, std::less<>> namespaces_;  // renamed
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_RENAMING_H_
