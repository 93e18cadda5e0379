// A tensor, as far as dispatch needs one: a key set, and a slot that higher layers fill.
//
//   Tensor a = Tensor::Make(table, table.SetOfNames({"CPU", "AutogradCPU"}));
//   Tensor none = Tensor::Undefined(table);
//
// A Tensor is a counted reference and never null: a default-constructed one is the undefined tensor of the default key
// table (pytorch-1.13). A tensor's key set is fixed when it is made, and its bits mean what the table that it was made
// with says; it may only be passed to operators of registries with that table.
//
// Threads: the count is atomic; handles are values, shared between threads like any other value.
#ifndef PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_
#define PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "reference/keys/key_set.h"
#include "reference/keys/key_table.h"

namespace plumbline::reference {

// What higher layers hang on a tensor (storage, autograd history); opaque here, destroyed with it.
class TensorSlot {
 public:
  virtual ~TensorSlot();
};

class alignas(64) TensorObject {  // a cache line of its own: counts of neighbours do not disturb readers of keys
 public:
  TensorObject(KeySet keys, bool defined) : keys_(keys), defined_(defined) {}
  KeySet keys() const { return keys_; }
  bool defined() const { return defined_; }
  std::unique_ptr<TensorSlot>& slot() { return slot_; }

 private:
  friend class Tensor;
  KeySet keys_;
  std::atomic<std::int64_t> references_{1};
  bool defined_;
  std::unique_ptr<TensorSlot> slot_;
};

class Tensor {
 public:
  Tensor();
  static Tensor Make(KeySet keys);
  static Tensor Undefined(const KeyTable& table);

  Tensor(const Tensor& other) : object_(other.object_) { object_->references_.fetch_add(1, std::memory_order_relaxed); }
  Tensor(Tensor&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Tensor() {
    if (object_ != nullptr) Drop();
  }

  KeySet keys() const { return object_->keys(); }
  bool defined() const { return object_->defined(); }
  bool is_same(const Tensor& other) const { return object_ == other.object_; }
  std::int64_t use_count() const { return object_->references_.load(std::memory_order_relaxed); }
  TensorObject& object() const { return *object_; }

  // For owners that hold the raw object, such as Value: one reference passes between the two.
  TensorObject* Detach() && { return std::exchange(object_, nullptr); }
  static Tensor Attach(TensorObject* object) { return Tensor(object); }

 private:
  explicit Tensor(TensorObject* object) : object_(object) {}
  void Drop() {
    if (object_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy(object_);
  }
  static void Destroy(TensorObject* object);
  TensorObject* object_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_
