// A backend that does one thing wrong, the one that PLUMBLINE_MISBEHAVE names, whenever an operator called "bad" is
// called. All else is right, as far as it goes: one key a call, no fallbacks, no guards.
//
// What is wrong with it must cost the case that meets it, and nothing else: selftest/isolated_backend_test.cc.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "spec/abi/adapter.h"

namespace plumbline::selftest {
namespace {

bool Misbehaves(std::string_view how) {
  const char* wanted = std::getenv("PLUMBLINE_MISBEHAVE");
  return wanted != nullptr && how == wanted;
}

class Misbehaving {
 public:
  struct Bits {
    std::vector<pl_key> keys;
  };
  struct Op {
    std::string name;
    bool defined = false;
    std::map<pl_key, std::vector<std::shared_ptr<abi::Kernel>>> kernels;
  };
  class Registration {
   public:
    explicit Registration(std::function<void()> undo) : undo_(std::move(undo)) {}
    Registration(Registration&& other) noexcept : undo_(std::exchange(other.undo_, nullptr)) {}
    ~Registration() {
      if (undo_) undo_();
    }

   private:
    std::function<void()> undo_;
  };
  using Operator = std::shared_ptr<Op>;
  using Tensor = std::shared_ptr<Bits>;
  using Values = std::vector<abi::Value<Tensor>>;

  static constexpr bool kFreshRegistry = true;
  static abi::Description Describe() {
    const bool odd = Misbehaves("odd-name");
    return {.name = odd ? "mis\nbehaving\x1b[2J" : "misbehaving",
            .version = odd ? "1\t\a" : "1",
            .release = "pytorch-1.13",
            .keys = {},
            .fallbacks = {}};
  }
  explicit Misbehaving(const abi::OpenOptions&) {
    if (Misbehaves("no-registry")) throw abi::Error(PL_ERROR_INTERNAL, "no memory today");
  }

  pl_key InternKey(std::string_view name) {
    if (Misbehaves("few-keys") && name != "CPU" && name != "AutogradCPU" && name != "Autograd") {
      throw abi::Error(PL_ERROR_NOT_FOUND, "no key " + std::string(name));
    }
    if (Misbehaves("crash-at-keys")) std::raise(SIGSEGV);
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at != names_.end()) return static_cast<pl_key>(at - names_.begin());
    names_.emplace_back(name);
    return static_cast<pl_key>(names_.size() - 1);
  }
  Registration Define(abi::NoLibrary*, std::string_view schema, std::string_view) {
    Operator op = Named(schema.substr(0, schema.find('(')));
    if (op->defined) throw abi::Error(PL_ERROR_DUPLICATE, op->name + " is defined already");
    op->defined = true;
    if (op->name.find("::bad") != std::string::npos) bad_was_defined_ = true;
    return Registration([op] { op->defined = false; });
  }
  Registration RegisterKernel(abi::NoLibrary*, std::string_view name, std::optional<pl_key> key, abi::Kernel kernel) {
    Operator op = Named(name);
    auto own = std::make_shared<abi::Kernel>(std::move(kernel));
    if (Misbehaves("keep")) kept_.push_back(own);
    static std::vector<std::shared_ptr<abi::Kernel>> leaked;
    if (Misbehaves("leak")) leaked.push_back(own);
    op->kernels[key.value_or(0)].push_back(own);
    return Registration([op, own, key] { std::erase(op->kernels[key.value_or(0)], own); });
  }
  Operator FindOperator(std::string_view name) {
    Operator op = Named(name);
    if (!op->defined) throw abi::Error(PL_ERROR_NOT_FOUND, "no operator " + op->name);
    return op;
  }
  Values CallBoxed(Operator& op, std::span<const abi::Value<Tensor>> arguments) {
    if (op->name.find("::bad") != std::string::npos) Misbehave();
    if (Misbehaves("sticky") && bad_was_defined_) std::_Exit(3);  // once "bad" was defined, in whatever registry
    if (arguments.empty() || !arguments[0].is_tensor() || arguments[0].tensor()->keys.empty()) {
      throw abi::Error(PL_ERROR_NO_KEY, "no key");
    }
    const std::vector<pl_key>& keys = arguments[0].tensor()->keys;
    const auto& stack = op->kernels[keys.back()];
    if (stack.empty()) throw abi::Error(PL_ERROR_NO_KERNEL, "no kernel");
    const std::shared_ptr<abi::Kernel> kernel = Misbehaves("oldest") ? stack.front() : stack.back();
    return abi::Invoke<Misbehaving>(
        kernel->host, {.backend = *this, .operator_name = op->name, .keys = keys, .arguments = arguments});
  }
  Tensor MakeTensor(std::span<const pl_key> keys) { return std::make_shared<Bits>(Bits{{keys.begin(), keys.end()}}); }
  Tensor MakeUndefinedTensor() { return undefined_; }
  std::vector<pl_key> KeysOf(const Tensor& tensor) { return tensor->keys; }
  static std::uint64_t Identity(const Tensor& tensor) { return reinterpret_cast<std::uintptr_t>(tensor.get()); }

 private:
  static inline bool bad_was_defined_ = false;

  Operator Named(std::string_view name) {
    Operator& op = operators_[std::string(name)];
    if (!op) op = std::make_shared<Op>(Op{.name = std::string(name), .kernels = {}});
    return op;
  }

  static pid_t ParentOf(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string word; status >> word;) {
      if (word == "PPid:" && status >> process) break;
    }
    return process;
  }

  // The kernel ends this process as well.
  static void EndAndWait(pid_t process) {
    kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }

  static void Misbehave() {
    if (Misbehaves("segfault")) {
      std::fputs("last words\n", stderr);
      std::raise(SIGSEGV);
    }
    if (Misbehaves("abort")) std::abort();
    if (Misbehaves("exit")) std::_Exit(3);
    if (Misbehaves("kill-group")) kill(0, SIGTERM);
    if (Misbehaves("kill-parent")) EndAndWait(getppid());
    if (Misbehaves("kill-worker")) EndAndWait(ParentOf(getppid()));
    if (Misbehaves("orphan")) {  // a child that outlives it, for a while
      if (fork() == 0) {
        std::this_thread::sleep_for(std::chrono::seconds(30));
        std::_Exit(0);
      }
      std::_Exit(3);
    }
    if (Misbehaves("race-report")) {  // as thread sanitizer ends the process that it finds a race in
      std::fputs(
          "WARNING: ThreadSanitizer: data race (pid=7)\nSUMMARY: ThreadSanitizer: data race table.cc:7 in Find\n"
          "==7==last words\n",
          stderr);
      std::_Exit(66);
    }
    if (Misbehaves("hang")) std::this_thread::sleep_for(std::chrono::hours(1));
  }

  std::vector<std::string> names_;
  std::map<std::string, Operator> operators_;
  std::vector<std::shared_ptr<abi::Kernel>> kept_;  // only until close
  Tensor undefined_ = std::make_shared<Bits>();
};

// The layer above lets no exception out, so this one is thrown past it.
pl_error* CallAndThrow(pl_registry* registry, const pl_call* call) {
  pl_error* error = abi::Table<Misbehaving>().call(registry, call);
  if (Misbehaves("throw")) throw std::runtime_error("thrown across the line");
  if (Misbehaves("throw-int")) throw 7;
  return error;
}

}  // namespace
}  // namespace plumbline::selftest

extern "C" __attribute__((visibility("default"))) const pl_adapter* plumbline_get_adapter(uint32_t, uint32_t) {
  namespace selftest = plumbline::selftest;
  if (selftest::Misbehaves("segfault-at-once")) std::raise(SIGSEGV);
  static const pl_adapter table = [] {
    pl_adapter made = plumbline::abi::Table<selftest::Misbehaving>();
    if (selftest::Misbehaves("throw") || selftest::Misbehaves("throw-int")) made.call = &selftest::CallAndThrow;
    return made;
  }();
  return &table;
}
