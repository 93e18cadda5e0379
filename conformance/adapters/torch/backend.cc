#include "conformance/adapters/torch/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "conformance/adapters/torch/boxed.h"
#include "conformance/adapters/torch/dump.h"
#include "conformance/adapters/torch/errors.h"
#include "conformance/adapters/torch/keys.h"
#include "spec/abi/error.h"

namespace plumbline::torch_backend {
namespace {

c10::Dispatcher& Dispatcher() { return c10::Dispatcher::singleton(); }

// "ns::name.overload" apart, without a judgement of the parts.
c10::OperatorName Split(std::string_view name) {
  const std::size_t colons = name.find("::");
  const std::size_t dot = name.find('.', colons == std::string_view::npos ? 0 : colons + 2);
  if (dot == std::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

// Also of an operator that is implemented but not defined.
c10::OperatorHandle FindAny(std::string_view name) {
  const auto found = Dispatcher().findOp(Split(name));
  if (!found.has_value()) throw abi::Error(PL_ERROR_NOT_FOUND, "no operator " + std::string(name));
  return *found;
}

// As torch::dispatch does: Undefined is the old name for "no key", which registers as CompositeImplicitAutograd.
Optional<c10::DispatchKey> KernelKey(std::optional<pl_key> key) {
  if (!key.has_value() || FromKey(*key) == c10::DispatchKey::Undefined) return kNullopt;
  return FromKey(*key);
}

// A place as torch::Library takes it: "demo.scn:4" is file and line.
struct Place {
  std::string file;
  std::uint32_t line = 0;

  explicit Place(std::string_view text) : file(text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon + 1 == text.size() || text.size() - colon > 9) return;
    const std::string digits(text.substr(colon + 1));
    if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) return;
    file = text.substr(0, colon);
    line = static_cast<std::uint32_t>(std::stoul(digits));
  }
};

torch::Library::Kind KindOf(std::uint32_t kind) {
  switch (kind) {
    case PL_LIBRARY_DEF:
      return torch::Library::DEF;
    case PL_LIBRARY_FRAGMENT:
      return torch::Library::FRAGMENT;
    default:
      return torch::Library::IMPL;
  }
}

// For one registration in `library`. The namespace is held by the library itself, so a DEF's member is a FRAGMENT.
std::unique_ptr<torch::Library> Member(const Library& library, const Place& place) {
  const auto kind = library.kind == PL_LIBRARY_DEF ? torch::Library::FRAGMENT : KindOf(library.kind);
  return std::make_unique<torch::Library>(kind, library.name_space, library.key, place.file.c_str(), place.line);
}

Registration Own(c10::RegistrationHandleRAII handle) {
  return {std::make_unique<c10::RegistrationHandleRAII>(std::move(handle)), nullptr};
}

// Rows of an operator that has nothing of its own: the backend fallbacks in force.
std::vector<DumpRow> FallbackRows() {
  const c10::OperatorName probe("plumbline::fallbacks", "");
  const c10::RegistrationHandleRAII name = Dispatcher().registerName(probe);
  return ParseComputedTable(Dispatcher().findOp(probe)->dumpComputedTable());
}

// Where the fallbacks were registered that were there before the first scenario, by key.
const std::map<std::string, std::string>& BuiltinPlaces() {
  static const std::map<std::string, std::string> places = [] {
    std::map<std::string, std::string> map;
    for (const DumpRow& row : FallbackRows()) map[row.key] = row.place;
    return map;
  }();
  return places;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The place of the kernel in force at CompositeExplicitAutogradNonFunctional, which the table's dump does not tell from
// CompositeExplicitAutograd.
std::optional<std::string> NonFunctionalPlace(const c10::OperatorHandle& op) {
  constexpr std::string_view kPrefix = "CompositeExplicitAutogradNonFunctional[alias]: ";
  for (const std::string& line : Lines(op.dumpState())) {
    if (line.rfind(kPrefix, 0) != 0) continue;
    const std::size_t end = line.rfind(" :: ");
    if (end != std::string::npos && end >= kPrefix.size()) return line.substr(kPrefix.size(), end - kPrefix.size());
  }
  return std::nullopt;
}

// A boxed call as an interpreter makes it: its arguments on top of a stack that holds values of others below. libtorch
// does not compare them with the schema, and takes what lies below for those that are missing; here that is nothing
// (None), never memory that is nobody's.
class CallStack {
 public:
  CallStack(const c10::OperatorHandle& op, std::span<const Value> arguments)
      : positions_(op.hasSchema() ? op.schema().arguments() : std::vector<c10::Argument>()),
        below_(positions_.size()),
        stack_(below_) {
    torch::jit::Stack own = ToStack(arguments, positions_);
    std::move(own.begin(), own.end(), std::back_inserter(stack_));
  }
  torch::jit::Stack& stack() { return stack_; }
  // What the call left on top of the values of others.
  std::vector<Value> Results() const { return FromStack(std::span(stack_).subspan(std::min(below_, stack_.size()))); }

 private:
  const std::vector<c10::Argument> positions_;
  const std::size_t below_;
  torch::jit::Stack stack_;
};

bool loaded = false;  // a user's library has registered itself

class Listener final : public c10::OpRegistrationListener {
 public:
  explicit Listener(abi::HostListener host) : host_(std::move(host)) {}
  void onOperatorRegistered(const c10::OperatorHandle& op) override {
    host_.Defined(c10::toString(op.operator_name()));
  }
  void onOperatorDeregistered(const c10::OperatorHandle& op) override {
    host_.Removed(c10::toString(op.operator_name()));
  }

 private:
  const abi::HostListener host_;
};

}  // namespace

// libtorch's handler is per thread, the host's sink per registry: so each entry that may warn installs it.
class Backend::Warnings final : public WarningTextHandler {
 public:
  void To(std::function<void(std::string_view)> sink) {
    std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
  }
  void Text(const std::string& text) override {
    std::function<void(std::string_view)> sink;
    {
      std::lock_guard lock(mutex_);
      sink = sink_;
    }
    if (sink) sink(text);
  }

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> sink_;
};

abi::Description Backend::Describe() {
  abi::Description description{.name = "torch",
                               .version = TORCH_VERSION,
                               .release = std::string(kRelease),
                               .keys = {},
                               .own_starting_state = loaded || TORCH_VERSION_MAJOR >= 2,
                               .fallbacks = {}};
  if (description.own_starting_state)
    for (const DumpRow& row : FallbackRows()) description.fallbacks.push_back({row.key, row.fallthrough});
  return description;
}

abi::Error Backend::Classify(const std::exception& exception) { return torch_backend::Classify(exception); }

void Backend::Load(std::string_view path) {
  if (dlopen(std::string(path).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* why = dlerror();
    throw abi::Error(PL_ERROR_INVALID_ARGUMENT, why != nullptr ? why : "cannot load " + std::string(path));
  }
  loaded = true;
}

Backend::Backend(const abi::OpenOptions& options) : warnings_(std::make_unique<Warnings>()) {
  if (!options.release.empty() && options.release != kRelease)
    throw abi::Error(PL_ERROR_UNSUPPORTED, "this libtorch is " + std::string(kRelease) + ", not " + options.release);
  WarnEveryTime();
  BuiltinPlaces();
}

Backend::~Backend() = default;

pl_key Backend::InternKey(std::string_view name) { return ToKey(ParseKey(name)); }

// ---- registrations ----

Registration Backend::Define(Library* library, std::string_view schema, std::string_view place) {
  const WarningGuard guard(warnings_.get());
  const std::string text(schema);
  if (library == nullptr) return Own(Dispatcher().registerDef(torch::jit::parseSchema(text), std::string(place)));
  std::unique_ptr<torch::Library> member = Member(*library, Place(place));
  member->def(text.c_str());
  return {nullptr, std::move(member)};
}

Registration Backend::RegisterKernel(Library* library, std::string_view op, std::optional<pl_key> key,
                                     abi::Kernel kernel) {
  const WarningGuard guard(warnings_.get());
  const std::string name(op);
  const Optional<c10::DispatchKey> kernel_key = KernelKey(key);
  if (library == nullptr) {
    MadeKernel made = Make(kernel, name, kernel_key);
    return Own(Dispatcher().registerImpl(torch::jit::parseName(name), kernel_key, std::move(made.for_dispatcher),
                                         std::move(made.signature), std::move(made.inferred_schema), kernel.place));
  }
  const bool qualified = name.find("::") != std::string::npos;
  MadeKernel made = Make(kernel, qualified ? name : library->name_space + "::" + name,
                         kernel_key.has_value() ? kernel_key : library->key);
  torch::CppFunction function = std::move(*made.for_library).debug(kernel.place);
  std::unique_ptr<torch::Library> member = Member(*library, Place(kernel.place));
  if (key.has_value()) {
    member->impl(name.c_str(), torch::dispatch(FromKey(*key), std::move(function)));
  } else {
    member->impl(name.c_str(), std::move(function));
  }
  return {nullptr, std::move(member)};
}

Registration Backend::RegisterFallback(Library* library, std::optional<pl_key> key, abi::Kernel kernel) {
  const WarningGuard guard(warnings_.get());
  MadeKernel made = Make(kernel, "", KernelKey(key));
  if (library == nullptr) {
    const Optional<c10::DispatchKey> own = KernelKey(key);
    if (!own.has_value()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "a fallback without a library needs a key");
    return Own(Dispatcher().registerFallback(*own, std::move(made.for_dispatcher), kernel.place));
  }
  torch::CppFunction function = std::move(*made.for_library).debug(kernel.place);
  std::unique_ptr<torch::Library> member = Member(*library, Place(kernel.place));
  if (key.has_value()) {
    member->fallback(torch::dispatch(FromKey(*key), std::move(function)));
  } else {
    member->fallback(std::move(function));
  }
  return {nullptr, std::move(member)};
}

MadeKernel Backend::Make(const abi::Kernel& kernel, const std::string& operator_name, Optional<c10::DispatchKey> key) {
  const auto host = [&] { return std::make_shared<const HostState>(HostState{this, kernel.host, operator_name}); };
  switch (kernel.form) {
    case PL_KERNEL_BOXED:
      return MakeBoxedKernel(host());
    case PL_KERNEL_TYPED:
      return FindSignature(kernel.signature).kernel(host());
    case PL_KERNEL_FALLTHROUGH:
      return MakeFallthroughKernel();
    case PL_KERNEL_NOOP:
      return FindSignature(kernel.signature).noop();
    case PL_KERNEL_NOOP_BOXED:
      return MakeBoxedNoopKernel();
    case PL_KERNEL_NOOP_REDISPATCH: {
      if (!key.has_value()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "a kernel that redispatches needs a key");
      const c10::DispatchKeySet below = *key == c10::DispatchKey::Autograd
                                            ? c10::after_autograd_keyset
                                            : c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, *key);
      return FindSignature(kernel.signature).noop_redispatch(FindAny(operator_name), below);
    }
    default:
      throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "unknown form of kernel");
  }
}

Library Backend::OpenLibrary(std::uint32_t kind, std::string_view name_space, std::optional<pl_key> key,
                             std::string_view place) {
  const WarningGuard guard(warnings_.get());
  const Place where(place);
  Library library{kind, std::string(name_space), kNullopt, nullptr};
  if (key.has_value()) library.key = FromKey(*key);
  library.own =
      std::make_unique<torch::Library>(KindOf(kind), library.name_space, library.key, where.file.c_str(), where.line);
  return library;
}

Registration Backend::AddListener(abi::HostListener listener) {
  return Own(Dispatcher().addRegistrationListener(std::make_unique<Listener>(std::move(listener))));
}

void Backend::WarningsTo(std::function<void(std::string_view)> sink) { warnings_->To(std::move(sink)); }

Guard Backend::EnterGuard(std::uint32_t side, std::span<const pl_key> keys) {
  const c10::DispatchKeySet set = ToSet(keys);
  if (side == PL_GUARD_INCLUDE) return {std::make_unique<c10::impl::IncludeDispatchKeyGuard>(set), nullptr};
  return {nullptr, std::make_unique<c10::impl::ExcludeDispatchKeyGuard>(set)};
}

// ---- calls ----

c10::OperatorHandle Backend::FindOperator(std::string_view op) {
  const c10::OperatorName name = Split(op);
  return Dispatcher().findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str());
}

Backend::Values Backend::CallBoxed(Operator& op, std::span<const Value> arguments) {
  const WarningGuard guard(warnings_.get());
  CallStack call(op, arguments);
  op.callBoxed(call.stack());
  return call.Results();
}

Backend::Values Backend::CallTyped(Operator& op, std::uint32_t signature, std::span<const Value> arguments) {
  const WarningGuard guard(warnings_.get());
  return FindSignature(signature).call(op, arguments);
}

Backend::Values Backend::Redispatch(Frame& frame, std::span<const pl_key> keys, std::span<const Value> arguments) {
  const c10::OperatorHandle op = frame.op != nullptr ? *frame.op : FindAny(frame.operator_name);
  CallStack call(op, arguments);
  op.redispatchBoxed(ToSet(keys), &call.stack());
  return call.Results();
}

Backend::Values Backend::RedispatchTyped(Frame& frame, std::uint32_t signature, std::span<const pl_key> keys,
                                         std::span<const Value> arguments) {
  const c10::OperatorHandle op = frame.op != nullptr ? *frame.op : FindAny(frame.operator_name);
  return FindSignature(signature).redispatch(op, ToSet(keys), arguments);
}

void Backend::CallMany(Operator& op, std::uint32_t form, std::uint32_t signature, std::span<const Value> arguments,
                       std::uint64_t times) {
  if (form == PL_CALL_TYPED) return FindSignature(signature).call_many(op, arguments, times);
  const torch::jit::Stack given = ToStack(arguments, op.schema().arguments());
  torch::jit::Stack stack;
  for (std::uint64_t i = 0; i < times; ++i) {
    stack = given;  // keeps the storage
    op.callBoxed(stack);
  }
}

void Backend::FindMany(std::string_view op, std::uint64_t times) {
  const c10::OperatorName name = Split(op);
  for (std::uint64_t i = 0; i < times; ++i)
    if (!Dispatcher().findSchema(name).has_value())
      throw abi::Error(PL_ERROR_NOT_FOUND, "no operator " + std::string(op));
}

// ---- tensors ----

at::Tensor Backend::MakeTensor(std::span<const pl_key> keys) { return torch_backend::MakeTensor(ToSet(keys)); }

std::vector<pl_key> Backend::KeysOf(const Tensor& tensor) { return FromSet(tensor.key_set()); }

// ---- introspection ----

bool Backend::HasKernel(std::string_view op, pl_key key, std::uint32_t query) {
  const c10::OperatorHandle found = FindAny(op);
  return query == PL_QUERY_DIRECT ? found.hasKernelForDispatchKey(FromKey(key))
                                  : found.hasComputedKernelForDispatchKey(FromKey(key));
}

bool Backend::HasFallback(pl_key key) { return Dispatcher().hasBackendFallbackForDispatchKey(FromKey(key)); }

std::vector<std::string> Backend::ListOperators(std::uint32_t which, std::optional<pl_key> key) {
  std::vector<std::string> names;
  switch (which) {
    case PL_LIST_ALL:
      for (const c10::OperatorName& name : Dispatcher().getAllOpNames()) names.push_back(c10::toString(name));
      break;
    case PL_LIST_DANGLING:
      for (const c10::OperatorHandle& op : Dispatcher().findDanglingImpls())
        names.push_back(c10::toString(op.operator_name()));
      break;
    default:
      if (!key.has_value()) throw abi::Error(PL_ERROR_INVALID_ARGUMENT, "operators at which key?");
      for (const c10::OperatorName& name : Dispatcher().getRegistrationsForDispatchKey(FromKey(*key)))
        names.push_back(c10::toString(name));
  }
  return names;
}

std::string Backend::SchemaOf(std::string_view op) { return c10::toString(FindOperator(op).schema()); }

std::vector<abi::TableRow> Backend::DumpTable(std::string_view op) {
  const c10::OperatorHandle found = FindAny(op);
  const std::optional<std::string> non_functional = NonFunctionalPlace(found);
  std::vector<abi::TableRow> rows;
  for (DumpRow& row : ParseComputedTable(found.dumpComputedTable())) {
    abi::TableRow out{ToKey(ParseKey(row.key)), row.rule, row.fallthrough, std::move(row.place)};
    if (out.rule == PL_RULE_EXPLICIT && out.place == non_functional) out.rule = PL_RULE_NONFUNCTIONAL;
    if (out.rule == PL_RULE_AMBIGUOUS) out.place.clear();  // libtorch's own kernel
    if (out.rule == PL_RULE_FALLBACK) {
      const auto builtin = BuiltinPlaces().find(row.key);
      if (builtin != BuiltinPlaces().end() && builtin->second == out.place) out.place.clear();
    }
    rows.push_back(std::move(out));
  }
  return rows;
}

std::vector<std::string> Backend::DumpRegistrations(std::string_view op) { return Lines(FindAny(op).dumpState()); }

}  // namespace plumbline::torch_backend
