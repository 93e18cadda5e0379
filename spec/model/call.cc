#include "spec/model/call.h"

namespace plumbline::model {

using scenario::Value;

KeySet KeysOf(const KeyTable& keys, const SchemaType& type, const Value& value) {
  if (!type.BringsKeys()) return {};  // [RES-003]
  switch (value.kind) {
    case Value::Kind::kUndefined:
      return keys.undefined_tensor();  // [RES-005] [CALL-004]
    case Value::Kind::kTensor: {
      std::string unknown;
      return keys.SetOf(value.keys, &unknown).value_or(KeySet{});
    }
    case Value::Kind::kList: {
      KeySet set;
      for (const Value& item : value.items) set = Union(set, KeysOf(keys, type, item));  // [RES-002]
      return set;
    }
    default:
      return {};
  }
}

Selection Select(const KeyTable& keys, const std::function<Slot(Key)>& slot_of, const KeySet& arguments,
                 const ThreadState& thread, bool mask_before_thread_state) {
  Selection s;
  s.arguments = arguments;
  // [RES-006] [RES-007] [RES-008] [RES-011]
  s.with_thread = Without(Union(arguments, thread.included), thread.excluded);

  // Each backend has a mask of its own: a fallthrough at AutogradCPU does not hide AutogradCUDA from a CUDA call.
  s.component = keys.HighestComponent(s.with_thread);  // [RES-013] [RES-014] [RES-015]
  if (mask_before_thread_state) s.component = keys.HighestComponent(arguments).value_or(0);
  KeySet masked;
  for (Key key = 1; key < keys.slot_count(); ++key) {
    const bool of_this_backend = !keys.IsPerBackend(key) || keys.ComponentOf(key) == s.component;
    if (!of_this_backend) continue;  // [RES-025]
    const KeySet bits = keys.SetOf(key);
    if ((bits.functionalities & s.with_thread.functionalities).none()) continue;
    if (!slot_of(key).fallthrough()) continue;
    s.fell_through.push_back(key);
    masked = Union(masked, bits);
  }
  s.effective = Without(s.with_thread, masked);  // [RES-012] [RES-023]
  s.key = keys.Highest(s.effective);
  return s;
}

}  // namespace plumbline::model
