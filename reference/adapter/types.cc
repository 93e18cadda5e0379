#include "reference/adapter/types.h"

namespace plumbline::reference::adapter {

Value FromHost(const HostValue& value) {
  switch (value.kind()) {
    case PL_TENSOR:
      return Value(value.tensor());
    case PL_INT:
      return Value(value.integer());
    case PL_FLOAT:
      return Value(value.real());
    case PL_BOOL:
      return Value(value.boolean());
    case PL_STRING:
      return Value(value.string());
    case PL_LIST: {
      std::vector<Value> items;
      items.reserve(value.list().size());
      for (const HostValue& item : value.list()) items.push_back(FromHost(item));
      return Value(std::move(items));
    }
    default:
      return Value::None();
  }
}

HostValue ToHost(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNone:
      break;
    case Value::Kind::kTensor:
      return HostValue::Of(value.ToTensor());
    case Value::Kind::kInt:
      return HostValue::Int(value.ToInt());
    case Value::Kind::kFloat:
      return HostValue::Float(value.ToFloat());
    case Value::Kind::kBool:
      return HostValue::Bool(value.ToBool());
    case Value::Kind::kString:
      return HostValue::String(std::string(value.ToString()));
    case Value::Kind::kList: {
      HostValues items;
      items.reserve(value.ToList().size());
      for (const Value& item : value.ToList()) items.push_back(ToHost(item));
      return HostValue::List(std::move(items));
    }
  }
  return HostValue::None();
}

}  // namespace plumbline::reference::adapter
