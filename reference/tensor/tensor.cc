#include "reference/tensor/tensor.h"

#include <atomic>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "reference/faults/faults.h"
#include "reference/keys/error.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"
#include "reference/tensor/memory_report.h"

namespace plumbline::reference {
TensorSlot::~TensorSlot() = default;

// ---- objects ----

void* TensorObject::operator new(std::size_t bytes) {
  constexpr std::uintptr_t kLine = alignof(TensorObject);
  void* const block = ::operator new(bytes + kLine);
  // At least one pointer lies before it, in which the block is remembered.
  void* const object =
      reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(block) + sizeof(void*) + kLine - 1) & ~(kLine - 1));
  static_cast<void**>(object)[-1] = block;
  return object;
}

void TensorObject::operator delete(void* object) { ::operator delete(static_cast<void**>(object)[-1]); }

TensorObject::TensorObject(KeySet keys, Storage storage, DType dtype, IntSpan sizes, IntSpan strides,
                           std::int64_t offset, std::int64_t numel, bool contiguous)
    : keys_(keys), defined_(true), has_data_(true), dtype_(dtype), offset_(offset), storage_(std::move(storage)) {
  SetSteps(sizes, strides, numel, contiguous);
  if (TensorRecords::on()) [[unlikely]] {
    TensorRecords::Add(*this);
  }
}

TensorObject::~TensorObject() {
  if (recorded_) [[unlikely]] {
    TensorRecords::Remove(*this);
  }
  if (dims_ > kInlineDims) delete[] heap_steps_;
}

void TensorObject::SetSteps(IntSpan sizes, IntSpan strides, std::int64_t numel, bool contiguous) {
  std::int64_t* const old = dims_ > kInlineDims ? heap_steps_ : nullptr;
  std::int64_t* const steps = sizes.size() <= kInlineDims ? inline_steps_ : new std::int64_t[2 * sizes.size()];
  std::copy(sizes.begin(), sizes.end(), steps);
  std::copy(strides.begin(), strides.end(), steps + sizes.size());
  if (steps != inline_steps_) heap_steps_ = steps;
  delete[] old;
  dims_ = static_cast<std::uint16_t>(sizes.size());
  numel_ = numel;
  contiguous_ = contiguous;
}

void Tensor::Destroy(TensorObject* object) { delete object; }

// ---- without elements ----

Tensor Tensor::Make(KeySet keys) { return Tensor(new TensorObject(keys, true)); }

// One undefined tensor a key table, as long-lived as the tables are.
Tensor Tensor::Undefined(const KeyTable& table) {
  struct Made {
    ForkMutex mutex{ForkRank::kTensors};
    std::vector<Tensor> all;
  };
  static constinit std::atomic<Made*> made_once{nullptr};
  Made& made = MakeOnce(made_once, [] { return new Made; });
  const std::lock_guard lock(made.mutex);
  while (made.all.size() <= table.number()) made.all.push_back(Tensor(static_cast<TensorObject*>(nullptr)));
  Tensor& undefined = made.all[table.number()];
  if (undefined.object_ == nullptr) undefined = Tensor(new TensorObject(table.undefined_tensor(), false));
  return undefined;
}

Tensor::Tensor() : object_(nullptr) {
  static constinit std::atomic<Tensor*> undefined{nullptr};
  *this = MakeOnce(undefined, [] { return new Tensor(Undefined(*KeyTable::ForRelease("pytorch-1.13"))); });
}

void Tensor::HasNo(const char* what) const {
  Throw(ErrorClass::kInvalidArgument, defined() ? std::string("A tensor that was made of keys alone has no ") + what
                                                : std::string("An undefined tensor has no ") + what);
}

void Tensor::WrongDType(DType asked) const {
  Throw(ErrorClass::kInvalidArgument, "The elements are " + std::string(Spelling(dtype())) + " and not " +
                                          std::string(Spelling(asked)) + ", as which they are accessed");
}

// ---- with elements ----

KeySet Tensor::KeysFor(Device device, const KeyTable& table) {
  // A word of a set is never 0. Tables beyond the first ones, which tests make, are looked up by name.
  constexpr std::uint32_t kRemembered = 64;
  static constinit std::atomic<std::uint64_t> words[kRemembered][kDeviceTypes] = {};
  const auto type = static_cast<std::size_t>(device.type);
  const bool remembered = table.number() < kRemembered;
  if (remembered) {
    const std::uint64_t word = words[table.number()][type].load(std::memory_order_relaxed);
    if (word != 0) return KeySet::FromWord(word);
  }
  if (PLUMBLINE_FAULT(meta_has_the_keys_of_the_cpu) && device.type == DeviceType::kMeta) {
    return KeysFor(DeviceType::kCpu, table);
  }
  const Key key = table.Get(KeyName(device.type));
  const KeySet keys = table.SetOf({key, table.AutogradOf(key)});
  if (remembered) words[table.number()][type].store(keys.bits(), std::memory_order_relaxed);
  return keys;
}

Tensor Tensor::Empty(IntSpan sizes, DType dtype, Device device, const KeyTable& table) {
  return Empty(sizes, dtype, device, KeysFor(device, table));
}

Tensor Tensor::Empty(IntSpan sizes, DType dtype, Device device, KeySet keys) {
  const std::int64_t bytes = CheckedBytes(sizes, dtype);
  const std::int64_t numel = bytes / static_cast<std::int64_t>(SizeOf(dtype));
  DimVector strides = ContiguousStrides(sizes);
  if (PLUMBLINE_FAULT(strides_of_columns) && !sizes.empty()) {
    strides[0] = 1;
    for (std::size_t i = 1; i < sizes.size(); ++i)
      strides[i] = strides[i - 1] * std::max<std::int64_t>(1, sizes[i - 1]);
  }
  return Tensor(new TensorObject(keys, Storage::Allocate(static_cast<std::size_t>(bytes), device), dtype, sizes,
                                 strides, 0, numel, true));
}

Tensor Tensor::EmptyStrided(IntSpan sizes, IntSpan strides, DType dtype, Device device, const KeyTable& table) {
  return EmptyStrided(sizes, strides, dtype, device, KeysFor(device, table));
}

Tensor Tensor::EmptyStrided(IntSpan sizes, IntSpan strides, DType dtype, Device device, KeySet keys) {
  const std::int64_t bytes = CheckedExtent(sizes, strides, 0, dtype);
  const std::int64_t numel = CheckedNumel(sizes);
  return Tensor(new TensorObject(keys, Storage::Allocate(static_cast<std::size_t>(bytes), device), dtype, sizes,
                                 strides, 0, numel, ContiguousIn(sizes, strides)));
}

Tensor Tensor::FromBlob(void* data, IntSpan sizes, IntSpan strides, DType dtype, Device device, Deleter deleter,
                        const KeyTable& table) {
  const std::int64_t bytes = CheckedExtent(sizes, strides, 0, dtype);
  const std::int64_t numel = CheckedNumel(sizes);
  const KeySet keys = KeysFor(device, table);
  if (data == nullptr && bytes > 0 && device.type != DeviceType::kMeta) {
    Throw(ErrorClass::kInvalidArgument, "Sizes " + Print(sizes) + " hold elements, but their memory is null");
  }
  return Tensor(new TensorObject(keys, Storage::Wrap(data, static_cast<std::size_t>(bytes), device, std::move(deleter)),
                                 dtype, sizes, strides, 0, numel, ContiguousIn(sizes, strides)));
}

namespace {

void CheckWithin(const Storage& storage, IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype) {
  const std::int64_t extent = CheckedExtent(sizes, strides, offset, dtype);
  if (static_cast<std::uint64_t>(extent) > storage.bytes() && !PLUMBLINE_FAULT(view_may_end_outside)) {
    Throw(ErrorClass::kInvalidArgument, "Sizes " + Print(sizes) + ", strides " + Print(strides) + " and offset " +
                                            std::to_string(offset) + " of " + std::string(Spelling(dtype)) +
                                            " need a storage of " + std::to_string(extent) + " bytes, but it has " +
                                            std::to_string(storage.bytes()));
  }
}

// An offset without elements behind it is not an address and may be any number: kept where it can be computed with.
std::int64_t OffsetWithin(const Storage& storage, std::int64_t offset, DType dtype) {
  return std::min(offset, static_cast<std::int64_t>(storage.bytes() / SizeOf(dtype)));
}

}  // namespace

Tensor Tensor::FromStorage(Storage storage, IntSpan sizes, IntSpan strides, std::int64_t offset, DType dtype,
                           KeySet keys) {
  CheckWithin(storage, sizes, strides, offset, dtype);
  if (PLUMBLINE_FAULT(bool_has_no_autograd_key) && dtype == DType::kBool)
    keys = KeySet::FromWord(keys.bits() & (~0ull >> 1));
  const std::int64_t numel = CheckedNumel(sizes), within = OffsetWithin(storage, offset, dtype);
  return Tensor(
      new TensorObject(keys, std::move(storage), dtype, sizes, strides, within, numel, ContiguousIn(sizes, strides)));
}

Tensor Tensor::View(IntSpan sizes, IntSpan strides, std::int64_t offset) const {
  const TensorObject& mine = With("storage to view");
  Tensor view = FromStorage(mine.storage_, sizes, strides, offset, mine.dtype_, mine.keys_);
  if (PLUMBLINE_FAULT(view_keeps_its_storage)) new Storage(mine.storage_);
  if (PLUMBLINE_FAULT(view_counts_again)) new Storage(Storage::Allocate(mine.storage_.bytes(), mine.storage_.device()));
  if (PLUMBLINE_FAULT(view_has_a_counter_of_its_own)) {
    view.object_->own_version_ = std::make_unique<OwnVersion>(std::make_shared<std::atomic<std::uint64_t>>(0));
  }
  if (mine.own_version_ != nullptr) view.object_->own_version_ = std::make_unique<OwnVersion>(*mine.own_version_);
  return view;
}

Tensor Tensor::WithOwnVersion() const {
  Tensor other = View(sizes(), strides(), storage_offset());
  other.object_->own_version_ =
      std::make_unique<OwnVersion>(std::make_shared<std::atomic<std::uint64_t>>(std::uint64_t{0}));
  return other;
}

void Tensor::Resize(IntSpan sizes) const {
  With("sizes to change");
  if (this->sizes() == sizes) return;
  if (PLUMBLINE_FAULT(resize_counts)) BumpVersion();
  Resize(sizes, ContiguousStrides(sizes));
}

void Tensor::Resize(IntSpan sizes, IntSpan strides) const {
  const std::int64_t extent = CheckedExtent(sizes, strides, storage_offset(), dtype());
  CheckedNumel(sizes);
  object_->storage_.Grow(static_cast<std::size_t>(extent));
  Change(sizes, strides, storage_offset());
}

void Tensor::Restride(IntSpan sizes, IntSpan strides, std::int64_t offset) const {
  CheckWithin(storage(), sizes, strides, offset, dtype());
  CheckedNumel(sizes);
  Change(sizes, strides, OffsetWithin(storage(), offset, dtype()));
}

void Tensor::Change(IntSpan sizes, IntSpan strides, std::int64_t offset) const {
  const DimVector new_sizes = sizes, new_strides = strides;  // they may be of this very tensor
  const auto change = [&] {
    object_->SetSteps(new_sizes, new_strides, CheckedNumel(new_sizes), ContiguousIn(new_sizes, new_strides));
    object_->offset_ = offset;
  };
  object_->recorded_ ? TensorRecords::Locked(change) : change();
}

}  // namespace plumbline::reference
