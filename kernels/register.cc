#include "kernels/register.h"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/call.h"
#include "kernels/fast.h"
#include "kernels/ops/ops.h"
#include "reference/boxing/schema.h"
#include "reference/dispatch/operator.h"
#include "spec/tables/operators.h"

namespace plumbline::kernels {
namespace {

using reference::BoxedCall;
using reference::Kernel;
using reference::Registration;
using reference::Registry;

using KernelMap = std::map<std::string_view, KernelFunction>;

const KernelMap& AllKernels() {
  static const KernelMap* const all = [] {
    auto* const map = new KernelMap;
    for (const auto kernels : {ElementwiseKernels(), ReductionKernels(), MatrixKernels(), NormalisationKernels(),
                               ViewKernels(), CopyKernels(), FactoryKernels(), IndexKernels(), JoinKernels(),
                               ImageKernels(), LossKernels(), RandomKernels()}) {
      for (const NamedKernel& kernel : kernels) map->emplace(kernel.name, kernel.function);
    }
    return map;
  }();
  return *all;
}

// A variant has the kernel of the operator that it is a variant of.
KernelFunction KernelOf(const tables::OperatorData& op) {
  std::string_view name = op.of.empty() ? op.name : op.of;
  if (name.starts_with("aten::")) name.remove_prefix(6);
  const auto found = AllKernels().find(name);
  return found == AllKernels().end() ? nullptr : found->second;
}

std::string FamilyOf(const tables::OperatorData& op) {
  std::string_view name = op.of.empty() ? op.name : op.of;
  if (name.starts_with("aten::")) name.remove_prefix(6);
  return std::string(name.substr(0, name.find('.')));
}

Kernel BoxedKernel(std::shared_ptr<const OperatorInfo> info, KernelFunction function) {
  return Kernel::FromBoxed([info = std::move(info), function](BoxedCall& boxed) {
           Call call(*info, boxed.stack);
           function(call);
           call.Finish();
         })
      .Permanent();
}

// Goes on to the backend that the argument `device` names; the CPU without one.
Kernel SelectKernel(std::shared_ptr<const OperatorInfo> info) {
  int device_at = -1;
  for (std::size_t i = 0; i < info->arguments.size(); ++i) {
    if (info->arguments[i] == "device") device_at = static_cast<int>(i);
  }
  return Kernel::FromBoxed([info = std::move(info), device_at](BoxedCall& boxed) {
           const std::span<Value> arguments = boxed.stack.Top(info->arguments.size());
           Device device = DeviceType::kCpu;
           if (device_at >= 0 && !arguments[static_cast<std::size_t>(device_at)].is_none()) {
             device = Device::Parse(arguments[static_cast<std::size_t>(device_at)].ToString());
           } else if (!arguments.empty() && arguments[0].is_tensor() && arguments[0].AsTensor()->has_data()) {
             device = arguments[0].AsTensor()->device();
           }
           const reference::KeyTable& keys = info->registry->keys();
           const reference::KeySet set = keys.SetOfNames({reference::KeyName(device.type)});
           reference::Operator(boxed.op).RedispatchBoxed(set, boxed.stack);
         })
      .Permanent();
}

}  // namespace

std::vector<Registration> RegisterKernels(Registry& registry) {
  std::vector<Registration> made;
  // Tensors bring their device's autograd key. Where the release lets no call pass there, these do.
  for (const DeviceType type : {DeviceType::kCpu, DeviceType::kCuda, DeviceType::kMeta, DeviceType::kPrivateUse1}) {
    const reference::KeyTable& keys = registry.keys();
    const reference::Key autograd = keys.AutogradOf(keys.Get(reference::KeyName(type)));
    if (!registry.HasFallback(autograd)) {
      made.push_back(registry.Fallback(autograd, Kernel::Fallthrough(), "kernels"));
    }
  }
  for (const tables::OperatorData& op : tables::kOperators) {
    const KernelFunction function = KernelOf(op);
    if (function == nullptr) continue;
    const std::string name(op.name);
    const reference::Schema schema = reference::ParseSchema(op.schema);
    auto info = std::make_shared<OperatorInfo>();
    info->data = &op;
    info->registry = &registry;
    info->family = FamilyOf(op);
    for (const reference::SchemaArgument& argument : schema.arguments) info->arguments.push_back(argument.name);
    info->results = static_cast<int>(schema.returns.size());
    info->any_devices = name == "aten::copy_";
    info->any_overlap = name == "aten::fill_.Scalar" || name == "aten::zero_" || name == "aten::resize_";
    made.push_back(registry.Define(op.schema, "kernels"));
    const auto add = [&](std::string_view key, Kernel kernel) {
      made.push_back(registry.Impl(name, key, std::move(kernel), "kernels"));
    };
    switch (op.registered) {
      case tables::Registered::kBackend:
        for (const std::string_view key : {"CPU", "Meta"}) {
          std::optional<Kernel> fast = FastKernel(op.name, info, function);
          add(key, fast ? std::move(*fast) : BoxedKernel(info, function));
        }
        break;
      case tables::Registered::kImplicit:
        add("CompositeImplicitAutograd", BoxedKernel(info, function));
        break;
      case tables::Registered::kExplicit:
        add("CompositeExplicitAutograd", BoxedKernel(info, function));
        break;
    }
    if (op.backend_select) add("BackendSelect", SelectKernel(info));
  }
  return made;
}

std::vector<std::string> OperatorsWithoutKernel() {
  std::vector<std::string> names;
  for (const tables::OperatorData& op : tables::kOperators) {
    if (KernelOf(op) == nullptr) names.emplace_back(op.name);
  }
  return names;
}

}  // namespace plumbline::kernels
