#include "kernels/operator_info.h"

#include <string>
#include <utility>

#include "reference/boxing/schema.h"

namespace plumbline::kernels {

std::string_view FunctionalName(const tables::OperatorData& op) {
  std::string_view name = op.of.empty() ? op.name : op.of;
  if (name.starts_with("aten::")) name.remove_prefix(6);
  return name;
}

std::shared_ptr<const OperatorInfo> InfoOf(const tables::OperatorData& op, reference::Registry& registry,
                                           CopyFunction copy, bool cpu_only) {
  const reference::Schema schema = reference::ParseSchema(op.schema);
  const std::string_view functional = FunctionalName(op);
  auto info = std::make_shared<OperatorInfo>();
  info->data = &op;
  info->registry = &registry;
  info->family = std::string(functional.substr(0, functional.find('.')));
  for (const reference::SchemaArgument& argument : schema.arguments) info->arguments.push_back(argument.name);
  info->results = static_cast<int>(schema.returns.size());
  info->any_devices = op.name == "aten::copy_";
  info->any_overlap = op.name == "aten::fill_.Scalar" || op.name == "aten::zero_" || op.name == "aten::resize_";
  info->cpu_only = cpu_only;
  info->copy = copy;
  return info;
}

reference::Kernel BoxedKernel(std::shared_ptr<const OperatorInfo> info, KernelFunction function) {
  return reference::Kernel::FromBoxed([info = std::move(info), function](reference::BoxedCall& boxed) {
           Call call(*info, boxed.stack);
           function(call);
           call.Finish();
         })
      .Permanent();
}

}  // namespace plumbline::kernels
