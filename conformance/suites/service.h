// What answers the cases that ask the backend in a way of their own: a service for executors.
//
//   config.service = &suites::Serve;
//
// It hands each request to the one whose prefix it has. For executors only.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_SERVICE_H_
#define PLUMBLINE_CONFORMANCE_SUITES_SERVICE_H_

#include <string>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "spec/abi/abi.h"

namespace plumbline::suites {

std::string Serve(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                  harness::Progress& progress);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_SERVICE_H_
