// The honest floor of a dispatcher: the least code that does what the design asks of a call, with nothing around it.
//
// A call unites the arguments' key sets and the thread's include set, takes out the excluded keys and those that fall
// through for the highest backend, scans for the highest functionality and, where that is per-backend, for the highest
// backend, loads one entry of the operator's published table, tests the gate of observers, and jumps. A read section
// (two plain thread-local stores) lets a writer reclaim tables. Keys are numbered from the highest priority down, so
// that the scan is one bit-scan-forward. There is no registry, no schema, no error text and no release of kernels:
// what a real dispatcher costs beyond this is what its features cost.
//
//   Operator op(&table);
//   int answer = Call<int, const Tensor&, const Tensor&>(op, a, b);
//
// The gate word and the thread's state are read as a shared library would read them: the call sites are in a shared
// object, with the initial-exec thread-local model.
#ifndef PLUMBLINE_PERF_FLOOR_FLOOR_H_
#define PLUMBLINE_PERF_FLOOR_FLOOR_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace plumbline::floor_dispatch {

// A key set: 48 functionality bits, then 15 backend bits, then one bit that is always set, so that a scan of an empty
// set ends in the Undefined row. Lower bits have the higher priority.
using KeySet = std::uint64_t;
inline constexpr int kBackendShift = 48;
inline constexpr KeySet kEnd = KeySet{1} << 63;

// The position of the lowest set bit; there is always one.
inline std::uint64_t FirstOf(KeySet keys) { return static_cast<unsigned>(__builtin_ctzll(keys)); }

struct TensorObject {
  std::atomic<std::uint64_t> references{1};
  KeySet keys = 0;
};

class Tensor {
 public:
  explicit Tensor(TensorObject* object) : object_(object) {}
  Tensor(const Tensor& other) : object_(other.object_) { object_->references.fetch_add(1, std::memory_order_relaxed); }
  Tensor(Tensor&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Tensor() {
    if (object_ != nullptr && object_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object_;
  }
  KeySet keys() const { return object_->keys; }
  TensorObject* object() const { return object_; }

 private:
  TensorObject* object_;
};

struct ThreadState {
  KeySet include = kEnd;
  KeySet allowed = ~KeySet{0};  // the complement of the exclude set
  std::uint32_t in_section = 0;
};
extern thread_local constinit ThreadState thread_state [[gnu::tls_model("initial-exec")]];
extern std::atomic<std::uint32_t> gate;  // observers and trace; 0: none

struct Slot {
  void* function = nullptr;
  const void* context = nullptr;
};
struct Row {
  std::uint32_t offset = 0;
  std::uint32_t backend_mask = 0;
};
inline constexpr int kSlots = 128;
struct Table {
  std::array<KeySet, 16> masks;    // by backend: keys that do not fall through
  std::array<Slot, kSlots> slots;  // entered with the arguments
  std::array<Slot, kSlots> boxed;  // entered with a stack
};
extern const std::array<Row, 64> rows;

struct Operator {
  std::atomic<const Table*> table{nullptr};
};

// Called with the gate open; keeps the cold part out of the call.
void Observe(const Operator& op, KeySet keys);

inline KeySet KeysOf(const Tensor& tensor) { return tensor.keys(); }
template <class T>
KeySet KeysOf(const T&) {
  return 0;
}

template <class Return, class... Arguments>
using Kernel = Return (*)(const void* context, KeySet keys, Arguments... arguments);

template <class Return, class... Arguments>
[[gnu::always_inline]] inline Return Enter(const Operator& op, const std::array<Slot, kSlots>& slots, KeySet keys,
                                           std::uint64_t backend, Arguments... arguments) {
  const Row& row = rows[FirstOf(keys)];
  const Slot& slot = slots[row.offset + (backend & row.backend_mask)];
  const auto function = reinterpret_cast<Kernel<Return, Arguments...>>(slot.function);
  const void* const context = slot.context;
  if (gate.load(std::memory_order_relaxed) != 0) [[unlikely]]
    Observe(op, keys);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread_state.in_section = 0;
  return function(context, keys, static_cast<Arguments>(arguments)...);
}

template <class Return, class... Arguments>
[[gnu::always_inline]] inline Return Call(const Operator& op, Arguments... arguments) {
  thread_state.in_section = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const Table& table = *op.table.load(std::memory_order_acquire);
  KeySet keys = ((KeysOf(arguments) | ...) | thread_state.include) & thread_state.allowed;
  const std::uint64_t backend = FirstOf(keys >> kBackendShift);
  keys &= table.masks[backend];
  return Enter<Return, Arguments...>(op, table.slots, keys, backend, static_cast<Arguments>(arguments)...);
}

// Inside a kernel: the set as given.
template <class Return, class... Arguments>
[[gnu::always_inline]] inline Return Redispatch(const Operator& op, KeySet keys, Arguments... arguments) {
  thread_state.in_section = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const Table& table = *op.table.load(std::memory_order_acquire);
  return Enter<Return, Arguments...>(op, table.slots, keys, FirstOf(keys >> kBackendShift),
                                     static_cast<Arguments>(arguments)...);
}

}  // namespace plumbline::floor_dispatch

#endif  // PLUMBLINE_PERF_FLOOR_FLOOR_H_
