// A tensor: a key set, by which it is dispatched; elements of a dtype in a storage, seen through sizes, strides and an
// offset; and a slot that higher layers fill.
//
//   Tensor a = Tensor::Empty({2, 3}, DType::kFloat32, DeviceType::kCpu, table);     // keys [CPU AutogradCPU]
//   a.data<float>()[0] = 1;   a.sizes();   a.strides();   a.BumpVersion();
//   Tensor column = a.View({2}, {3}, 1);                                           // same storage, same version
//   Tensor probe = Tensor::Make(table.SetOfNames({"CPU", "AutogradCPU"}));         // keys alone
//
// A Tensor is a counted reference and never null: a default-constructed one is the undefined tensor of the default key
// table (pytorch-1.13). A tensor's key set is fixed when it is made, and its bits mean what the table that it was made
// with says; it may only be passed to operators of registries with that table.
//
// Only a tensor with has_data() has a dtype, sizes, a storage and a version; of an undefined one, or one of keys alone,
// asking for those is kInvalidArgument. Offsets and strides are in elements, strides are never negative, and a tensor
// never reaches beyond its storage.
//
// Threads: the counts and the version are atomic; handles are values, shared between threads like any other value.
// Resize is for a tensor that nobody else uses meanwhile.
#ifndef PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_
#define PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "reference/keys/key_set.h"
#include "reference/keys/key_table.h"
#include "reference/tensor/dims.h"
#include "reference/tensor/dtype.h"
#include "reference/tensor/geometry.h"
#include "reference/tensor/storage.h"

namespace plumbline::reference {

// What higher layers hang on a tensor (autograd history); opaque here, destroyed with it.
class TensorSlot {
 public:
  virtual ~TensorSlot();
};

// A version counter other than the storage's own: that of a tensor which was told apart by WithOwnVersion.
using OwnVersion = std::shared_ptr<std::atomic<std::uint64_t>>;

class alignas(64) TensorObject {  // a cache line of its own: counts of neighbours do not disturb readers of keys
 public:
  TensorObject(KeySet keys, bool defined) : keys_(keys), defined_(defined) {}
  TensorObject(KeySet keys, Storage storage, DType dtype, IntSpan sizes, IntSpan strides, std::int64_t offset,
               std::int64_t numel, bool contiguous);
  ~TensorObject();
  TensorObject(const TensorObject&) = delete;
  TensorObject& operator=(const TensorObject&) = delete;

  // Memory as new gives it, aligned here: its aligned form has no per-thread lists and costs several times as much.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* object);

  KeySet keys() const { return keys_; }
  bool defined() const { return defined_; }
  std::unique_ptr<TensorSlot>& slot() { return slot_; }

 private:
  friend class Tensor;
  friend class TensorRecords;
  void SetSteps(IntSpan sizes, IntSpan strides, std::int64_t numel, bool contiguous);
  const std::int64_t* steps() const { return dims_ <= kInlineDims ? inline_steps_ : heap_steps_; }

  KeySet keys_;
  std::atomic<std::int64_t> references_{1};
  bool defined_;
  bool has_data_ = false;
  DType dtype_ = DType::kUint8;
  bool contiguous_ = false;
  bool recorded_ = false;  // in the list of memory_report.h
  std::uint16_t dims_ = 0;
  std::unique_ptr<TensorSlot> slot_;
  std::int64_t numel_ = 0;
  std::int64_t offset_ = 0;
  Storage storage_;
  std::unique_ptr<OwnVersion> own_version_;
  union {  // sizes, then strides
    std::int64_t inline_steps_[2 * kInlineDims];
    std::int64_t* heap_steps_;
  };
};

class Tensor {
 public:
  Tensor();
  static Tensor Make(KeySet keys);
  static Tensor Undefined(const KeyTable& table);

  // ---- with elements ----
  // Row-major, not initialised. The keys are the device's own and its autograd key. Sizes that make no sense are
  // kInvalidArgument, those whose product or bytes do not fit kOverflow, here and below.
  static Tensor Empty(IntSpan sizes, DType dtype, Device device, const KeyTable& table);
  static Tensor Empty(IntSpan sizes, DType dtype, Device device, KeySet keys);
  static Tensor EmptyStrided(IntSpan sizes, IntSpan strides, DType dtype, Device device, const KeyTable& table);
  static Tensor EmptyStrided(IntSpan sizes, IntSpan strides, DType dtype, Device device, KeySet keys);
  // Memory from outside; the deleter runs with the last tensor on it. `data` is the first element.
  static Tensor FromBlob(void* data, IntSpan sizes, IntSpan strides, DType dtype, Device device, Deleter deleter,
                         const KeyTable& table);
  // Any window on a storage; one that reaches beyond it is kInvalidArgument.
  static Tensor FromStorage(Storage storage, IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype,
                            KeySet keys);
  // Another window on the same storage, with the same keys and version counter; `offset` counts from the storage's
  // start.
  Tensor View(IntSpan sizes, IntSpan strides, std::int64_t offset) const;
  // The same window with a version counter of its own, from 0, which its views share.
  Tensor WithOwnVersion() const;
  // The keys of a device's tensors: [CPU AutogradCPU].
  static KeySet KeysFor(Device device, const KeyTable& table);

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

  bool has_data() const { return object_->has_data_; }
  DType dtype() const { return With("dtype").dtype_; }
  Device device() const { return With("device").storage_.device(); }
  std::int64_t dim() const { return With("number of dimensions").dims_; }
  std::int64_t numel() const { return With("number of elements").numel_; }
  std::int64_t storage_offset() const { return With("storage offset").offset_; }
  IntSpan sizes() const {
    const TensorObject& object = With("sizes");
    return std::span(object.steps(), object.dims_);
  }
  IntSpan strides() const {
    const TensorObject& object = With("strides");
    return std::span(object.steps() + object.dims_, object.dims_);
  }
  std::int64_t size(std::int64_t dim) const { return sizes()[WrapDim(dim, this->dim())]; }
  std::int64_t stride(std::int64_t dim) const { return strides()[WrapDim(dim, this->dim())]; }
  std::size_t itemsize() const { return SizeOf(dtype()); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::kContiguous) const {
    if (format == MemoryFormat::kContiguous) return With("layout").contiguous_;
    return ContiguousIn(sizes(), strides(), format);
  }

  bool has_storage() const { return object_->has_data_; }
  const Storage& storage() const { return With("storage").storage_; }
  bool is_alias_of(const Tensor& other) const { return storage().is_same(other.storage()); }
  // The first element; null on meta and, if nothing was allocated, of a tensor without elements.
  void* data() const {
    const TensorObject& object = With("data");
    char* const start = static_cast<char*>(object.storage_.data());
    return start == nullptr ? nullptr : start + object.offset_ * static_cast<std::int64_t>(SizeOf(object.dtype_));
  }
  // kInvalidArgument if the elements are of another type.
  template <class T>
  T* data() const {
    if (dtype() != DTypeOf<T>) [[unlikely]] {
      WrongDType(DTypeOf<T>);
    }
    return static_cast<T*>(data());
  }

  std::uint64_t version() const { return Version().load(std::memory_order_acquire); }
  void BumpVersion() const { Version().fetch_add(1, std::memory_order_acq_rel); }

  // Gives this very object new sizes, row-major, as a result that was passed in is given: the storage grows if it has
  // to, and then its contents are kept on the CPU only. Sizes that it has already change nothing.
  void Resize(IntSpan sizes) const;

  // For owners that hold the raw object, such as Value: one reference passes between the two.
  TensorObject* Detach() && { return std::exchange(object_, nullptr); }
  static Tensor Attach(TensorObject* object) { return Tensor(object); }

 private:
  explicit Tensor(TensorObject* object) : object_(object) {}
  void Drop() {
    if (object_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy(object_);
  }
  const TensorObject& With(const char* what) const {
    if (!object_->has_data_) [[unlikely]] {
      HasNo(what);
    }
    return *object_;
  }
  std::atomic<std::uint64_t>& Version() const {
    const TensorObject& object = With("version");
    return object.own_version_ == nullptr ? object.storage_.version() : **object.own_version_;
  }
  [[noreturn]] void HasNo(const char* what) const;
  [[noreturn]] void WrongDType(DType asked) const;
  static void Destroy(TensorObject* object);
  TensorObject* object_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_TENSOR_H_
