#include "conformance/suites/lifecycle_stage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "conformance/harness/backend_file.h"
#include "conformance/harness/executor.h"
#include "conformance/suites/lifecycle_plugin.h"
#include "conformance/suites/lifecycle_service.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

using abi::Borrow;
using abi::PlError;
using harness::CaseContext;
using harness::Executor;
using harness::Reply;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// With this status leaves who found something wrong and noted it.
constexpr int kWrong = 87;
constexpr int kAbsent = 89;  // there is no registry of that sort for that release
constexpr milliseconds kPatience(2'000);

std::atomic<bool> ran_after_destroyed{false};

pl_error* RunKernel(void* context, pl_frame* frame) {
  StageKernel& kernel = *static_cast<StageKernel*>(context);
  kernel.running.fetch_add(1, std::memory_order_relaxed);
  kernel.entered.fetch_add(1, std::memory_order_relaxed);
  if (kernel.destroyed.load(std::memory_order_relaxed) != 0) ran_after_destroyed = true;
  if (kernel.body) kernel.body();
  pl_value value{};
  value.kind = PL_INT;
  value.as.integer = kernel.value;
  pl_error* const error = frame->results.push(frame->results.context, &value);
  if (kernel.destroyed.load(std::memory_order_relaxed) != 0) ran_after_destroyed = true;
  kernel.running.fetch_sub(1, std::memory_order_relaxed);
  return error;
}

void DestroyKernel(void* context) {
  StageKernel& kernel = *static_cast<StageKernel*>(context);
  kernel.destroyed.fetch_add(1);
  if (kernel.at_destroy) kernel.at_destroy();
}

// What may be left at the end: reachable for a leak checker. Without a lock, which a fork might find held.
template <class T>
T& Keep(T* made) {
  struct Kept {
    T* one;
    Kept* before;
  };
  static std::atomic<Kept*> all{nullptr};
  auto* kept = new Kept{made, all.load(std::memory_order_relaxed)};
  while (!all.compare_exchange_weak(kept->before, kept, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return *made;
}

std::function<void()>& VeryLast() {
  static auto& last = *new std::function<void()>;
  return last;
}
[[maybe_unused]] const int at_exit = std::atexit([] {  // before a backend is loaded
  if (VeryLast()) VeryLast()();
});

pl_error* KeepInteger(void* context, const pl_value* value) {
  if (value->kind == PL_INT) *static_cast<std::int64_t*>(context) = value->as.integer;
  return nullptr;
}

// How a child ended, or nothing if it has not by the deadline; it is killed then.
std::optional<int> StatusOf(pid_t child, Clock::time_point deadline) {
  for (int status = 0;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (Clock::now() > deadline) {
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      return std::nullopt;
    }
    usleep(500);
  }
}

std::string Words(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("left with exit status {}", WEXITSTATUS(status));
}

std::string Noted(int notes) {
  std::string text(4096, '\0');
  const ssize_t got = pread(notes, text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

bool in_child_of_executor = false;

// In the executor: one run of the program in a child. The answer's first word is the verdict.
std::string RunInChild(const pl_adapter& adapter, const harness::BackendFacts& facts, harness::Tier tier, bool fresh,
                       milliseconds limit, StageProgram program, int exit_status) {
  const int notes = memfd_create("plumbline-notes", MFD_CLOEXEC);
  if (notes < 0) return fmt::format("broken no file for notes: {}", strerror(errno));
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fmt::format("broken cannot fork: {}", strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    in_child_of_executor = true;
    Stage& stage = Keep(new Stage(adapter, facts, tier, fresh, limit, notes));
    try {
      stage.Open();
      program(stage);
    } catch (const std::exception& error) {
      stage.Expect(false, fmt::format("an exception came across the ABI: {}", error.what()));
    } catch (...) {
      stage.Expect(false, "an exception came across the ABI");
    }
    stage.Expect(!ran_after_destroyed, "a kernel ran after its context was destroyed");
    std::exit(exit_status);
  }
  const std::optional<int> status = StatusOf(child, Clock::now() + limit);
  const std::string noted = Noted(notes);
  close(notes);
  if (!status) return "late did not end in time";
  // [CONC-024] [CONC-025] [CONC-029] [CONC-030]
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == exit_status) return "good";
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kAbsent) return "absent " + noted;
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kWrong && !noted.empty()) return "wrong " + noted;
  return "ended " + Words(*status);
}

}  // namespace

// Asked by the leak sanitizer, if there is one. Where main or other threads are gone, what only their stacks pointed to
// looks leaked; the suite counts its contexts itself.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off() { return in_child_of_executor ? 1 : 0; }

std::string StageAnswer::Words() const {
  if (error_class == PL_ERROR_NONE) return fmt::format("kernel {}", value);
  return fmt::format("error {} (\"{}\")", abi::ErrorClassSpelling(error_class), message);
}

Stage::Stage(const pl_adapter& adapter, const harness::BackendFacts& facts, harness::Tier tier, bool fresh,
             milliseconds limit, int notes)
    : adapter_(adapter),
      facts_(facts),
      tier_(tier),
      fresh_(fresh),
      start_(Clock::now()),
      limit_(limit),
      notes_(notes) {}

int Stage::Rounds(int standard) const {
  return tier_ == harness::Tier::kQuick  ? std::max(1, standard / 10)
         : tier_ == harness::Tier::kFull ? standard * 10
                                         : standard;
}

bool Stage::Late() const { return Clock::now() - start_ > limit_ / 2; }

void Stage::Expect(bool holds, const std::string& what) {
  if (!holds) Leave(kWrong, what);
}

void Stage::Leave(int status, const std::string& why) {
  if (write(notes_, why.data(), why.size()) < 0) _exit(kWrong + 1);
  std::fflush(nullptr);
  _exit(status);
}

void Stage::Take(pl_error* error, const std::string& what) {
  if (error == nullptr) return;
  const PlError owned(error);
  Expect(false,
         fmt::format("{}: error {} (\"{}\")", what, abi::ErrorClassSpelling(owned.error_class()), owned.message()));
}

void Stage::Open() {
  pl_open_options options{};
  options.struct_size = sizeof(options);
  options.mode = fresh_ ? PL_OPEN_FRESH : PL_OPEN_PROCESS;
  options.release = Borrow(facts_.release);
  pl_error* const error = adapter_.open(&options, &registry_);
  if (error != nullptr && error->error_class == PL_ERROR_UNSUPPORTED) {
    const PlError owned(error);
    Leave(kAbsent, std::string(owned.message()));
  }
  Take(error, "open");
  Take(adapter_.intern_key(registry_, Borrow("CPU"), &cpu_), "intern_key CPU");
  Take(adapter_.tensor_make(registry_, {&cpu_, 1}, &tensor_), "tensor_make [CPU]");
}

void Stage::Close() {
  adapter_.tensor_release(std::exchange(tensor_, nullptr));
  adapter_.close(std::exchange(registry_, nullptr));
}

StageKernel& Stage::NewKernel(std::int64_t value, std::function<void()> body) {
  return Keep(new StageKernel{.value = value, .body = std::move(body)});
}

pl_registration* Stage::Define(std::string_view name) {
  pl_registration* made = nullptr;
  const std::string schema = fmt::format("{}(Tensor a, Tensor b) -> int", name);
  Take(adapter_.define(registry_, nullptr, Borrow(schema), Borrow("program:1"), &made), fmt::format("define {}", name));
  return &Keep(made);
}

std::uint32_t Stage::DefineError(std::string_view name) {
  pl_registration* made = nullptr;
  const std::string schema = fmt::format("{}(Tensor a, Tensor b) -> int", name);
  pl_error* const error = adapter_.define(registry_, nullptr, Borrow(schema), Borrow("program:3"), &made);
  if (error == nullptr) return PL_ERROR_NONE;
  return PlError(error).error_class();
}

namespace {

pl_kernel AsKernel(StageKernel& kernel) {
  pl_kernel made{};
  made.struct_size = sizeof(made);
  made.form = PL_KERNEL_BOXED;
  made.function = &RunKernel;
  made.context = &kernel;
  made.destroy = &DestroyKernel;
  made.place = Borrow("program:2");
  return made;
}

}  // namespace

pl_registration* Stage::Impl(std::string_view name, StageKernel& kernel) {
  const pl_kernel made = AsKernel(kernel);
  pl_registration* registration = nullptr;
  Take(adapter_.register_kernel(registry_, nullptr, Borrow(name), cpu_, &made, &registration),
       fmt::format("impl {}", name));
  return &Keep(registration);
}

void Stage::TryOverride(std::string_view name, StageKernel& kernel) {
  const pl_kernel made = AsKernel(kernel);
  pl_registration* registration = nullptr;
  if (pl_error* error = adapter_.register_kernel(registry_, nullptr, Borrow(name), cpu_, &made, &registration)) {
    PlError{error};
  } else if (pl_error* at_release = adapter_.release(registration)) {
    PlError{at_release};
  }
}

void Stage::Release(pl_registration* registration) { Take(adapter_.release(registration), "release"); }

pl_operator* Stage::Find(std::string_view name) {
  pl_operator* op = nullptr;
  Take(adapter_.find_operator(registry_, Borrow(name), &op), fmt::format("find {}", name));
  return op;
}

std::uint32_t Stage::FindError(std::string_view name) {
  pl_operator* op = nullptr;
  pl_error* const error = adapter_.find_operator(registry_, Borrow(name), &op);
  if (error != nullptr) return PlError(error).error_class();
  adapter_.operator_release(op);
  return PL_ERROR_NONE;
}

StageAnswer Stage::Call(pl_operator* op, bool typed) {
  pl_value arguments[2]{};
  for (pl_value& argument : arguments) {
    argument.kind = PL_TENSOR;
    argument.as.tensor = tensor_;
  }
  StageAnswer answer;
  pl_call call{};
  call.struct_size = sizeof(call);
  call.form = typed ? PL_CALL_TYPED : PL_CALL_BOXED;
  call.signature = typed ? PL_SIGNATURE_tensor_tensor_int : PL_SIGNATURE_none;
  call.op = op;
  call.arguments = arguments;
  call.argument_count = 2;
  call.results = {&answer.value, &KeepInteger};
  if (pl_error* error = adapter_.call(registry_, &call)) {
    const PlError owned(error);
    answer.error_class = owned.error_class();
    answer.message = owned.message();
  }
  return answer;
}

StageAnswer Stage::Call(std::string_view name) {
  pl_operator* op = nullptr;
  if (pl_error* error = adapter_.find_operator(registry_, Borrow(name), &op)) {
    const PlError owned(error);
    return {.error_class = owned.error_class(), .message = std::string(owned.message())};
  }
  StageAnswer answer = Call(op);
  adapter_.operator_release(op);
  return answer;
}

void Stage::ExpectCall(std::string_view name, std::int64_t value, const char* when) {
  const StageAnswer answer = Call(name);
  Expect(answer.Is(value), fmt::format("call {} {}: expected kernel {}, got {}", name, when, value, answer.Words()));
}

void Stage::ExpectGone(pl_operator* op, std::string_view name, const char* when) {
  const StageAnswer answer = Call(op);
  // [CONC-026]
  Expect(answer.error_class == PL_ERROR_INVALID_HANDLE && answer.message.find(name) != std::string::npos,
         fmt::format("call of a handle of {} {}: expected error invalid-handle that names it, got {}", name, when,
                     answer.Words()));
}

void Stage::Drain() { Take(adapter_.drain(registry_), "drain"); }

std::vector<std::string> Stage::Operators() {
  std::vector<std::string> names;
  const pl_string_sink sink{&names, [](void* context, pl_string text) {
                              static_cast<std::vector<std::string>*>(context)->emplace_back(abi::View(text));
                            }};
  Take(adapter_.list_operators(registry_, PL_LIST_ALL, PL_NO_KEY, sink), "list_operators");
  return names;
}

pl_guard* Stage::Exclude(std::string_view key) {
  pl_key at = PL_NO_KEY;
  Take(adapter_.intern_key(registry_, Borrow(key), &at), fmt::format("intern_key {}", key));
  pl_guard* guard = nullptr;
  Take(adapter_.guard_enter(registry_, PL_GUARD_EXCLUDE, {&at, 1}, &guard), "guard_enter");
  return &Keep(guard);
}

// ---- processes ----

pid_t Stage::Fork() {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t forked = fork();
  Expect(forked >= 0, fmt::format("fork: {}", strerror(errno)));
  if (forked == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
  }
  return forked;
}

pid_t Stage::Fork(const std::function<void()>& child) {
  const pid_t forked = Fork();
  if (forked != 0) return forked;
  child();
  Expect(!ran_after_destroyed, "a kernel ran after its context was destroyed");
  std::exit(0);
}

void Stage::Wait(pid_t child, const std::string& who) {
  const std::optional<int> status = StatusOf(child, start_ + limit_ * 3 / 4);
  Expect(status.has_value(), fmt::format("{} did not end", who));
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == kWrong) _exit(kWrong);  // it has noted what is wrong
  // [CONC-022] [CONC-023] [CONC-031]
  Expect(*status == 0, fmt::format("{} {}", who, Words(*status)));
}

void Stage::AtVeryEnd(std::function<void()> run) { VeryLast() = std::move(run); }

// ---- plug-ins ----

PluginHost& Stage::NewPlugin(const char* operator_name, std::int64_t value) {
  PluginHost& host = Keep(new PluginHost);
  host.adapter = &adapter_;
  host.registry = registry_;
  host.operator_name = operator_name;
  host.value = value;
  return host;
}

namespace {

std::string PluginPath(int which) {
  return (std::filesystem::path(harness::ProgramFolder()) / ".." / "lib" / "plumbline" / "lifecycle" /
          (which == 0 ? "plugin_a.so" : "plugin_b.so"))
      .lexically_normal()
      .string();
}

}  // namespace

void* Stage::Load(int which) {
  void* const library = dlopen(PluginPath(which).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Expect(false, fmt::format("a plug-in of the suite cannot be loaded: {}", dlerror()));
  return library;
}

void Stage::Unload(void* library, int which) {
  Expect(dlclose(library) == 0, "dlclose of a plug-in of the suite failed");
  Expect(dlopen(PluginPath(which).c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr,
         "a plug-in of the suite is still there after dlclose");
}

void* Stage::SymbolOf(void* library, const char* name) {
  void* const found = dlsym(library, name);
  Expect(found != nullptr, fmt::format("a plug-in of the suite lacks {}", name));
  return found;
}

// ---- the case ----

std::string ServeLifecycle(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                           harness::Progress&) {
  std::istringstream words(request.substr(kLifecycleRequest.size()));
  std::uintptr_t program = 0;
  int tier = 0, fresh = 0, exit_status = 0;
  milliseconds::rep limit = 0;
  words >> program >> tier >> fresh >> limit >> exit_status;
  return RunInChild(adapter, facts, static_cast<harness::Tier>(tier), fresh != 0, milliseconds(limit),
                    reinterpret_cast<StageProgram>(program), exit_status);
}

// How many want each processor, at least one: what takes a second alone takes so many more.
double Crowding() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  return std::clamp(load / std::max(1u, std::thread::hardware_concurrency()), 1.0, 8.0);
}

void RunProgram(CaseContext& ctx, StageProgram program, int exit_status) {
  // What hangs takes all of it; the full tier's rounds take their time.
  const milliseconds one = ctx.executor().limit();
  const milliseconds alone = ctx.tier() == harness::Tier::kQuick  ? one / 3
                             : ctx.tier() == harness::Tier::kFull ? one * 12
                                                                  : one;
  const milliseconds limit(static_cast<milliseconds::rep>(static_cast<double>(alone.count()) * Crowding()));
  Executor* executor = &ctx.executor();
  std::unique_ptr<Executor> own;
  if (!executor->config().service) {
    harness::ExecutorConfig config = executor->config();
    config.service = &ServeLifecycle;
    harness::OrError<std::unique_ptr<Executor>> started = Executor::Start(config);
    if (!started.ok()) return ctx.Broken(started.error());
    own = std::move(*started);
    executor = own.get();
  }
  const bool may_be_fresh = ctx.backend().Claims(PL_CAPABILITY(FRESH_REGISTRY)) && executor->config().load.empty();
  std::string absent;
  bool ran = false;
  for (const bool fresh : {false, true}) {
    if (fresh && !may_be_fresh) continue;
    executor->Renew();
    const Reply reply =
        executor->Ask(fmt::format("{}{} {} {} {} {}", kLifecycleRequest, reinterpret_cast<std::uintptr_t>(program),
                                  static_cast<int>(ctx.tier()), fresh ? 1 : 0, limit.count(), exit_status),
                      limit + kPatience);
    if (reply.ending == Reply::Ending::kAnswered && reply.text == "good") {
      ctx.Tried(1);
      ran = true;
      continue;
    }
    const std::size_t blank = std::min(reply.text.find(' '), reply.text.size());
    const std::string verdict = reply.ending == Reply::Ending::kAnswered  ? reply.text.substr(0, blank)
                                : reply.ending == Reply::Ending::kTimeout ? "late"
                                                                          : "ended";
    const std::string what = reply.ending == Reply::Ending::kAnswered
                                 ? reply.text.substr(std::min(blank + 1, reply.text.size()))
                                 : reply.what;
    if (verdict == "broken") return ctx.Broken(what);
    if (verdict == "absent") {
      absent = what;
      continue;
    }
    ctx.Tried(1);
    reports::Finding finding;
    finding.summary = fmt::format("in {}, the process {}", fresh ? "a fresh registry" : "the process-wide registry",
                                  verdict == "wrong" ? "saw what is wrong" : what);
    finding.expected = fmt::format("exit status {}, and nothing wrong seen before", exit_status);
    finding.got = what;
    if (verdict != "wrong" && !reply.output.empty()) finding.got += "\n" + reply.output;
    ctx.Fail(std::move(finding), verdict == "wrong"  ? reports::Verdict::kFail
                                 : verdict == "late" ? reports::Verdict::kTimeout
                                                     : reports::Verdict::kCrash);
    return;
  }
  if (!ran) ctx.Unsupported(absent);
}

}  // namespace plumbline::suites
