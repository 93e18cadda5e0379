// A small host for this folder's tests: the C table with C++ conveniences, and kernels that tell what they saw.
//
//   Host host;
//   Handle def = host.Define("t1::f(Tensor a) -> Tensor");
//   Handle k = host.Impl("t1::f", "CPU", host.Boxed("k1"));
//   EXPECT_THAT(host.Call("t1::f", {host.Tensor({"CPU"})}), Ran("k1"));
//
// A failed entry is told as "class: message". Not for threads.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TEST_HOST_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TEST_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/abi/abi.h"
#include "spec/abi/error.h"

extern "C" const pl_adapter* plumbline_get_adapter(uint32_t host_major, uint32_t host_minor);

namespace plumbline::torch_backend {

// A value as the tests write it; tensors own one count.
struct Item {
  std::uint32_t kind = PL_NONE;
  std::int64_t integer = 0;
  double real = 0;
  std::string text = {};
  std::shared_ptr<pl_tensor> tensor = {};
  std::vector<Item> items = {};

  static Item Int(std::int64_t x) { return {.kind = PL_INT, .integer = x}; }
  static Item Bool(bool x) { return {.kind = PL_BOOL, .integer = x ? 1 : 0}; }
  static Item Float(double x) { return {.kind = PL_FLOAT, .real = x}; }
  static Item Str(std::string x) { return {.kind = PL_STRING, .text = std::move(x)}; }
  static Item List(std::vector<Item> x) { return {.kind = PL_LIST, .items = std::move(x)}; }
};

struct Answer {
  std::string error;  // "no-kernel", or empty
  std::string message;
  std::uint64_t payload = 0;
  std::vector<Item> results;
};

class Host {
 public:
  using Body = std::function<pl_error*(pl_frame*)>;
  using Owned = std::shared_ptr<pl_registration>;

  Host() : table_(plumbline_get_adapter(PL_ABI_MAJOR, PL_ABI_MINOR)) {
    pl_open_options options{};
    options.struct_size = sizeof options;
    options.mode = PL_OPEN_PROCESS;
    abi::ThrowIfError(table_->open(&options, &registry_));
  }
  Host(const Host&) = delete;
  ~Host() { table_->close(registry_); }

  const pl_adapter& table() const { return *table_; }
  pl_registry* registry() const { return registry_; }
  const std::vector<std::string>& seen() const { return seen_; }
  int destroyed() const { return destroyed_; }
  const std::string& error() const { return error_; }  // of the last registration
  void Forget() { seen_.clear(); }

  pl_key Key(std::string_view name) {
    pl_key key = 0;
    abi::ThrowIfError(table_->intern_key(registry_, abi::Borrow(name), &key));
    return key;
  }
  std::vector<pl_key> Keys(const std::vector<std::string>& names) {
    std::vector<pl_key> keys;
    for (const std::string& name : names) keys.push_back(Key(name));
    return keys;
  }
  Item Tensor(const std::vector<std::string>& names) {
    const std::vector<pl_key> keys = Keys(names);
    pl_tensor* tensor = nullptr;
    abi::ThrowIfError(table_->tensor_make(registry_, {keys.data(), keys.size()}, &tensor));
    return Own(tensor);
  }
  Item Undefined() {
    pl_tensor* tensor = nullptr;
    abi::ThrowIfError(table_->tensor_make_undefined(registry_, &tensor));
    return Own(tensor);
  }

  // "k1 [keys] argument ...": what a kernel notes before its body runs.
  pl_kernel Boxed(std::string name, Body body = {}) {
    return Kernel(PL_KERNEL_BOXED, 0, std::move(name), std::move(body));
  }
  pl_kernel Typed(std::uint32_t signature, std::string name, Body body = {}) {
    return Kernel(PL_KERNEL_TYPED, signature, std::move(name), std::move(body));
  }
  pl_kernel Form(std::uint32_t form, std::uint32_t signature = 0) {
    pl_kernel kernel{};
    kernel.struct_size = sizeof kernel;
    kernel.form = form;
    kernel.signature = signature;
    kernel.place = abi::Borrow("builtin.scn:1");
    return kernel;
  }

  Owned Define(std::string_view schema, pl_library* library = nullptr) {
    return Held([&](pl_registration** out) {
      return table_->define(registry_, library, abi::Borrow(schema), abi::Borrow("def.scn:1"), out);
    });
  }
  Owned Impl(std::string_view op, std::string_view key, pl_kernel kernel, pl_library* library = nullptr) {
    const pl_key number = key.empty() ? PL_NO_KEY : Key(key);
    return Held([&](pl_registration** out) {
      return table_->register_kernel(registry_, library, abi::Borrow(op), number, &kernel, out);
    });
  }
  Owned Fallback(std::string_view key, pl_kernel kernel, pl_library* library = nullptr) {
    const pl_key number = key.empty() ? PL_NO_KEY : Key(key);
    return Held(
        [&](pl_registration** out) { return table_->register_fallback(registry_, library, number, &kernel, out); });
  }
  std::shared_ptr<pl_library> Library(std::uint32_t kind, std::string_view name_space, std::string_view key = "") {
    pl_library* library = nullptr;
    Note(table_->library_open(registry_, kind, abi::Borrow(name_space), key.empty() ? PL_NO_KEY : Key(key),
                              abi::Borrow("lib.scn:7"), &library));
    return {library, [this](pl_library* own) {
              if (own != nullptr) abi::ThrowIfError(table_->library_close(own));
            }};
  }
  std::shared_ptr<pl_guard> Guard(std::uint32_t side, const std::vector<std::string>& names) {
    const std::vector<pl_key> keys = Keys(names);
    pl_guard* guard = nullptr;
    abi::ThrowIfError(table_->guard_enter(registry_, side, {keys.data(), keys.size()}, &guard));
    return {guard, table_->guard_leave};
  }

  std::shared_ptr<pl_operator> Find(std::string_view op) {
    pl_operator* found = nullptr;
    if (!Note(table_->find_operator(registry_, abi::Borrow(op), &found))) return nullptr;
    return {found, table_->operator_release};
  }
  Answer Call(std::string_view op, const std::vector<Item>& arguments) {
    return CallAs(PL_CALL_BOXED, 0, op, arguments);
  }
  Answer CallTyped(std::uint32_t signature, std::string_view op, const std::vector<Item>& arguments) {
    return CallAs(PL_CALL_TYPED, signature, op, arguments);
  }
  Answer CallAs(std::uint32_t form, std::uint32_t signature, std::string_view op, const std::vector<Item>& arguments) {
    pl_operator* found = nullptr;
    if (pl_error* error = table_->find_operator(registry_, abi::Borrow(op), &found)) return Failed(error);
    const std::shared_ptr<pl_operator> own(found, table_->operator_release);
    Lent lent(arguments);
    Answer answer;
    const pl_call call{sizeof call, form, signature, 0, found, lent.data(), arguments.size(), SinkOf(answer)};
    if (pl_error* error = table_->call(registry_, &call)) return Failed(error);
    return answer;
  }
  Answer Redispatch(pl_frame* frame, const std::vector<std::string>& names) {
    const std::vector<pl_key> keys = Keys(names);
    Answer answer;
    if (pl_error* error = table_->redispatch(frame, {keys.data(), keys.size()}, frame->arguments, frame->argument_count,
                                             SinkOf(answer)))
      return Failed(error);
    return answer;
  }
  // Pushes as a kernel's results.
  static void Return(pl_frame* frame, const std::vector<Item>& items) {
    Lent lent(items);
    for (std::size_t i = 0; i < items.size(); ++i)
      abi::ThrowIfError(frame->results.push(frame->results.context, lent.data() + i));
  }

  std::string Show(const pl_value& value) {
    switch (value.kind) {
      case PL_TENSOR: {
        std::string text = "T";
        abi::ThrowIfError(table_->tensor_keys(registry_, value.as.tensor, this, [](void*, pl_key) {}));
        return text + std::to_string(table_->tensor_identity(value.as.tensor) % 1000003);
      }
      case PL_INT:
        return std::to_string(value.as.integer);
      case PL_FLOAT:
        return std::to_string(value.as.real);
      case PL_BOOL:
        return value.as.integer != 0 ? "true" : "false";
      case PL_STRING:
        return "\"" + std::string(abi::View(value.as.string)) + "\"";
      case PL_LIST: {
        std::string text = "{";
        for (std::uint64_t i = 0; i < value.as.list.size; ++i) text += (i ? " " : "") + Show(value.as.list.data[i]);
        return text + "}";
      }
      default:
        return "none";
    }
  }
  std::string Show(const std::vector<Item>& items) {
    Lent lent(items);
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) text += (i ? " " : "") + Show(lent.data()[i]);
    return text;
  }

 private:
  // Items as pl_values.
  class Lent {
   public:
    explicit Lent(const std::vector<Item>& items) {
      for (const Item& item : items) {
        pl_value value{};
        value.kind = item.kind;
        switch (item.kind) {
          case PL_TENSOR:
            value.as.tensor = item.tensor.get();
            break;
          case PL_FLOAT:
            value.as.real = item.real;
            break;
          case PL_STRING:
            value.as.string = abi::Borrow(item.text);
            break;
          case PL_LIST:
            inner_.push_back(std::make_unique<Lent>(item.items));
            value.as.list = {inner_.back()->data(), item.items.size()};
            break;
          default:
            value.as.integer = item.integer;
        }
        values_.push_back(value);
      }
    }
    const pl_value* data() const { return values_.data(); }

   private:
    std::vector<pl_value> values_;
    std::vector<std::unique_ptr<Lent>> inner_;
  };

  struct Context {
    Host* host;
    std::string name, place;
    Body body;
  };

  pl_kernel Kernel(std::uint32_t form, std::uint32_t signature, std::string name, Body body) {
    auto context = std::make_unique<Context>(Context{this, name, name + ".scn:1", std::move(body)});
    pl_kernel kernel{};
    kernel.struct_size = sizeof kernel;
    kernel.form = form;
    kernel.signature = signature;
    kernel.function = [](void* raw, pl_frame* frame) -> pl_error* {
      auto* self = static_cast<Context*>(raw);
      std::string text = self->name + " " + std::string(abi::View(frame->operator_name)) + " [";
      for (std::uint64_t i = 0; i < frame->keys.size; ++i)
        text += (i ? " " : "") + self->host->KeyName(frame->keys.data[i]);
      text += "]";
      for (std::uint64_t i = 0; i < frame->argument_count; ++i) text += " " + self->host->Show(frame->arguments[i]);
      self->host->seen_.push_back(text);
      if (self->body) return self->body(frame);
      return frame->results.push(frame->results.context, &frame->arguments[0]);
    };
    kernel.destroy = [](void* raw) {
      ++static_cast<Context*>(raw)->host->destroyed_;
      delete static_cast<Context*>(raw);
    };
    kernel.place = abi::Borrow(context->place);
    kernel.context = context.release();
    return kernel;
  }

  std::string KeyName(pl_key key) {
    for (const char* name : {"CPU", "CUDA", "FPGA", "AutogradCPU", "AutogradOther", "ADInplaceOrView", "PrivateUse1",
                             "AutogradPrivateUse1", "TESTING_ONLY_GenericMode", "Tracer"})
      if (Key(name) == key) return name;
    return std::to_string(key);
  }

  Item Own(pl_tensor* tensor) {
    return {.kind = PL_TENSOR, .tensor = std::shared_ptr<pl_tensor>(tensor, table_->tensor_release)};
  }
  Item Copy(const pl_value& value) {
    Item item{.kind = value.kind};
    switch (value.kind) {
      case PL_TENSOR:
        item.tensor = Own(table_->tensor_retain(value.as.tensor)).tensor;
        break;
      case PL_FLOAT:
        item.real = value.as.real;
        break;
      case PL_STRING:
        item.text = abi::View(value.as.string);
        break;
      case PL_LIST:
        for (std::uint64_t i = 0; i < value.as.list.size; ++i) item.items.push_back(Copy(value.as.list.data[i]));
        break;
      default:
        item.integer = value.as.integer;
    }
    return item;
  }
  pl_value_sink SinkOf(Answer& answer) {
    struct Sink {
      Host* host;
      Answer* answer;
    };
    sinks_.push_back(std::make_shared<Sink>(Sink{this, &answer}));
    return {sinks_.back().get(), [](void* context, const pl_value* value) -> pl_error* {
              auto* sink = static_cast<Sink*>(context);
              sink->answer->results.push_back(sink->host->Copy(*value));
              return nullptr;
            }};
  }
  static Answer Failed(pl_error* raw) {
    const abi::PlError error(raw);
    return {
        std::string(abi::ErrorClassSpelling(error.error_class())), std::string(error.message()), error.payload(), {}};
  }
  bool Note(pl_error* raw) {
    error_.clear();
    if (raw == nullptr) return true;
    const Answer failed = Failed(raw);
    error_ = failed.error + ": " + failed.message;
    return false;
  }
  template <class Make>
  Owned Held(const Make& make) {
    pl_registration* out = nullptr;
    if (!Note(make(&out))) return nullptr;
    return {out, [this](pl_registration* own) { abi::ThrowIfError(table_->release(own)); }};
  }

  const pl_adapter* table_;
  pl_registry* registry_ = nullptr;
  std::vector<std::string> seen_;
  std::string error_;
  int destroyed_ = 0;
  std::vector<std::shared_ptr<void>> sinks_;
};

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_TEST_HOST_H_
