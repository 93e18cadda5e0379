#include "reference/tensor/storage.h"

#include <cstring>
#include <string>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"

namespace plumbline::reference {

Storage Storage::Allocate(std::size_t bytes, Device device) {
  Allocator& allocator = AllocatorFor(device);
  Storage storage(new StorageObject);
  StorageObject& object = *storage.object_;
  object.device_ = device;
  object.data_ = allocator.Allocate(bytes);
  object.allocator_ = &allocator;
  object.bytes_.store(bytes, std::memory_order_relaxed);
  return storage;
}

Storage Storage::Wrap(void* data, std::size_t bytes, Device device, Deleter deleter) {
  Storage storage(new StorageObject);
  StorageObject& object = *storage.object_;
  object.device_ = device;
  if (deleter) object.deleter_ = std::make_unique<Deleter>(std::move(deleter));
  object.data_ = data;
  object.bytes_.store(bytes, std::memory_order_relaxed);
  return storage;
}

void Storage::Destroy(StorageObject* object) {
  if (object->allocator_ != nullptr) object->allocator_->Free(object->data_, object->bytes_);
  if (object->deleter_ != nullptr) (*object->deleter_)(object->data_);
  delete object;
}

void Storage::CopyToHost(void* to, std::int64_t first, std::size_t bytes) const {
  Allocator& memory = object_->allocator_ != nullptr ? *object_->allocator_ : AllocatorFor(object_->device_);
  memory.CopyToHost(to, static_cast<const char*>(object_->data_) + first, bytes);
}

void Storage::Grow(std::size_t bytes) const {
  if (bytes <= this->bytes()) return;
  if (object_->allocator_ == nullptr) {
    Throw(ErrorClass::kInvalidArgument, "A storage of " + std::to_string(this->bytes()) + " bytes that wraps memory " +
                                            "from outside cannot grow to " + std::to_string(bytes));
  }
  void* const larger = object_->allocator_->Allocate(bytes);
  const bool readable = object_->device_.type == DeviceType::kCpu && object_->data_ != nullptr;
  if (readable) std::memcpy(larger, object_->data_, this->bytes());
  if (!PLUMBLINE_FAULT(growth_keeps_the_old_block)) object_->allocator_->Free(object_->data_, this->bytes());
  object_->data_ = larger;
  object_->bytes_.store(bytes, std::memory_order_relaxed);
}

}  // namespace plumbline::reference
