// What runs in an executor for the cases of lifecycle: one program in a child (lifecycle_stage.h).
//
//   config.service = &suites::ServeLifecycle;      // so that a case need not load the backend anew
//
// A service that answers others too hands on the requests that start with kLifecycleRequest. For executors only: the
// program is named by its address, which is the same in all processes that were forked from one.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_SERVICE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_SERVICE_H_

#include <string>
#include <string_view>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

inline constexpr std::string_view kLifecycleRequest = "lifecycle ";

std::string ServeLifecycle(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                           harness::Progress& progress);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_LIFECYCLE_SERVICE_H_
