// Who holds memory: what is allocated on each device, always, and which tensors it is for, once asked to keep a list.
//
//   RecordTensors(true);                          // from now on; a few dozen ns for each tensor made
//   { const RecordedAs name("encoder"); ... }     // tensors that this thread makes meanwhile go under that name
//   std::cout << Print(ReportMemory());           // live and peak bytes, and the largest holders first
//   AllocatorFor(device).ResetPeak();  AllocatorFor(device).EmptyCache();
//
// Tensors that were made before are not in the list; the report says how many bytes it cannot name. Any thread; a
// report is of one moment, and holds on to nothing.
#ifndef PLUMBLINE_REFERENCE_TENSOR_MEMORY_REPORT_H_
#define PLUMBLINE_REFERENCE_TENSOR_MEMORY_REPORT_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "reference/tensor/allocator.h"
#include "reference/tensor/dims.h"
#include "reference/tensor/dtype.h"

namespace plumbline::reference {

class TensorObject;

void RecordTensors(bool on);

// The name is a text that lives as long as the program. Names nest; the innermost counts.
class RecordedAs {
 public:
  explicit RecordedAs(const char* name);
  ~RecordedAs();
  RecordedAs(const RecordedAs&) = delete;
  RecordedAs& operator=(const RecordedAs&) = delete;

 private:
  const char* const outer_;
};

// One storage, with the recorded tensors on it.
struct MemoryHolder {
  struct Shape {
    DType dtype = DType::kUint8;
    DimVector sizes;
    std::string name;  // empty: none was given
  };
  const void* storage = nullptr;  // the address of its version
  std::int64_t bytes = 0;
  bool allocated = true;       // false: memory from outside, which no allocator counts
  std::vector<Shape> tensors;  // the oldest first
};

struct DeviceMemory {
  Device device;
  AllocatorStatistics statistics;
  std::vector<MemoryHolder> holders;  // the largest first
  std::int64_t unnamed_bytes = 0;     // live, but of no recorded tensor
};

// Devices that allocate, and those with recorded tensors.
std::vector<DeviceMemory> ReportMemory();
std::string Print(const std::vector<DeviceMemory>& report);

// The list itself; for tensor.cc.
class TensorRecords {
 public:
  static bool on() { return on_.load(std::memory_order_relaxed); }
  static void Add(TensorObject& object);
  static void Remove(TensorObject& object);
  // Runs `change`, which gives a recorded tensor other sizes, while nobody reports.
  template <class Change>
  static void Locked(const Change& change) {
    Lock();
    change();
    Unlock();
  }

 private:
  friend void RecordTensors(bool on);
  friend std::vector<DeviceMemory> ReportMemory();
  static void Lock();
  static void Unlock();
  static std::vector<DeviceMemory> Report();
  static std::atomic<bool> on_;
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_MEMORY_REPORT_H_
