#include "conformance/harness/host_values.h"

#include <utility>

namespace plumbline::harness {

TensorRef TensorRef::Adopt(const pl_adapter& adapter, pl_tensor* tensor) {
  TensorRef made;
  if (tensor != nullptr) {
    made.held_ = std::shared_ptr<pl_tensor>(tensor, [release = adapter.tensor_release](pl_tensor* t) { release(t); });
  }
  return made;
}

TensorRef TensorRef::Retain(const pl_adapter& adapter, pl_tensor* tensor) {
  return tensor == nullptr ? TensorRef() : Adopt(adapter, adapter.tensor_retain(tensor));
}

HostValue Copy(const pl_adapter& adapter, const pl_value& value) {
  HostValue copy;
  copy.kind = value.kind;
  switch (value.kind) {
    case PL_TENSOR:
      copy.tensor = TensorRef::Retain(adapter, value.as.tensor);
      break;
    case PL_INT:
    case PL_BOOL:
      copy.integer = value.as.integer;
      break;
    case PL_FLOAT:
      copy.real = value.as.real;
      break;
    case PL_STRING:
      copy.text.assign(value.as.string.data, value.as.string.size);
      break;
    case PL_LIST:
      for (std::uint64_t i = 0; i < value.as.list.size; ++i) {
        copy.items.push_back(Copy(adapter, value.as.list.data[i]));
      }
      break;
    default:
      break;
  }
  return copy;
}

HostValue PlainValue(const scenario::Value& value) {
  using Kind = scenario::Value::Kind;
  HostValue plain;
  switch (value.kind) {
    case Kind::kInt:
      plain.kind = PL_INT;
      plain.integer = value.integer;
      break;
    case Kind::kFloat:
      plain.kind = PL_FLOAT;
      plain.real = value.real;
      break;
    case Kind::kBool:
      plain.kind = PL_BOOL;
      plain.integer = value.boolean ? 1 : 0;
      break;
    case Kind::kString:
      plain.kind = PL_STRING;
      plain.text = value.text;
      break;
    default:
      break;
  }
  return plain;
}

std::uint32_t KindOfZero(const scenario::SchemaType& type) {
  using Base = scenario::SchemaType::Base;
  if (type.optional) return PL_NONE;
  if (type.list) return PL_LIST;
  switch (type.base) {
    case Base::kTensor:
      return PL_TENSOR;
    case Base::kFloat:
      return PL_FLOAT;
    case Base::kBool:
      return PL_BOOL;
    case Base::kStr:
    case Base::kDevice:
      return PL_STRING;
    case Base::kGenerator:
      return PL_NONE;
    default:
      return PL_INT;
  }
}

std::string_view TextOfZero(const scenario::SchemaType& type) {
  return type.base == scenario::SchemaType::Base::kDevice ? "cpu" : "";
}

std::vector<pl_key_declaration> LendKeys(const std::vector<scenario::KeyDeclaration>& declared) {
  const auto text = [](const std::string& string) { return pl_string{string.data(), string.size()}; };
  std::vector<pl_key_declaration> keys;
  for (const scenario::KeyDeclaration& key : declared) {
    keys.push_back({.struct_size = sizeof(pl_key_declaration),
                    .kind = static_cast<std::uint32_t>(key.kind),
                    .name = text(key.name),
                    .after = text(key.after),
                    .autograd = text(key.autograd)});
  }
  return keys;
}

std::uint32_t SignatureId(std::string_view name) {
#define PLUMBLINE_SIGNATURE_ID(id, signature, arguments, returns) \
  if (name == #signature) return id;
  PL_SIGNATURES(PLUMBLINE_SIGNATURE_ID)
#undef PLUMBLINE_SIGNATURE_ID
  return PL_SIGNATURE_none;
}

pl_value_sink HostValues::sink() {
  return {this, [](void* context, const pl_value* value) -> pl_error* {
            auto* self = static_cast<HostValues*>(context);
            self->values_.push_back(Copy(self->adapter_, *value));
            return nullptr;
          }};
}

pl_value_list Lender::Lend(const std::vector<HostValue>& values) {
  std::vector<pl_value> lent;
  lent.reserve(values.size());
  for (const HostValue& value : values) {
    pl_value out{};
    out.kind = value.kind;
    switch (value.kind) {
      case PL_TENSOR:
        out.as.tensor = value.tensor.get();
        break;
      case PL_INT:
      case PL_BOOL:
        out.as.integer = value.integer;
        break;
      case PL_FLOAT:
        out.as.real = value.real;
        break;
      case PL_STRING:
        out.as.string = {value.text.data(), value.text.size()};
        break;
      case PL_LIST:
        out.as.list = Lend(value.items);
        break;
      default:
        break;
    }
    lent.push_back(out);
  }
  const std::vector<pl_value>& kept = kept_.emplace_back(std::move(lent));
  return {kept.data(), kept.size()};
}

}  // namespace plumbline::harness
