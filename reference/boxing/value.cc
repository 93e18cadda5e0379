#include "reference/boxing/value.h"

namespace plumbline::reference {

Value::Value(std::string text) : kind_(Kind::kString) {
  payload_.string = new SharedString;
  payload_.string->text = std::move(text);
}

Value::Value(std::vector<Value> items) : kind_(Kind::kList) {
  payload_.list = new SharedList;
  payload_.list->items = std::move(items);
}

}  // namespace plumbline::reference
