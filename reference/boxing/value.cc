#include "reference/boxing/value.h"

namespace plumbline::reference {

Value::Value(std::string text) : kind_(Kind::kString) {
  payload_.string = new SharedString;
  payload_.string->text = std::move(text);
}

Value Value::Ints(IntSpan items) {
  std::vector<Value> list;
  for (const std::int64_t item : items) list.emplace_back(item);
  return Value(std::move(list));
}

Value::Value(std::vector<Value> items) : kind_(Kind::kList) {
  payload_.list = new SharedList;
  payload_.list->items = std::move(items);
}

void Value::ReleaseShared() {
  if (kind_ == Kind::kString) {
    if (payload_.string->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete payload_.string;
  } else {
    if (payload_.list->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete payload_.list;
  }
}

}  // namespace plumbline::reference
