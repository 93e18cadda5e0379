// Asks a backend, in the process that has loaded it, who it is: its table is checked, its description read.
//
//   BackendFacts facts = Introduce(get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR));
//   if (!facts.problems.empty()) ...      // not to be used; each problem in words
//
// What a table holds is not trusted: one that is no good has problems. Calls `describe` and no other entry. Any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_INTRODUCTION_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_INTRODUCTION_H_

#include <string>

#include "conformance/harness/backend_facts.h"
#include "spec/abi/abi.h"

namespace plumbline::harness {

// `adapter` may be null; `release`: that is wanted instead of the backend's own, or empty.
BackendFacts Introduce(const pl_adapter* adapter, const std::string& release = "");

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_INTRODUCTION_H_
