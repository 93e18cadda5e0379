// The stack of a boxed call: arguments are pushed from left to right, the kernel takes them off and pushes its results.
// What lies below the arguments is not touched.
//
// Room for 16 values is inside the object, so that a typed call of a boxed kernel allocates nothing; a larger stack
// moves to the heap. Not copyable; belongs to one thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_STACK_H_
#define PLUMBLINE_REFERENCE_BOXING_STACK_H_

#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "reference/boxing/value.h"

namespace plumbline::reference {

class Stack {
 public:
  static constexpr std::size_t kInline = 16;

  Stack() : begin_(reinterpret_cast<Value*>(inline_)), end_(begin_), limit_(begin_ + kInline) {}
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() {
    Drop(size());
    if (begin_ != reinterpret_cast<Value*>(inline_)) ::operator delete(begin_);
  }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  bool empty() const { return begin_ == end_; }

  void Push(Value value) { Emplace(std::move(value)); }
  // Makes the value in its place.
  template <class T>
  [[gnu::always_inline]] void Emplace(T&& from) {
    if (end_ == limit_) [[unlikely]] {
      Grow();
    }
    new (end_) Value(std::forward<T>(from));
    ++end_;
  }
  Value Pop() {
    --end_;
    Value value = std::move(*end_);
    end_->~Value();
    return value;
  }
  void Drop(std::size_t count) {
    for (; count > 0; --count) (--end_)->~Value();
  }
  // The top `count` values, leftmost first; valid until the next push or drop.
  std::span<Value> Top(std::size_t count) { return {end_ - count, count}; }
  // Removes `count` values that lie below the top `above` ones.
  void DropBelow(std::size_t above, std::size_t count);

 private:
  void Grow();

  Value* begin_;
  Value* end_;
  Value* limit_;
  alignas(Value) std::byte inline_[kInline * sizeof(Value)];
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_STACK_H_
