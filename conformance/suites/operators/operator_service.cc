#include "conformance/suites/operators/operator_service.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/harness/host_values.h"
#include "conformance/suites/operators/operator_call.h"
#include "spec/abi/error.h"
#include "spec/abi/host.h"

namespace plumbline::suites {
namespace {

using abi::PlError;
using harness::HostValue;
using harness::HostValues;
using harness::Lender;
using harness::TensorRef;

// Leaves a call early, with the error that the backend gave.
struct Failed {
  std::uint32_t error_class;
  std::string message;
};
void Take(pl_error* error) {
  if (const PlError failure{error}) throw Failed{failure.error_class(), std::string(failure.message())};
}

class Session {
 public:
  Session(const pl_adapter& adapter, const harness::BackendFacts& facts) : adapter_(adapter) {
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.mode = facts.Claims(PL_CAPABILITY(FRESH_REGISTRY)) ? PL_OPEN_FRESH : PL_OPEN_PROCESS;
    options.operators = 1;
    Take(adapter_.open(&options, &registry_));
  }

  OperatorOutcome Run(const OperatorCall& call, const std::string& device) {
    OperatorOutcome outcome;
    std::vector<TensorRef> tensors;
    std::vector<std::uint64_t> versions;
    try {
      std::vector<HostValue> arguments;
      for (const Argument& argument : call.arguments) arguments.push_back(Make(argument, device, tensors));
      for (const TensorRef& tensor : tensors) versions.push_back(InfoOf(tensor.get()).version);
      HostValues results(adapter_);
      Call(call.op, arguments, results);
      for (const HostValue& result : results.values()) outcome.results.push_back(Read(result, tensors, outcome));
    } catch (const Failed& failed) {
      outcome.error_class = failed.error_class;
      outcome.message = failed.message;
    }
    // Also of a call that failed: it must not have changed them.
    try {
      for (const TensorRef& tensor : tensors) outcome.arguments_after.push_back(AllOf(tensor.get()));
      for (std::size_t i = 0; i < versions.size(); ++i) {
        outcome.raised.push_back(InfoOf(tensors[i].get()).version > versions[i]);
      }
    } catch (const Failed& failed) {
      outcome.message += " (and its arguments cannot be read afterwards: " + failed.message + ")";
    }
    return outcome;
  }

 private:
  void Call(const std::string& name, const std::vector<HostValue>& arguments, HostValues& results) {
    pl_operator*& op = operators_[name];
    if (op == nullptr) Take(adapter_.find_operator(registry_, abi::Borrow(name), &op));
    Lender lender;
    const pl_value_list lent = lender.Lend(arguments);
    const pl_call call{sizeof call, PL_CALL_BOXED, 0, 0, op, lent.data, lent.size, results.sink()};
    Take(adapter_.call(registry_, &call));
  }

  HostValue Make(const Argument& argument, const std::string& device, std::vector<TensorRef>& tensors) {
    HostValue value{argument.kind, argument.integer, argument.real, argument.text, {}, {}};
    for (const Argument& item : argument.items) value.items.push_back(Make(item, device, tensors));
    if (argument.kind == PL_STRING && argument.text == kThisDevice) {
      value = device.empty() ? HostValue{} : HostValue{.kind = PL_STRING, .text = device};
    }
    if (argument.kind != PL_TENSOR) return value;
    const HostTensor& tensor = argument.tensor;
    if (argument.integer >= 0) {
      value.tensor = View(tensors[static_cast<std::size_t>(argument.integer)], tensor);
    } else {
      const pl_tensor_layout layout{sizeof layout,
                                    tensor.dtype,
                                    tensor.sizes.data(),
                                    tensor.strides.data(),
                                    tensor.sizes.size(),
                                    tensor.offset,
                                    abi::Borrow(tensor.device.empty() ? device : tensor.device)};
      pl_tensor* made = nullptr;
      Take(adapter_.tensor_from_host(registry_, &layout, tensor.storage.data(), tensor.storage.size(), &made));
      value.tensor = TensorRef::Adopt(adapter_, made);
    }
    tensors.push_back(value.tensor);
    return value;
  }

  TensorRef View(const TensorRef& base, const HostTensor& layout) {
    const auto ints = [](const Sizes& values) {
      HostValue list{.kind = PL_LIST};
      for (const std::int64_t value : values) list.items.push_back({.kind = PL_INT, .integer = value});
      return list;
    };
    HostValue tensor{.kind = PL_TENSOR};
    tensor.tensor = base;
    HostValues results(adapter_);
    Call("aten::as_strided",
         {std::move(tensor), ints(layout.sizes), ints(layout.strides),
          HostValue{.kind = PL_INT, .integer = layout.offset}},
         results);
    return results.values().front().tensor;
  }

  struct Info {
    HostTensor layout;
    std::uint64_t storage_bytes = 0, storage = 0, version = 0;
  };
  Info InfoOf(pl_tensor* tensor) {
    Info info;
    Take(adapter_.tensor_info(registry_, tensor, &info, [](void* context, const pl_tensor_info* given) {
      auto& into = *static_cast<Info*>(context);
      const pl_tensor_layout& layout = given->layout;
      into.layout.dtype = layout.dtype;
      into.layout.sizes.assign(layout.sizes, layout.sizes + layout.dim);
      into.layout.strides.assign(layout.strides, layout.strides + layout.dim);
      into.layout.offset = layout.offset;
      into.layout.device = std::string(abi::View(layout.device));
      into.storage_bytes = given->storage_bytes;
      into.storage = given->storage;
      into.version = given->version;
    }));
    return info;
  }

  HostTensor AllOf(pl_tensor* tensor) {
    Info info = InfoOf(tensor);
    if (info.layout.device == kMeta) return std::move(info.layout);
    info.layout.storage.resize(info.storage_bytes);
    Take(adapter_.storage_to_host(registry_, tensor, info.layout.storage.data(), info.storage_bytes));
    return std::move(info.layout);
  }

  Argument Read(const HostValue& result, const std::vector<TensorRef>& arguments, OperatorOutcome& outcome) {
    Argument out{.kind = result.kind, .integer = result.integer, .real = result.real, .text = result.text};
    for (const HostValue& item : result.items) out.items.push_back(Read(item, arguments, outcome));
    if (result.kind != PL_TENSOR) return out;
    Info info = InfoOf(result.tensor.get());
    ReturnedTensor returned;
    returned.strides = info.layout.strides;
    returned.tensor = HostTensor::Contiguous(info.layout.dtype, info.layout.sizes);
    returned.tensor.offset = 0;
    returned.tensor.device = info.layout.device;
    if (info.layout.device != kMeta) {
      Take(adapter_.tensor_to_host(registry_, result.tensor.get(), returned.tensor.storage.data(),
                                   returned.tensor.storage.size()));
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const int number = static_cast<int>(i);
      if (returned.same_as < 0 &&
          adapter_.tensor_identity(arguments[i].get()) == adapter_.tensor_identity(result.tensor.get())) {
        returned.same_as = number;
      }
      if (returned.shares_with < 0 && InfoOf(arguments[i].get()).storage == info.storage) returned.shares_with = number;
    }
    out.integer = static_cast<std::int64_t>(outcome.tensors.size());
    outcome.tensors.push_back(std::move(returned));
    return out;
  }

  const pl_adapter& adapter_;
  pl_registry* registry_ = nullptr;
  std::map<std::string, pl_operator*> operators_;
};

}  // namespace

std::string ServeOperators(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                           harness::Progress& progress) {
  // For the life of the executor: opening one registers some hundred operators.
  static Session* session = nullptr;
  std::string device;
  const std::vector<OperatorCall> calls = DecodeCalls(request.substr(kOperatorsRequest.size()), device);
  std::vector<OperatorOutcome> outcomes;
  try {
    if (session == nullptr) session = new Session(adapter, facts);
  } catch (const Failed& failed) {
    return EncodeOutcomes(
        std::vector<OperatorOutcome>(calls.size(), {failed.error_class, failed.message, {}, {}, {}, {}}));
  }
  for (const OperatorCall& call : calls) {
    progress.step = static_cast<int>(outcomes.size());
    outcomes.push_back(session->Run(call, device));
  }
  return EncodeOutcomes(outcomes);
}

}  // namespace plumbline::suites
