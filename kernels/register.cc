#include "kernels/register.h"

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/compute.h"
#include "kernels/fast.h"
#include "kernels/operator_info.h"
#include "kernels/ops/ops.h"
#include "reference/dispatch/operator.h"
#include "spec/tables/operators.h"

namespace plumbline::kernels {
namespace {

using reference::BoxedCall;
using reference::Kernel;
using reference::Registration;
using reference::Registry;

using KernelMap = std::map<std::string_view, NamedKernel>;

const KernelMap& AllKernels() {
  static const KernelMap* const all = [] {
    auto* const map = new KernelMap;
    for (const auto kernels : {ElementwiseKernels(), ReductionKernels(), MatrixKernels(), NormalisationKernels(),
                               ViewKernels(), CopyKernels(), FactoryKernels(), IndexKernels(), JoinKernels(),
                               ImageKernels(), LossKernels(), RandomKernels()}) {
      for (const NamedKernel& kernel : kernels) map->emplace(kernel.name, kernel);
    }
    return map;
  }();
  return *all;
}

// A variant has the kernel of the operator that it is a variant of.
const NamedKernel* KernelOf(const tables::OperatorData& op) {
  const auto found = AllKernels().find(FunctionalName(op));
  return found == AllKernels().end() ? nullptr : &found->second;
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
    const NamedKernel* const kernel = KernelOf(op);
    if (kernel == nullptr) continue;
    const KernelFunction function = kernel->function;
    const std::string name(op.name);
    const auto info = InfoOf(op, registry, &CopyElements, kernel->where == Where::kCpuAndMeta);
    const std::string_view schema = op.SchemaIn(registry.keys().release());
    if (PLUMBLINE_FAULT(schemas_forget_what_they_write) && op.variant == tables::Variant::kInPlace) {
      std::string unmarked(schema);
      for (std::size_t at; (at = unmarked.find("(a!)")) != std::string::npos;) unmarked.erase(at, 4);
      made.push_back(registry.Define(unmarked, "kernels"));
    } else {
      made.push_back(registry.Define(schema, "kernels"));
    }
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
        if (PLUMBLINE_FAULT(composites_are_of_the_backend)) {
          for (const std::string_view key : {"CPU", "Meta"}) add(key, BoxedKernel(info, function));
          break;
        }
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
