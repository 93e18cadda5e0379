#include "conformance/suites/operators/operator_session.h"

#include <algorithm>
#include <utility>

#include "spec/abi/error.h"
#include "spec/abi/host.h"

namespace plumbline::suites {
namespace {

using abi::PlError;
using harness::HostValue;
using harness::HostValues;
using harness::Lender;
using harness::TensorRef;

HostValue IntsValue(const Sizes& values) {
  HostValue list{.kind = PL_LIST};
  for (const std::int64_t value : values) list.items.push_back({.kind = PL_INT, .integer = value});
  return list;
}

bool IsInside(const HostTensor& layout, std::uint64_t bytes) {
  if (std::find(layout.sizes.begin(), layout.sizes.end(), 0) != layout.sizes.end()) return true;
  std::int64_t last = layout.offset;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    std::int64_t step = 0;
    if (i >= layout.strides.size() || layout.sizes[i] < 0 || layout.strides[i] < 0 ||
        __builtin_mul_overflow(layout.sizes[i] - 1, layout.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return false;
    }
  }
  return layout.offset >= 0 && static_cast<std::uint64_t>(last) < bytes / DtypeBytes(layout.dtype);
}

}  // namespace

HostValue ValueOf(const Argument& argument, const std::vector<HostValue>& named, const std::string& device) {
  if (argument.kind == PL_TENSOR) return named[static_cast<std::size_t>(argument.integer)];
  if (argument.kind == PL_STRING && argument.text == kThisDevice) {
    return device.empty() ? HostValue{} : HostValue{.kind = PL_STRING, .text = device};
  }
  HostValue value{argument.kind, argument.integer, argument.real, argument.text, {}, {}};
  for (const Argument& item : argument.items) value.items.push_back(ValueOf(item, named, device));
  return value;
}

void OperatorSession::Check(pl_error* error) {
  if (const PlError failure{error}) throw Failed{failure.error_class(), std::string(failure.message())};
}

OperatorSession::OperatorSession(const pl_adapter& adapter, const harness::BackendFacts& facts)
    : adapter_(adapter), capabilities_(facts.capabilities) {
  pl_open_options options{};
  options.struct_size = sizeof options;
  // What --load registered is in the registry of the process.
  const bool fresh = facts.Claims(PL_CAPABILITY(FRESH_REGISTRY)) && facts.loaded.empty();
  options.mode = fresh ? PL_OPEN_FRESH : PL_OPEN_PROCESS;
  options.release = abi::Borrow(facts.release);
  options.operators = 1;
  Check(adapter_.open(&options, &registry_));
}

OperatorOutcome OperatorSession::Run(const OperatorCall& call, const std::string& device) {
  OperatorOutcome outcome;
  Tensors tensors;
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

void OperatorSession::Call(const std::string& name, const std::vector<HostValue>& arguments, HostValues& results) {
  pl_operator*& op = operators_[name];
  if (op == nullptr) Check(adapter_.find_operator(registry_, abi::Borrow(name), &op));
  Lender lender;
  const pl_value_list lent = lender.Lend(arguments);
  const pl_call call{sizeof call, PL_CALL_BOXED, 0, 0, op, lent.data, lent.size, results.sink()};
  Check(adapter_.call(registry_, &call));
}

OperatorSession::Definition OperatorSession::DefinitionOf(const std::string& name) {
  Definition definition;
  try {
    Check(adapter_.schema_of(registry_, abi::Borrow(name), {&definition.schema, [](void* context, pl_string text) {
                                                              *static_cast<std::string*>(context) = abi::View(text);
                                                            }}));
    for (const char* const key_name : kRegisteredKeys) {
      pl_key key = PL_NO_KEY;
      std::uint32_t has = 0;
      if (const PlError unknown{adapter_.intern_key(registry_, abi::Borrow(key_name), &key)}) continue;
      Check(adapter_.has_kernel(registry_, abi::Borrow(name), key, PL_QUERY_DIRECT, &has));
      if (has != 0) definition.keys.emplace_back(key_name);
    }
  } catch (const Failed& failed) {
    definition.error_class = failed.error_class;
    definition.message = failed.message;
  }
  return definition;
}

TensorRef OperatorSession::MakeTensor(const HostTensor& tensor, const std::string& device) {
  const pl_tensor_layout layout{sizeof layout,
                                tensor.dtype,
                                tensor.sizes.data(),
                                tensor.strides.data(),
                                tensor.sizes.size(),
                                tensor.offset,
                                abi::Borrow(tensor.device.empty() ? device : tensor.device)};
  pl_tensor* made = nullptr;
  Check(adapter_.tensor_from_host(registry_, &layout, tensor.storage.data(), tensor.storage.size(), &made));
  return TensorRef::Adopt(adapter_, made);
}

HostValue OperatorSession::Make(const Argument& argument, const std::string& device, Tensors& tensors) {
  if (argument.kind != PL_TENSOR) {
    HostValue value = ValueOf({argument.kind, argument.integer, argument.real, argument.text, {}, {}}, {}, device);
    for (const Argument& item : argument.items) value.items.push_back(Make(item, device, tensors));
    return value;
  }
  HostValue value{.kind = PL_TENSOR};
  value.tensor = argument.integer >= 0 ? View(tensors[static_cast<std::size_t>(argument.integer)], argument.tensor)
                                       : MakeTensor(argument.tensor, device);
  tensors.push_back(value.tensor);
  return value;
}

TensorRef OperatorSession::View(const TensorRef& base, const HostTensor& layout) {
  HostValue tensor{.kind = PL_TENSOR};
  tensor.tensor = base;
  HostValues results(adapter_);
  Call("aten::as_strided",
       {std::move(tensor), IntsValue(layout.sizes), IntsValue(layout.strides),
        HostValue{.kind = PL_INT, .integer = layout.offset}},
       results);
  return results.values().front().tensor;
}

OperatorSession::Info OperatorSession::InfoOf(pl_tensor* tensor) {
  Info info;
  Check(adapter_.tensor_info(registry_, tensor, &info, [](void* context, const pl_tensor_info* given) {
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

HostTensor OperatorSession::AllOf(pl_tensor* tensor) {
  Info info = InfoOf(tensor);
  if (info.layout.device == kMeta) return std::move(info.layout);
  info.layout.storage.resize(info.storage_bytes);
  Check(adapter_.storage_to_host(registry_, tensor, info.layout.storage.data(), info.storage_bytes));
  return std::move(info.layout);
}

TensorState OperatorSession::StateOf(pl_tensor* tensor) {
  TensorState state;
  const Info info = InfoOf(tensor);
  state.storage = info.storage;
  state.version = info.version;
  state.identity = adapter_.tensor_identity(tensor);
  state.storage_bytes = info.storage_bytes;
  state.outside = !IsInside(info.layout, info.storage_bytes);
  state.layout = state.outside ? info.layout : AllOf(tensor);
  Check(adapter_.tensor_keys(registry_, tensor, &state.keys, [](void* context, pl_key key) {
    static_cast<std::vector<std::uint32_t>*>(context)->push_back(key);
  }));
  return state;
}

Argument OperatorSession::Read(const HostValue& result, const Tensors& arguments, OperatorOutcome& outcome) {
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
    Check(adapter_.tensor_to_host(registry_, result.tensor.get(), returned.tensor.storage.data(),
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

}  // namespace plumbline::suites
