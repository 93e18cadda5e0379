#include "reference/introspect/trace.h"

#include <cstdlib>

#include "reference/registry/operator_entry.h"

namespace plumbline::reference {
namespace {

[[maybe_unused]] const bool traced_from_the_start = [] {
  const char* const target = std::getenv(kDispatchTraceVariable);
  if (target == nullptr || *target == '\0') return false;
  std::unique_ptr<TextSink> sink = TextSink::Open(target, kDispatchTraceVariable);
  if (sink == nullptr) return false;
  default_call_observer.store(new DispatchTrace(std::move(sink)), std::memory_order_release);  // lives to the end
  return true;
}();

}  // namespace

std::string Print(const CallEvent& event) {
  const KeyTable& keys = event.op->keys();
  std::string line(2 * event.depth, ' ');
  line += event.boxed ? "[boxed " : "[";
  line += event.kind == CallEvent::Kind::kCall ? "call] " : "redispatch] ";
  line += event.op->name();
  line += " keys=" + keys.Print(event.keys);
  line += " key=" + keys.Name(event.chosen);
  line += " rule=" + std::string(Spelling(event.rule));
  line += " kernel=";
  line += event.place.empty() ? "none" : std::string(event.place);
  if (event.fallthrough) line += " (fallthrough)";
  line += event.hit ? " hit" : " miss";
  return line;
}

std::string Print(const InstanceEvent& event) {
  std::string line(2 * event.depth, ' ');
  line += "[instance] ";
  line += event.op;
  line += " dtype=";
  line += event.dtype;
  line += " device=";
  line += event.device;
  return line;
}

void DispatchTrace::OnInstance(const InstanceEvent& event) { sink_->Write(Print(event)); }
void DispatchTrace::OnCall(const CallEvent& event) { sink_->Write(Print(event)); }

}  // namespace plumbline::reference
