#include "conformance/adapters/torch/boxed.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace plumbline::torch_backend {
namespace {

class ExactTensor final : public c10::TensorImpl {
 public:
  explicit ExactTensor(c10::DispatchKeySet keys)
      : c10::TensorImpl(keys, caffe2::TypeMeta::Make<float>(), c10::Device(c10::DeviceType::CPU)) {
    key_set_ = keys;
  }
};

c10::IValue ToIValue(const Value& value, const c10::TypePtr& type);

template <class X>
c10::IValue TypedList(const std::vector<Value>& items) {
  c10::List<X> list;
  list.reserve(items.size());
  for (const Value& item : items) list.push_back(Read(item, static_cast<const X*>(nullptr)));
  return list;
}

c10::IValue OptionalTensorList(const std::vector<Value>& items) {
  c10::List<Optional<at::Tensor>> list;
  for (const Value& item : items)
    list.push_back(item.is_none() ? Optional<at::Tensor>() : Optional<at::Tensor>(item.tensor()));
  return list;
}

// In a list what names no device stays a string, for libtorch to refuse.
std::optional<c10::Device> DeviceNamed(const std::string& name) {
  try {
    return c10::Device(name);
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

bool IsDevice(const c10::TypePtr& type) {
  if (type == nullptr) return false;
  if (type->kind() == c10::TypeKind::OptionalType) return IsDevice(type->containedType(0));
  return type->kind() == c10::TypeKind::DeviceObjType;
}

// Empty if an item is none.
std::optional<c10::IValue> DeviceList(const std::vector<Value>& items) {
  c10::List<c10::Device> list;
  for (const Value& item : items) {
    const auto device = item.kind() == PL_STRING ? DeviceNamed(item.string()) : std::nullopt;
    if (!device) return std::nullopt;
    list.push_back(*device);
  }
  return list;
}

c10::IValue AnyList(const std::vector<Value>& items) {
  c10::impl::GenericList list(c10::AnyType::get());
  for (const Value& item : items) list.push_back(ToIValue(item, nullptr));
  return list;
}

bool AllOf(const std::vector<Value>& items, std::uint32_t kind, bool or_none = false) {
  return std::all_of(items.begin(), items.end(),
                     [&](const Value& item) { return item.kind() == kind || (or_none && item.is_none()); });
}

// Of the element type that is wanted, if the items fit it.
c10::IValue ToList(const std::vector<Value>& items, const c10::TypePtr& element) {
  const bool untyped = element == nullptr;
  const auto wanted = untyped ? c10::TypeKind::AnyType : element->kind();
  const auto fits = [&](c10::TypeKind kind, std::uint32_t item_kind) {
    return (wanted == kind || (untyped && !items.empty())) && AllOf(items, item_kind);
  };
  if (fits(c10::TypeKind::TensorType, PL_TENSOR)) return TypedList<at::Tensor>(items);
  if (fits(c10::TypeKind::IntType, PL_INT) || fits(c10::TypeKind::SymIntType, PL_INT))
    return TypedList<std::int64_t>(items);
  if (fits(c10::TypeKind::FloatType, PL_FLOAT)) return TypedList<double>(items);
  if (fits(c10::TypeKind::BoolType, PL_BOOL)) return TypedList<bool>(items);
  if (fits(c10::TypeKind::StringType, PL_STRING)) return TypedList<std::string>(items);
  if (wanted == c10::TypeKind::DeviceObjType) {
    if (std::optional<c10::IValue> devices = DeviceList(items)) return *std::move(devices);
  }
  const bool optional_tensors = !untyped && wanted == c10::TypeKind::OptionalType &&
                                element->containedType(0)->kind() == c10::TypeKind::TensorType;
  if ((optional_tensors || (untyped && !items.empty())) && AllOf(items, PL_TENSOR, true))
    return OptionalTensorList(items);
  return AnyList(items);
}

c10::TypePtr ElementType(c10::TypePtr type) {
  if (type != nullptr && type->kind() == c10::TypeKind::OptionalType) type = type->containedType(0);
  if (type == nullptr || type->kind() != c10::TypeKind::ListType) return nullptr;
  return type->containedType(0);
}

c10::IValue ToIValue(const Value& value, const c10::TypePtr& type) {
  switch (value.kind()) {
    case PL_TENSOR:
      return value.tensor();
    case PL_INT:
      return value.integer();
    case PL_FLOAT:
      return value.real();
    case PL_BOOL:
      return value.boolean();
    case PL_STRING:
      // A text that names no device does not become one, as in Python.
      if (IsDevice(type)) return c10::Device(value.string());
      return value.string();
    case PL_LIST:
      return ToList(value.list(), ElementType(type));
    default:
      return c10::IValue();
  }
}

Value FromIValue(const c10::IValue& value) {
  if (value.isTensor()) return Value::Of(value.toTensor());
  if (value.isInt()) return Value::Int(value.toInt());
  if (value.isDouble()) return Value::Float(value.toDouble());
  if (value.isBool()) return Value::Bool(value.toBool());
  if (value.isString()) return Value::String(value.toStringRef());
  if (value.isDevice()) return Value::String(value.toDevice().str());
  if (value.isList()) {
    std::vector<Value> items;
    for (const c10::IValue& item : value.toListRef()) items.push_back(FromIValue(item));
    return Value::List(std::move(items));
  }
  if (value.isNone()) return Value::None();
  throw abi::Error(PL_ERROR_UNSUPPORTED, "a " + value.tagKind() + " is not a value of the catalogue's kinds");
}

}  // namespace

torch::jit::Stack ToStack(std::span<const Value> values, const std::vector<c10::Argument>& positions) {
  torch::jit::Stack stack;
  stack.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    stack.push_back(ToIValue(values[i], i < positions.size() ? positions[i].type() : nullptr));
  return stack;
}

std::vector<Value> FromStack(std::span<const c10::IValue> values) {
  std::vector<Value> out;
  out.reserve(values.size());
  for (const c10::IValue& value : values) out.push_back(FromIValue(value));
  return out;
}

at::Tensor MakeTensor(c10::DispatchKeySet keys) { return at::Tensor(c10::make_intrusive<ExactTensor>(keys)); }

}  // namespace plumbline::torch_backend
