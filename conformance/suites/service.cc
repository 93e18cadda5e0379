#include "conformance/suites/service.h"

#include "conformance/suites/lifecycle_service.h"
#include "conformance/suites/operators/operator_service.h"

namespace plumbline::suites {

std::string Serve(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                  harness::Progress& progress) {
  const bool operators = request.starts_with(kOperatorsRequest);
  return (operators ? ServeOperators : ServeLifecycle)(adapter, facts, request, progress);
}

}  // namespace plumbline::suites
