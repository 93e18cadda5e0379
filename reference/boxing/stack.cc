#include "reference/boxing/stack.h"

#include <algorithm>

namespace plumbline::reference {

void Stack::Grow() {
  const std::size_t count = size();
  Value* larger = static_cast<Value*>(::operator new(2 * count * sizeof(Value)));
  for (std::size_t i = 0; i < count; ++i) {
    new (larger + i) Value(std::move(begin_[i]));
    begin_[i].~Value();
  }
  if (begin_ != reinterpret_cast<Value*>(inline_)) ::operator delete(begin_);
  begin_ = larger;
  end_ = larger + count;
  limit_ = larger + 2 * count;
}

void Stack::DropBelow(std::size_t above, std::size_t count) {
  Value* const top = end_ - above;
  std::move(top, end_, top - count);
  Drop(count);
}

}  // namespace plumbline::reference
