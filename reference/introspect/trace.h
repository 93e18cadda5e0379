// The dispatch trace: one line for each call and redispatch, before its kernel runs.
//
//   PLUMBLINE_DISPATCH_TRACE=stderr ./my_program         # or a path; every registry made afterwards is traced
//
//   DispatchTrace trace(TextSink::Open("stderr", ""));   // or one registry, from C++
//   registry.ObserveCalls(&trace);
//
//   [call] demo::add keys=[CPU AutogradCPU] key=AutogradCPU rule=autograd kernel=demo.cc:12 miss
//     [redispatch] demo::add keys=[CPU] key=CPU rule=kernel kernel=demo.cc:11 miss
//
//   [call] aten::add.Tensor keys=[CPU] key=CPU rule=kernel kernel=elementwise.cc hit
//     [instance] aten::add.Tensor dtype=float32 device=cpu
//
// A line names the operator, the key set that the kernel receives, the chosen key, the rule that filled the slot and
// where its kernel was registered; `hit` means that the slot was resolved before. Boxed calls read [boxed call]. A call
// from inside a kernel is indented. A kernel of an operator with tensors says which dtype it chose its instance for. A
// call that finds nothing is there too, with `kernel=none`.
//
// Without the variable and without an observer, tracing costs nothing (registry/hooks.h). Any thread.
#ifndef PLUMBLINE_REFERENCE_INTROSPECT_TRACE_H_
#define PLUMBLINE_REFERENCE_INTROSPECT_TRACE_H_

#include <memory>
#include <string>

#include "reference/introspect/text_sink.h"
#include "reference/registry/hooks.h"

namespace plumbline::reference {

inline constexpr char kDispatchTraceVariable[] = "PLUMBLINE_DISPATCH_TRACE";

std::string Print(const CallEvent& event);  // the line
std::string Print(const InstanceEvent& event);

class DispatchTrace final : public CallObserver {
 public:
  explicit DispatchTrace(std::unique_ptr<TextSink> sink) : sink_(std::move(sink)) {}
  void OnCall(const CallEvent& event) override;
  void OnInstance(const InstanceEvent& event) override;

 private:
  std::unique_ptr<TextSink> sink_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_INTROSPECT_TRACE_H_
