// The operator table, held against the operators that libtorch has: the facts in it are PyTorch's.
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <string>

#include "conformance/adapters/torch/torch_version.h"
#include "spec/tables/operators.h"

namespace plumbline::torch_backend {
namespace {

using tables::kOperators;
using tables::OperatorData;
using tables::Registered;

constexpr bool kNewer = TORCH_VERSION_MAJOR >= 2;

c10::OperatorName NameOf(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos
             ? c10::OperatorName(std::string(name), "")
             : c10::OperatorName(std::string(name.substr(0, dot)), std::string(name.substr(dot + 1)));
}

TEST(OperatorTable, SchemasAreLibtorchs) {
  for (const OperatorData& op : kOperators) {
    const auto handle = c10::Dispatcher::singleton().findSchema(NameOf(op.name));
    ASSERT_TRUE(handle.has_value()) << op.name;
    const std::string_view text = kNewer && !op.schema_2.empty() ? op.schema_2 : op.schema;
    EXPECT_EQ(torch::jit::parseSchema(std::string(text)), handle->schema()) << handle->schema();
  }
}

// Where 2.15 registers an operator otherwise is not noted.
TEST(OperatorTable, RegisteredAsInLibtorch) {
  if (kNewer) GTEST_SKIP() << "the table says how 1.13.1 registers";
  using c10::DispatchKey;
  for (const OperatorData& op : kOperators) {
    const auto handle = c10::Dispatcher::singleton().findSchema(NameOf(op.name));
    ASSERT_TRUE(handle.has_value()) << op.name;
    const auto has = [&](DispatchKey key) { return handle->hasKernelForDispatchKey(key); };
    EXPECT_EQ(op.backend_select, has(DispatchKey::BackendSelect)) << op.name;
    switch (op.registered) {
      case Registered::kBackend:
        EXPECT_TRUE(has(DispatchKey::CPU)) << op.name;
        break;
      case Registered::kImplicit:
        EXPECT_TRUE(has(DispatchKey::CompositeImplicitAutograd)) << op.name;
        break;
      case Registered::kExplicit:
        EXPECT_TRUE(has(DispatchKey::CompositeExplicitAutograd) ||
                    has(DispatchKey::CompositeExplicitAutogradNonFunctional))
            << op.name;
        break;
    }
  }
}

}  // namespace
}  // namespace plumbline::torch_backend
