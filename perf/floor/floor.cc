// The floor as a backend: only what `plumbline perf` and perf/bench drive. It checks nothing and resolves nothing; the
// suites have no business with it.

#include "perf/floor/floor.h"

#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spec/abi/abi.h"

namespace plumbline::floor_dispatch {

thread_local constinit ThreadState thread_state [[gnu::tls_model("initial-exec")]];
std::atomic<std::uint32_t> gate{0};

namespace {

// Two per-backend functionalities are enough to make both scans real.
constexpr int kAutograd = 4, kDense = 8, kUndefined = 48;
constexpr int kAutogradOffset = 1, kDenseOffset = 17;

constexpr std::array<Row, 64> MakeRows() {
  std::array<Row, 64> rows{};
  for (unsigned f = 0; f < kUndefined; ++f) rows[f] = {40 + f, 0};
  rows[kAutograd] = {kAutogradOffset, 15};
  rows[kDense] = {kDenseOffset, 15};
  return rows;
}

constexpr KeySet kCpu = KeySet{1} << kBackendShift;
constexpr KeySet kDenseCpu = kCpu | KeySet{1} << kDense;
constexpr KeySet kBelowAutograd = ~((KeySet{1} << (kAutograd + 1)) - 1);

}  // namespace

const std::array<Row, 64> rows = MakeRows();

void Observe(const Operator&, KeySet) { gate.store(0, std::memory_order_relaxed); }

namespace {

// ---- boxing: a value is a tag and a word; a tensor counts as one reference ----

class Stack {
 public:
  void Push(const Tensor& tensor) {
    Value& value = values_[size_++];
    value.is_tensor = 1;
    new (&value.tensor) Tensor(tensor);
  }
  void PushInteger(std::int64_t integer) {
    Value& value = values_[size_++];
    value.is_tensor = 0;
    value.integer = integer;
  }
  std::int64_t PopInteger() { return values_[--size_].integer; }
  void Drop(int count) {
    for (int i = 0; i < count; ++i) {
      Value& value = values_[--size_];
      if (value.is_tensor != 0) value.tensor.~Tensor();
    }
  }
  const Tensor& TensorAt(int from_top) const { return values_[size_ - from_top].tensor; }
  KeySet Keys(int count) const {
    KeySet keys = 0;
    for (int i = 1; i <= count; ++i) {
      if (values_[size_ - i].is_tensor != 0) keys |= TensorAt(i).keys();
    }
    return keys;
  }

 private:
  struct Value {
    std::uint64_t is_tensor;
    union {
      Tensor tensor;
      std::int64_t integer;
    };
    Value() {}
    ~Value() {}
  };
  std::array<Value, 16> values_;
  int size_ = 0;
};

int NoopInt(const void*, KeySet, const Tensor&, const Tensor&) { return 0; }

void NoopIntBoxed(const void*, KeySet keys, Stack& stack) {
  const int result = NoopInt(nullptr, keys, stack.TensorAt(2), stack.TensorAt(1));
  stack.Drop(2);
  stack.PushInteger(result);
}

int RedispatchInt(const void* op, KeySet keys, const Tensor& a, const Tensor& b) {
  return Redispatch<int, const Tensor&, const Tensor&>(*static_cast<const Operator*>(op), keys & kBelowAutograd, a, b);
}

template <class... Tensors>
Tensor NoopTensor(const void*, KeySet, const Tensor& first, const Tensors&...) {
  return first;
}

[[gnu::noinline]] void CallBoxed(const Operator& op, Stack& stack, int count) {
  thread_state.in_section = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const Table& table = *op.table.load(std::memory_order_acquire);
  KeySet keys = (stack.Keys(count) | thread_state.include) & thread_state.allowed;
  const std::uint64_t backend = FirstOf(keys >> kBackendShift);
  keys &= table.masks[backend];
  Enter<void, Stack&>(op, table.boxed, keys, backend, stack);
}

// ---- the table ----

struct Registry {
  std::unordered_map<std::string, std::unique_ptr<Operator>> operators;
};

struct Registration {
  Registry* registry;
  std::string name;
  Table* table;
};

std::string_view View(pl_string text) { return {text.data, text.size}; }
pl_string Text(std::string_view text) { return {text.data(), text.size()}; }

pl_error* Unsupported() {
  static pl_error error{sizeof(pl_error), PL_ERROR_UNSUPPORTED, Text("the floor only measures"), {nullptr, 0}, 0,
                        [](pl_error*) {}};
  return &error;
}

pl_error* Describe(pl_description* out) {
  out->name = Text("floor");
  out->version = Text("1");
  out->release = Text("pytorch-1.13");
  return nullptr;
}

pl_error* Open(const pl_open_options*, pl_registry** out) {
  *out = reinterpret_cast<pl_registry*>(new Registry);
  return nullptr;
}

void Close(pl_registry* registry) { delete reinterpret_cast<Registry*>(registry); }

enum : pl_key { kKeyCpu = 0, kKeyAutogradCpu = 1, kKeyOther = 2 };

pl_error* InternKey(pl_registry*, pl_string name, pl_key* out) {
  *out = View(name) == "CPU" ? kKeyCpu : View(name) == "AutogradCPU" ? kKeyAutogradCpu : kKeyOther;
  return nullptr;
}

// The name is what stands before the parenthesis; that is all the schema that a floor needs.
pl_error* Define(pl_registry* registry, pl_library*, pl_string schema, pl_string, pl_registration** out) {
  auto* self = reinterpret_cast<Registry*>(registry);
  std::string name(View(schema).substr(0, View(schema).find('(')));
  auto table = std::make_unique<Table>();
  table->masks.fill(~(KeySet{1} << kAutograd));  // nothing at Autograd yet: it falls through
  auto op = std::make_unique<Operator>();
  op->table.store(table.get(), std::memory_order_release);
  self->operators.emplace(name, std::move(op));
  *out = reinterpret_cast<pl_registration*>(new Registration{self, std::move(name), table.release()});
  return nullptr;
}

void* FunctionFor(std::uint32_t form, std::uint32_t signature) {
  switch (signature) {
    case PL_SIGNATURE_tensor:
      return reinterpret_cast<void*>(&NoopTensor<>);
    case PL_SIGNATURE_tensor_tensor:
      return reinterpret_cast<void*>(&NoopTensor<Tensor>);
    case PL_SIGNATURE_tensor4:
      return reinterpret_cast<void*>(&NoopTensor<Tensor, Tensor, Tensor>);
    case PL_SIGNATURE_tensor8:
      return reinterpret_cast<void*>(&NoopTensor<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>);
    case PL_SIGNATURE_tensor_tensor_int:
      return form == PL_KERNEL_NOOP_REDISPATCH ? reinterpret_cast<void*>(&RedispatchInt)
                                               : reinterpret_cast<void*>(&NoopInt);
    default:
      return nullptr;
  }
}

pl_error* RegisterKernel(pl_registry* registry, pl_library*, pl_string name, pl_key key, const pl_kernel* kernel,
                         pl_registration** out) {
  auto* self = reinterpret_cast<Registry*>(registry);
  Operator& op = *self->operators.at(std::string(View(name)));
  void* const function = FunctionFor(kernel->form, kernel->signature);
  if (function == nullptr) return Unsupported();
  // Aside, then published with one store, as a dispatcher has to; the old one is kept, a floor reclaims nothing.
  auto* next = new Table(*op.table.load(std::memory_order_relaxed));
  if (key == kKeyAutogradCpu) {
    next->masks.fill(~KeySet{0});
    next->slots[kAutogradOffset] = {function, &op};
  } else {
    next->slots[kDenseOffset] = {function, nullptr};
    next->boxed[kDenseOffset] = {reinterpret_cast<void*>(&NoopIntBoxed), nullptr};
  }
  op.table.store(next, std::memory_order_release);
  *out = reinterpret_cast<pl_registration*>(new Registration{nullptr, "", next});
  return nullptr;
}

pl_error* Release(pl_registration* registration) {
  auto* self = reinterpret_cast<Registration*>(registration);
  if (self->registry != nullptr) self->registry->operators.erase(self->name);
  delete self;
  return nullptr;
}

pl_error* FindOperator(pl_registry* registry, pl_string name, pl_operator** out) {
  *out = reinterpret_cast<pl_operator*>(
      reinterpret_cast<Registry*>(registry)->operators.at(std::string(View(name))).get());
  return nullptr;
}

void OperatorRelease(pl_operator*) {}

pl_error* TensorMake(pl_registry*, pl_key_list keys, pl_tensor** out) {
  auto* object = new TensorObject;
  for (std::uint64_t i = 0; i < keys.size; ++i) {
    if (keys.data[i] == kKeyCpu) object->keys |= kDenseCpu;
    if (keys.data[i] == kKeyAutogradCpu) object->keys |= kCpu | KeySet{1} << kAutograd;
  }
  *out = reinterpret_cast<pl_tensor*>(object);
  return nullptr;
}

void TensorRelease(pl_tensor* tensor) { Tensor{reinterpret_cast<TensorObject*>(tensor)}; }

template <class Return, class... Arguments>
[[gnu::noinline]] void Loop(const Operator& op, std::uint64_t times, const Arguments&... arguments) {
  for (std::uint64_t i = 0; i < times; ++i) Call<Return, const Arguments&...>(op, arguments...);
}

template <std::size_t... I>
void LoopTensors(const Operator& op, std::uint64_t times, const std::vector<Tensor>& t, std::index_sequence<I...>) {
  Loop<Tensor>(op, times, t[I]...);
}

pl_error* CallMany(pl_registry*, const pl_call* call, std::uint64_t times) {
  const Operator& op = *reinterpret_cast<const Operator*>(call->op);
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < call->argument_count; ++i) {
    auto* object = reinterpret_cast<TensorObject*>(call->arguments[i].as.tensor);
    object->references.fetch_add(1, std::memory_order_relaxed);
    tensors.push_back(Tensor(object));
  }
  if (call->form == PL_CALL_BOXED) {
    Stack stack;
    for (std::uint64_t i = 0; i < times; ++i) {
      for (const Tensor& tensor : tensors) stack.Push(tensor);
      CallBoxed(op, stack, static_cast<int>(tensors.size()));
      stack.PopInteger();
    }
    return nullptr;
  }
  switch (call->signature) {
    case PL_SIGNATURE_tensor_tensor_int:
      Loop<int>(op, times, tensors[0], tensors[1]);
      return nullptr;
    case PL_SIGNATURE_tensor:
      LoopTensors(op, times, tensors, std::make_index_sequence<1>());
      return nullptr;
    case PL_SIGNATURE_tensor_tensor:
      LoopTensors(op, times, tensors, std::make_index_sequence<2>());
      return nullptr;
    case PL_SIGNATURE_tensor4:
      LoopTensors(op, times, tensors, std::make_index_sequence<4>());
      return nullptr;
    case PL_SIGNATURE_tensor8:
      LoopTensors(op, times, tensors, std::make_index_sequence<8>());
      return nullptr;
    default:
      return Unsupported();
  }
}

pl_error* FindMany(pl_registry* registry, pl_string name, std::uint64_t times) {
  auto* self = reinterpret_cast<Registry*>(registry);
  const std::string key(View(name));
  for (std::uint64_t i = 0; i < times; ++i) {
    auto found = self->operators.find(key);
    asm volatile("" : : "r"(&found) : "memory");
  }
  return nullptr;
}

constexpr pl_adapter MakeAdapter() {
  pl_adapter adapter{};
  adapter.struct_size = sizeof(pl_adapter);
  adapter.abi_major = PL_ABI_MAJOR;
  adapter.abi_minor = PL_ABI_MINOR;
  adapter.capabilities = PL_CAPABILITY(CALL_MANY) | PL_CAPABILITY(FRESH_REGISTRY);
  adapter.describe = &Describe;
  adapter.open = &Open;
  adapter.close = &Close;
  adapter.intern_key = &InternKey;
  adapter.define = &Define;
  adapter.register_kernel = &RegisterKernel;
  adapter.release = &Release;
  adapter.find_operator = &FindOperator;
  adapter.operator_release = &OperatorRelease;
  adapter.tensor_make = &TensorMake;
  adapter.tensor_release = &TensorRelease;
  adapter.call_many = &CallMany;
  adapter.find_many = &FindMany;
  return adapter;
}

constexpr pl_adapter kAdapter = MakeAdapter();

}  // namespace
}  // namespace plumbline::floor_dispatch

extern "C" __attribute__((visibility("default"))) const pl_adapter* plumbline_get_adapter(std::uint32_t host_major,
                                                                                          std::uint32_t) {
  return host_major == PL_ABI_MAJOR ? &plumbline::floor_dispatch::kAdapter : nullptr;
}
