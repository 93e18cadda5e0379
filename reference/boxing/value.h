// A value of any schema kind: what boxed calls pass.
//
//   Stack stack;
//   stack.Push(Value(tensor)); stack.Push(Value(3)); stack.Push(Value::None());
//   op.CallBoxed(stack);                   // arguments are gone, results are there
//   Tensor result = stack.Pop().ToTensor();
//
// A Scalar has no kind of its own: it is the int, float or bool that it was made from. An undefined tensor is a tensor,
// None is not. 16 bytes, moved like a pointer; tensors, strings and lists are counted references, and lists and strings
// are immutable once they are in a value. Plain value; not to be changed while another thread reads it.
#ifndef PLUMBLINE_REFERENCE_BOXING_VALUE_H_
#define PLUMBLINE_REFERENCE_BOXING_VALUE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/tensor/tensor.h"

namespace plumbline::reference {

class Value {
 public:
  enum class Kind : std::uint32_t { kNone, kTensor, kInt, kFloat, kBool, kString, kList };

  Value() : kind_(Kind::kNone) { payload_.integer = 0; }
  static Value None() { return Value(); }
  static Value Ints(IntSpan items);  // a list of them
  explicit Value(Tensor tensor) : kind_(Kind::kTensor) { payload_.tensor = std::move(tensor).Detach(); }
  explicit Value(std::int64_t integer) : kind_(Kind::kInt) { payload_.integer = integer; }
  explicit Value(int integer) : Value(static_cast<std::int64_t>(integer)) {}
  explicit Value(double real) : kind_(Kind::kFloat) { payload_.real = real; }
  explicit Value(bool boolean) : kind_(Kind::kBool) { payload_.integer = boolean ? 1 : 0; }
  explicit Value(std::string text);
  explicit Value(std::string_view text) : Value(std::string(text)) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  explicit Value(std::vector<Value> items);

  Value(const Value& other) : kind_(other.kind_), payload_(other.payload_) { Retain(); }
  Value(Value&& other) noexcept : kind_(std::exchange(other.kind_, Kind::kNone)), payload_(other.payload_) {}
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(payload_, other.payload_);
    return *this;
  }
  [[gnu::always_inline]] ~Value() {
    if (kind_ == Kind::kTensor) {
      Tensor::Attach(payload_.tensor);
    } else if (kind_ >= Kind::kString) {
      ReleaseShared();
    }
  }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }

  // These presume the kind; a caller that does not know it asks first.
  Tensor ToTensor() const& { return *AsTensor(); }
  Tensor ToTensor() && {
    kind_ = Kind::kNone;
    return Tensor::Attach(payload_.tensor);
  }
  // A Tensor is just its object's address, so that a value can lend out the reference that it holds.
  const Tensor* AsTensor() const { return reinterpret_cast<const Tensor*>(&payload_.tensor); }
  Tensor* AsTensor() { return reinterpret_cast<Tensor*>(&payload_.tensor); }
  KeySet tensor_keys() const { return payload_.tensor->keys(); }
  std::int64_t ToInt() const { return payload_.integer; }
  double ToFloat() const { return payload_.real; }
  bool ToBool() const { return payload_.integer != 0; }
  std::string_view ToString() const { return payload_.string->text; }
  const std::vector<Value>& ToList() const { return payload_.list->items; }

 private:
  struct SharedString {
    std::atomic<std::int64_t> references{1};
    std::string text;
  };
  struct SharedList {
    std::atomic<std::int64_t> references{1};
    std::vector<Value> items;
  };
  void Retain();
  void ReleaseShared();  // of a string or list

  Kind kind_;
  union {
    std::int64_t integer;
    double real;
    TensorObject* tensor;
    SharedString* string;
    SharedList* list;
  } payload_;
};

static_assert(sizeof(Value) == 16);
static_assert(sizeof(Tensor) == sizeof(void*));

inline void Value::Retain() {
  if (kind_ == Kind::kTensor) {
    Tensor copy = *AsTensor();
    std::move(copy).Detach();
  } else if (kind_ == Kind::kString) {
    payload_.string->references.fetch_add(1, std::memory_order_relaxed);
  } else if (kind_ == Kind::kList) {
    payload_.list->references.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_VALUE_H_
