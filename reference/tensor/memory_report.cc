#include "reference/tensor/memory_report.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "reference/faults/faults.h"
#include "reference/keys/fork_mutex.h"
#include "reference/keys/make_once.h"
#include "reference/tensor/tensor.h"

namespace plumbline::reference {
namespace {

struct Record {
  std::uint64_t number;  // in the order in which they were made
  const char* name;
};

// Never destroyed: tensors may be, at any time.
struct Records {
  ForkMutex mutex{ForkRank::kMemory};
  std::map<TensorObject*, Record> all;
  std::uint64_t made = 0;

  static Records& Get() {
    static constinit std::atomic<Records*> records{nullptr};
    return MakeOnce(records, [] { return new Records; });
  }
};

constinit thread_local const char* recorded_as __attribute__((tls_model("initial-exec"))) = "";

std::string Bytes(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  double amount = static_cast<double>(bytes);
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
  return text;
}

}  // namespace

constinit std::atomic<bool> TensorRecords::on_{false};

void TensorRecords::Lock() { Records::Get().mutex.lock(); }
void TensorRecords::Unlock() { Records::Get().mutex.unlock(); }

void TensorRecords::Add(TensorObject& object) {
  Records& records = Records::Get();
  const std::lock_guard lock(records.mutex);
  records.all.emplace(&object, Record{records.made++, recorded_as});
  object.recorded_ = true;
}

void TensorRecords::Remove(TensorObject& object) {
  Records& records = Records::Get();
  const std::lock_guard lock(records.mutex);
  records.all.erase(&object);
}

void RecordTensors(bool on) { TensorRecords::on_.store(on, std::memory_order_relaxed); }

RecordedAs::RecordedAs(const char* name) : outer_(std::exchange(recorded_as, name)) {}
RecordedAs::~RecordedAs() { recorded_as = outer_; }

std::vector<DeviceMemory> TensorRecords::Report() {
  std::vector<DeviceMemory> report;
  for (const Device device : DevicesWithAllocator()) {
    report.emplace_back();
    report.back().device = device;
  }
  Records& records = Records::Get();
  const std::lock_guard lock(records.mutex);
  for (DeviceMemory& one : report) one.statistics = AllocatorFor(one.device).statistics();
  std::vector<std::pair<Record, TensorObject*>> order;
  for (const auto& [object, record] : records.all) order.emplace_back(record, object);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first.number < b.first.number; });
  std::map<const void*, std::pair<std::size_t, std::size_t>> places;  // storage: device and holder
  for (const auto& [record, object] : order) {
    const Storage& storage = object->storage_;
    const auto [place, is_new] = places.try_emplace(&storage.version());
    if (is_new) {
      auto device = std::find_if(report.begin(), report.end(),
                                 [&](const DeviceMemory& one) { return one.device == storage.device(); });
      if (device == report.end()) {
        device = report.emplace(report.end());
        device->device = storage.device();
      }
      place->second = {static_cast<std::size_t>(device - report.begin()), device->holders.size()};
      MemoryHolder& holder = device->holders.emplace_back();
      holder.storage = &storage.version();
      holder.bytes = static_cast<std::int64_t>(storage.bytes());
      holder.allocated = storage.allocator() != nullptr;
    }
    MemoryHolder& holder = report[place->second.first].holders[place->second.second];
    if (PLUMBLINE_FAULT(views_are_not_told) && !is_new) continue;
    holder.tensors.push_back({object->dtype_, DimVector(std::span(object->steps(), object->dims_)), record.name});
  }
  for (DeviceMemory& one : report) {
    one.unnamed_bytes = one.statistics.live_bytes;
    for (const MemoryHolder& holder : one.holders) one.unnamed_bytes -= holder.allocated ? holder.bytes : 0;
    // Others allocate and free between the two looks.
    one.unnamed_bytes = std::max<std::int64_t>(one.unnamed_bytes, 0);
    std::stable_sort(one.holders.begin(), one.holders.end(),
                     [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes > b.bytes; });
  }
  return report;
}

std::vector<DeviceMemory> ReportMemory() { return TensorRecords::Report(); }

std::string Print(const std::vector<DeviceMemory>& report) {
  std::string text;
  for (const DeviceMemory& one : report) {
    const AllocatorStatistics& now = one.statistics;
    text += one.device.Spelling() + ": " + Bytes(now.live_bytes) + " in " + std::to_string(now.live_blocks) +
            " blocks, " + Bytes(now.peak_bytes) + " at most, " + Bytes(now.cached_bytes) + " kept for later\n";
    for (const MemoryHolder& holder : one.holders) {
      const std::string bytes = Bytes(holder.bytes);
      text += std::string(bytes.size() < 12 ? 12 - bytes.size() : 0, ' ') + bytes;
      for (std::size_t i = 0; i < holder.tensors.size() && i < 4; ++i) {
        const MemoryHolder::Shape& shape = holder.tensors[i];
        text += (i == 0 ? "  " : ", ") + std::string(Spelling(shape.dtype)) + " " + Print(shape.sizes) +
                (shape.name.empty() ? "" : " (" + shape.name + ")");
      }
      if (holder.tensors.size() > 4)
        text += " and " + std::to_string(holder.tensors.size() - 4) + " more on the same memory";
      if (!holder.allocated) text += ", memory from outside";
      text += "\n";
    }
    if (one.unnamed_bytes > 0) {
      const std::string bytes = Bytes(one.unnamed_bytes);
      text += std::string(bytes.size() < 12 ? 12 - bytes.size() : 0, ' ') + bytes +
              "  not recorded: tensors made before RecordTensors(true), or blocks without one\n";
    }
  }
  return text;
}

}  // namespace plumbline::reference
