// Dumps for people: what is registered for an operator, and the table that follows from it.
//
//   for (const std::string& line : DumpRegistrations(registry, "demo::add")) puts(line.c_str());
//
//     name: demo::add
//     schema: demo::add(Tensor a, Tensor b) -> Tensor
//     defined at: demo.cc:10
//     CPU: demo.cc:14, typed
//     CPU (inactive): demo.cc:11, boxed
//     Autograd [alias]: demo.cc:12, fallthrough
//
//   DumpTable:   CPU: demo.cc:14 [kernel]
//                AutogradCPU: fallthrough demo.cc:12 [autograd]
//                BackendSelect: fallthrough built in [fallback]
//
// The table is computed afresh from the rules. A name that is not there is kNotFound. Any thread.
#ifndef PLUMBLINE_REFERENCE_INTROSPECT_DUMP_H_
#define PLUMBLINE_REFERENCE_INTROSPECT_DUMP_H_

#include <string>
#include <string_view>
#include <vector>

#include "reference/registry/describe.h"
#include "reference/registry/registry.h"

namespace plumbline::reference {

std::vector<std::string> DumpRegistrations(const Registry& registry, std::string_view op);
std::vector<std::string> DumpTable(const Registry& registry, std::string_view op);
std::vector<std::string> DumpFallbacks(const Registry& registry);  // and chains

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_INTROSPECT_DUMP_H_
