#include "perf/bench/workload.h"

#include <dlfcn.h>

#include <stdexcept>
#include <string_view>

#include "conformance/harness/backend_file.h"
#include "spec/abi/host.h"

namespace plumbline::perf {
namespace {

constexpr char kOtherKey[] = "CUDA";  // of changes; calls are the CPU's

pl_string Text(std::string_view text) { return {text.data(), text.size()}; }

std::string Schema(const std::string& name, const Workload& workload) {
  std::string schema = name + "(";
  for (int i = 0; i < workload.tensors; ++i) schema += (i == 0 ? "Tensor t" : ", Tensor t") + std::to_string(i);
  return schema + (workload.signature == PL_SIGNATURE_tensor_tensor_int ? ") -> int" : ") -> Tensor");
}

// A measured step that fails would make the figure a lie.
void MustSucceed(pl_error* error) {
  if (error == nullptr) return;
  const std::string message(error->message.data, error->message.size);
  error->release(error);
  throw std::runtime_error("a measured step failed: " + message);
}

}  // namespace

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> workloads = {
      {.name = "typed_call/1", .signature = PL_SIGNATURE_tensor, .tensors = 1},
      {.name = "typed_call/2_int"},
      {.name = "typed_call/2", .signature = PL_SIGNATURE_tensor_tensor},
      {.name = "typed_call/4", .signature = PL_SIGNATURE_tensor4, .tensors = 4},
      {.name = "typed_call/8", .signature = PL_SIGNATURE_tensor8, .tensors = 8},
      {.name = "typed_call/2_int_releasable", .lifetime = PL_LIFETIME_RELEASABLE},
      {.name = "typed_call/boxed_kernel", .kernel_form = PL_KERNEL_NOOP_BOXED},
      {.name = "boxed_call/typed_kernel", .call_form = PL_CALL_BOXED},
      {.name = "boxed_call/boxed_kernel", .call_form = PL_CALL_BOXED, .kernel_form = PL_KERNEL_NOOP_BOXED},
      {.name = "typed_call/2_int_redispatch", .redispatch = true},
      {.name = "find", .kind = Kind::kFind},
      {.name = "define_and_release", .kind = Kind::kDefine},
      {.name = "impl_and_release/CPU", .kind = Kind::kRegister},
      {.name = "impl_and_release/CompositeImplicitAutograd",
       .kind = Kind::kRegister,
       .key = "CompositeImplicitAutograd"},
      {.name = "change_and_calls/0", .kind = Kind::kChange},
      {.name = "change_and_calls/1", .kind = Kind::kChange, .calls = 1},
      {.name = "change_and_calls/101", .kind = Kind::kChange, .calls = 101},
  };
  return workloads;
}

harness::OrError<std::unique_ptr<Bench>> Bench::Open(const std::string& backend) {
  const auto path = harness::FindBackend(backend);
  if (!path.ok()) return harness::InputError{path.error()};
  if (const auto wrong = harness::CheckSharedObject(*path)) return harness::InputError{*wrong};
  void* const library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return harness::InputError{std::string("cannot load the backend: ") + dlerror()};
  const auto get_adapter = reinterpret_cast<pl_get_adapter_function>(dlsym(library, PL_GET_ADAPTER_SYMBOL));
  if (get_adapter == nullptr) return harness::InputError{*path + " is no backend: it lacks " PL_GET_ADAPTER_SYMBOL};
  const pl_adapter* const adapter = get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR);
  const abi::AdapterCheck check = abi::CheckAdapter(adapter);
  if (!check.problems.empty()) return harness::InputError{*path + ": " + check.problems.front()};
  if (!check.Has(PL_CAPABILITY(CALL_MANY))) {
    return harness::InputError{"the backend does not claim call-many, so its overhead cannot be measured"};
  }
  std::unique_ptr<Bench> bench(new Bench);
  bench->adapter_ = adapter;
  bench->name_ = backend;
  const pl_open_options options{sizeof(pl_open_options), PL_OPEN_PROCESS, {nullptr, 0}, 0, 0, nullptr, 0, 0, 0};
  if (const abi::PlError error{adapter->open(&options, &bench->registry_)}) {
    return harness::InputError{"the backend does not open: " + std::string(error.message())};
  }
  return bench;
}

Bench::~Bench() {
  Finish();
  if (registry_ != nullptr) adapter_->close(registry_);
}

pl_error* Bench::Define(const std::string& schema, pl_registration** out) {
  return adapter_->define(registry_, nullptr, Text(schema), Text("perf"), out);
}

pl_error* Bench::Register(const std::string& operator_name, const std::string& key, std::uint32_t form,
                          pl_registration** out) {
  pl_key interned = PL_NO_KEY;
  if (pl_error* error = adapter_->intern_key(registry_, Text(key), &interned)) return error;
  pl_kernel kernel{};
  kernel.struct_size = sizeof(kernel);
  kernel.form = form;
  kernel.signature = workload_.signature;
  kernel.lifetime = workload_.lifetime;
  kernel.place = Text("perf");
  return adapter_->register_kernel(registry_, nullptr, Text(operator_name), interned, &kernel, out);
}

pl_call Bench::Call() const {
  pl_call call{};
  call.struct_size = sizeof(call);
  call.form = workload_.call_form;
  call.signature = workload_.signature;
  call.op = operator_;
  call.arguments = arguments_.data();
  call.argument_count = arguments_.size();
  return call;
}

std::optional<std::string> Bench::Prepare(const Workload& workload) {
  Finish();
  workload_ = workload;
  operator_name_ = "perf::op" + std::to_string(serial_++);
  schema_ = Schema(operator_name_, workload);
  const auto problem = [this](pl_error* raw) -> std::optional<std::string> {
    const abi::PlError error{raw};
    if (!error) return std::nullopt;
    Finish();
    return std::string(error.message());
  };
  const auto keep = [this](pl_error* error, pl_registration* const& registration) {
    if (error == nullptr) registrations_.push_back(registration);
    return error;
  };
  pl_registration* registration = nullptr;
  if (workload.kind == Kind::kDefine) return problem(nullptr);
  if (auto wrong = problem(keep(Define(schema_, &registration), registration))) return wrong;
  other_name_ = operator_name_ + "_other";
  if (auto wrong = problem(keep(Define(Schema(other_name_, workload), &registration), registration))) return wrong;
  if (workload.kind == Kind::kFind) {
    return adapter_->find_many == nullptr ? std::optional<std::string>("there is no find_many") : std::nullopt;
  }
  if (workload.kind == Kind::kRegister) {
    // Tried once, so that a backend which cannot do it is not measured.
    if (auto wrong = problem(Register(operator_name_, workload.key, PL_KERNEL_NOOP, &registration))) return wrong;
    return problem(adapter_->release(registration));
  }
  pl_error* error = Register(operator_name_, "CPU", workload.kernel_form, &registration);
  if (auto wrong = problem(keep(error, registration))) return wrong;
  if (workload.redispatch) {
    error = Register(operator_name_, "AutogradCPU", PL_KERNEL_NOOP_REDISPATCH, &registration);
    if (auto wrong = problem(keep(error, registration))) return wrong;
  }
  if (auto wrong = problem(adapter_->find_operator(registry_, Text(operator_name_), &operator_))) return wrong;
  // The keys of an ordinary CPU tensor.
  std::vector<pl_key> keys;
  for (const char* name : {"CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU"}) {
    keys.push_back(0);
    if (auto wrong = problem(adapter_->intern_key(registry_, Text(name), &keys.back()))) return wrong;
  }
  for (int i = 0; i < workload.tensors; ++i) {
    pl_tensor* tensor = nullptr;
    if (auto wrong = problem(adapter_->tensor_make(registry_, {keys.data(), keys.size()}, &tensor))) return wrong;
    tensors_.push_back(tensor);
    pl_value value{};
    value.kind = PL_TENSOR;
    value.as.tensor = tensor;
    arguments_.push_back(value);
  }
  const pl_call call = Call();
  return problem(adapter_->call_many(registry_, &call, 1));
}

void Bench::Run(std::uint64_t times) {
  switch (workload_.kind) {
    case Kind::kCall: {
      const pl_call call = Call();
      MustSucceed(adapter_->call_many(registry_, &call, times));
      return;
    }
    case Kind::kChange: {
      const pl_call call = Call();
      for (std::uint64_t i = 0; i < times; ++i) {
        if (const auto wrong = Change(Target::kSame)) throw std::runtime_error("a measured step failed: " + *wrong);
        if (workload_.calls > 0) MustSucceed(adapter_->call_many(registry_, &call, workload_.calls));
      }
      return;
    }
    case Kind::kFind:
      MustSucceed(adapter_->find_many(registry_, Text(operator_name_), times));
      return;
    case Kind::kDefine:
      for (std::uint64_t i = 0; i < times; ++i) {
        pl_registration* registration = nullptr;
        MustSucceed(Define(schema_, &registration));
        MustSucceed(adapter_->release(registration));
      }
      return;
    case Kind::kRegister:
      for (std::uint64_t i = 0; i < times; ++i) {
        pl_registration* registration = nullptr;
        MustSucceed(Register(operator_name_, workload_.key, PL_KERNEL_NOOP, &registration));
        MustSucceed(adapter_->release(registration));
      }
      return;
  }
}

std::optional<std::string> Bench::Change(Target target) {
  pl_registration* registration = nullptr;
  const std::string& name = target == Target::kSame ? operator_name_ : other_name_;
  abi::PlError error{Register(name, kOtherKey, PL_KERNEL_NOOP, &registration)};
  if (!error) error = abi::PlError{adapter_->release(registration)};
  return error ? std::optional(std::string(error.message())) : std::nullopt;
}

void Bench::Finish() {
  arguments_.clear();
  for (pl_tensor* tensor : tensors_) adapter_->tensor_release(tensor);
  tensors_.clear();
  if (operator_ != nullptr) adapter_->operator_release(operator_);
  operator_ = nullptr;
  while (!registrations_.empty()) {
    const abi::PlError ignored{adapter_->release(registrations_.back())};
    registrations_.pop_back();
  }
}

}  // namespace plumbline::perf
