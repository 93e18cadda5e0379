// The memory that tensors share: a counted block on a device, with the version counter of those that view it.
//
//   Storage storage = Storage::Allocate(4096, DeviceType::kCpu);
//   Storage mine = Storage::Wrap(pointer, 4096, DeviceType::kCpu, [](void* data) { free(data); });
//
// A Storage is a counted reference, null when default-constructed. The block goes back to the allocator that it came
// from, or to the deleter, with the last reference, on whichever thread drops it. The counts are atomic; the contents
// are the users' business.
#ifndef PLUMBLINE_REFERENCE_TENSOR_STORAGE_H_
#define PLUMBLINE_REFERENCE_TENSOR_STORAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "reference/tensor/allocator.h"
#include "reference/tensor/device.h"

namespace plumbline::reference {

using Deleter = std::function<void(void* data)>;

class StorageObject {
 private:
  friend class Storage;
  std::atomic<std::int64_t> references_{1};
  void* data_ = nullptr;
  std::atomic<std::size_t> bytes_{0};  // atomic for memory_report.h, which may look while it grows
  Device device_;
  Allocator* allocator_ = nullptr;
  std::unique_ptr<Deleter> deleter_;
  std::atomic<std::uint64_t> version_{0};
};

class Storage {
 public:
  Storage() = default;
  static Storage Allocate(std::size_t bytes, Device device);
  // An empty deleter borrows: the memory outlives the storage.
  static Storage Wrap(void* data, std::size_t bytes, Device device, Deleter deleter);

  Storage(const Storage& other) : object_(other.object_) {
    if (object_ != nullptr) object_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  Storage(Storage&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Storage& operator=(Storage other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Storage() {
    if (object_ != nullptr && object_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy(object_);
  }

  explicit operator bool() const { return object_ != nullptr; }
  void* data() const { return object_->data_; }  // null on meta and where there are no bytes
  std::size_t bytes() const { return object_->bytes_.load(std::memory_order_relaxed); }
  Device device() const { return object_->device_; }
  Allocator* allocator() const { return object_->allocator_; }  // null for a wrapped block
  std::int64_t use_count() const {
    return object_ == nullptr ? 0 : object_->references_.load(std::memory_order_relaxed);
  }
  bool is_same(const Storage& other) const { return object_ == other.object_; }
  std::atomic<std::uint64_t>& version() const { return object_->version_; }

  // Bytes from `first` on, to host memory, once all that the device was asked for before is done.
  void CopyToHost(void* to, std::int64_t first, std::size_t bytes) const;

  // Makes the block at least that large; on the CPU with what it held so far, elsewhere what is in it is lost. For a
  // wrapped block that is an error, and no change. Every tensor that shares it sees the new block, so nobody else may
  // use them meanwhile.
  void Grow(std::size_t bytes) const;

 private:
  explicit Storage(StorageObject* object) : object_(object) {}
  static void Destroy(StorageObject* object);
  StorageObject* object_ = nullptr;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_STORAGE_H_
