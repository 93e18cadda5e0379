// A backend as an ordinary C++ class.
//
// Purpose: an author writes a class with the members that his dispatcher can serve; this header derives from it the C
// table of abi.h and the capability bits. What the class lacks reads *unsupported*; nothing can be claimed that is
// not there. The layer catches every exception, converts errors, values and strings, and owns the host's kernels.
//
//   #include "spec/abi/adapter.h"
//   namespace abi = plumbline::abi;
//
//   class MyBackend {                                     // one object per pl_registry
//    public:
//     using Registration = mine::Handle;                  // movable; destroying it takes the registration back
//     using Operator = mine::OperatorHandle;              // copyable
//     using Tensor = mine::Tensor;                        // copyable handle, as a smart pointer is
//     using Values = std::vector<abi::Value<Tensor>>;
//
//     static abi::Description Describe() { return {.name = "mine", .version = "1.0", .release = "pytorch-1.13"}; }
//     explicit MyBackend(const abi::OpenOptions&) {}
//
//     pl_key InternKey(std::string_view name);            // throws abi::Error(PL_ERROR_NOT_FOUND, ...)
//     Registration Define(abi::NoLibrary*, std::string_view schema, std::string_view place);
//     Registration RegisterKernel(abi::NoLibrary*, std::string_view op, std::optional<pl_key> key, abi::Kernel kernel)
//     {
//       return registry_.Impl(op, key, [this, kernel](mine::Stack& stack, mine::Set keys) {
//         Values results = abi::Invoke<MyBackend>(kernel.host, {.backend = *this, .operator_name = ..., .keys = ...,
//                                                               .arguments = ...});
//       });
//     }
//     Operator FindOperator(std::string_view op);
//     Values CallBoxed(Operator& op, std::span<const abi::Value<Tensor>> arguments);
//     Tensor MakeTensor(std::span<const pl_key> keys);
//     Tensor MakeUndefinedTensor();
//     std::vector<pl_key> KeysOf(const Tensor&);          // lowest priority first
//     static std::uint64_t Identity(const Tensor&);       // equal while alive iff the same tensor object
//   };
//   PLUMBLINE_ADAPTER(MyBackend)
//
// That is a complete backend, which claims `core` and `boxed`. Each further capability is a member more:
//
//   fresh-registry   static constexpr bool kFreshRegistry = true;    OpenOptions::fresh then asks for it
//   declared-keys    static constexpr bool kDeclaredKeys = true;     OpenOptions::keys are then in the registry's table
//   libraries        using Library = ...;    movable; destroying it closes it
//                    Library OpenLibrary(uint32_t kind, std::string_view ns, std::optional<pl_key>,
//                                        std::string_view place);
//                    Define, RegisterKernel and RegisterFallback then take a Library*, null for none
//   listeners        Registration AddListener(abi::HostListener);
//   warnings         void WarningsTo(std::function<void(std::string_view)>);    an empty function: stop
//   guards           using Guard = ...;    destroyed on the thread that entered it
//                    Guard EnterGuard(uint32_t side, std::span<const pl_key>);
//   fallbacks        Registration RegisterFallback(Library*, std::optional<pl_key>, abi::Kernel);
//   chains           Registration DeclareChain(pl_key key, pl_key served_by);
//   redispatch       using Frame = ...;    what the backend passed to Invoke
//                    Values Redispatch(Frame&, std::span<const pl_key>, std::span<const Value>);
//                    and, if it can, RedispatchTyped(Frame&, uint32_t signature, keys and values as above)
//   typed            Values CallTyped(Operator&, uint32_t signature, std::span<const Value>);    see typed.h
//   boxed            CallBoxed, as above
//   drain            void Drain();
//   cache-counters   abi::CacheCounters Counters(Operator&);    of hits only where OpenOptions::count_hits
//   cache-flush      void FlushCache();
//   introspection    bool HasKernel(std::string_view op, pl_key, uint32_t query);
//                    bool HasFallback(pl_key);
//                    std::vector<std::string> ListOperators(uint32_t which, std::optional<pl_key>);
//                    std::string SchemaOf(std::string_view op);
//                    std::vector<abi::TableRow> DumpTable(std::string_view op);
//                    and, if it can, std::vector<std::string> DumpRegistrations(std::string_view op);
//   faults           static std::vector<std::string> Faults();
//                    static void SetFault(std::string_view);
//   call-many        void CallMany(Operator&, uint32_t form, uint32_t signature, std::span<const Value>,
//                                  uint64_t times);
//                    void FindMany(std::string_view op, uint64_t times);
//                    kernels of the NOOP forms then arrive in RegisterKernel too
//   load             static void Load(std::string_view path);
//   signature-check  static constexpr bool kChecksSignatures = true;
//   tensors          Tensor TensorFromHost(const abi::TensorLayout&, std::span<const std::byte> storage);    copies
//                    abi::TensorInfo InfoOf(const Tensor&);
//                    void TensorToHost(const Tensor&, std::span<std::byte> elements);           in row-major order
//                    void StorageToHost(const Tensor&, std::span<std::byte> storage);     all of it
//   operators        static constexpr bool kOperators = true;     OpenOptions::operators then asks for them; needs core
//   memory           abi::MemoryFigures MemoryOf(std::string_view device);       empty: the default one
//                    void ResetPeak(std::string_view device);
//                    void EmptyCache(std::string_view device);
//                    and, if it can, std::vector<abi::MemoryHolder> MemoryHolders(std::string_view device);
//                    with void RecordTensors(bool on);     of those that are made while it is on
//   dlpack           DLManagedTensor* ToDlpack(const Tensor&);
//                    Tensor FromDlpack(DLManagedTensor*);     what it refuses, by an exception, stays the host's
//
// Also optional: `void Release(Registration&)`, called before a registration is destroyed, which may fail; and
// `static abi::Error Classify(const std::exception&)`, which gives the backend's own exceptions a class.
//
// A member with other parameters than these does not compile: better than a claim silently lost.
//
// Errors: throw abi::Error(PL_ERROR_..., message); the classes are in spec/tables/error_classes.h. What a host kernel
// failed with travels through the backend as abi::HostError: let it pass. Other exceptions go through Classify, else
// they are UNCLASSIFIED.
//
// Ownership: the layer owns what the members return and gives it back by destroying it: registration, library, guard,
// operator, tensor, and last the backend. When a library is closed its registrations are destroyed first, newest
// first, so an author never sees one outlive its library; unless `static constexpr bool kLibraryDropsRegistrations` is
// true: then the library is destroyed alone, and a registration that outlives it must be harmless. The backend's own
// handles are returned by the host before `close`. A Kernel's host context dies when the last copy of it goes.
//
// Threads: members are called from any thread and, but for the guards, at any time; the layer adds no lock of its own.
#ifndef PLUMBLINE_SPEC_ABI_ADAPTER_H_
#define PLUMBLINE_SPEC_ABI_ADAPTER_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/abi/abi.h"
#include "spec/abi/error.h"
#include "spec/abi/host_kernel.h"
#include "spec/abi/members.h"
#include "spec/abi/typed.h"
#include "spec/abi/value.h"

namespace plumbline::abi {

// A registration as a pl_registration*, and the library that it was made in. The library may go first; then it takes
// the registration along and the handle is empty.
template <class B>
struct LibraryMembers;
template <class B>
struct HeldRegistration {
  B* backend;
  std::optional<typename B::Registration> held;
  std::shared_ptr<LibraryMembers<B>> library;  // null: none
};
template <class B>
struct LibraryMembers {
  std::mutex mutex;
  std::vector<HeldRegistration<B>*> members;  // oldest first
};
template <class B>
struct HeldLibrary {
  typename LibraryOf<B>::Type library;
  std::shared_ptr<LibraryMembers<B>> registrations = std::make_shared<LibraryMembers<B>>();
};

// The entries of the table, for one backend class.
template <class B>
class Entries {
  using Registration = typename B::Registration;
  using Operator = typename B::Operator;
  using Tensor = typename B::Tensor;
  using Library = typename LibraryOf<B>::Type;
  using Guard = typename GuardOf<B>::Type;
  using Values = std::vector<Value<Tensor>>;

 public:
  static pl_error* Describe(pl_description* out) {
    return Run([&] {
      NotNull(out, "out");
      Fits(out->struct_size, sizeof *out, "pl_description");
      const Described& now = DescribedNow();
      *out = pl_description{sizeof *out,
                            now.description.own_starting_state ? 1u : 0u,
                            Borrow(now.description.name),
                            Borrow(now.description.version),
                            Borrow(now.description.release),
                            now.keys.data(),
                            now.keys.size(),
                            now.fallbacks.data(),
                            now.fallbacks.size()};
    });
  }

  static pl_error* Open(const pl_open_options* options, pl_registry** out) {
    return Run([&] {
      NotNull(options, "options"), NotNull(out, "out");
      Fits(options->struct_size, offsetof(pl_open_options, operators), "pl_open_options");  // a host of ABI 1.0
      if (options->reserved != 0) throw Error(PL_ERROR_INVALID_ARGUMENT, "pl_open_options.reserved is not zero");
      bool operators = false;
      if (options->struct_size >= sizeof *options) {
        if (options->reserved_2 != 0) throw Error(PL_ERROR_INVALID_ARGUMENT, "pl_open_options.reserved_2 is not zero");
        if (options->operators > 1)
          throw Error(PL_ERROR_INVALID_ARGUMENT,
                      "pl_open_options.operators is 0 or 1, not " + std::to_string(options->operators));
        operators = options->operators == 1;
      }
      OpenOptions own{options->mode == PL_OPEN_FRESH, std::string(View(options->release)), options->count_hits != 0};
      if (options->mode > PL_OPEN_FRESH) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown open mode");
      if (own.fresh && !(Claims<B>() & PL_CAPABILITY(FRESH_REGISTRY)))
        throw Error(PL_ERROR_UNSUPPORTED, "this backend has the process-wide registry only");
      if (options->key_count != 0) NotNull(options->keys, "keys");
      for (std::uint64_t i = 0; i < options->key_count; ++i) {
        const pl_key_declaration& key = options->keys[i];
        Fits(key.struct_size, sizeof key, "pl_key_declaration");
        own.keys.push_back(
            {key.kind, std::string(View(key.name)), std::string(View(key.after)), std::string(View(key.autograd))});
      }
      if (!own.keys.empty() && !(own.fresh && (Claims<B>() & PL_CAPABILITY(DECLARED_KEYS))))
        throw Error(PL_ERROR_UNSUPPORTED, "this backend takes no keys of the host's own, or only in a fresh registry");
      if (operators && !(Claims<B>() & PL_CAPABILITY(OPERATORS)))
        throw Error(PL_ERROR_UNSUPPORTED, "this backend has no operators of its own");
      own.operators = operators;
      *out = reinterpret_cast<pl_registry*>(new B(own));
    });
  }
  static void Close(pl_registry* registry) { delete reinterpret_cast<B*>(registry); }

  static pl_error* InternKey(pl_registry* registry, pl_string name, pl_key* out) {
    return Run([&] {
      NotNull(out, "out");
      *out = Backend(registry).InternKey(View(name));
    });
  }

  // ---- registrations ----

  static pl_error* Define(pl_registry* registry, pl_library* library, pl_string schema, pl_string place,
                          pl_registration** out) {
    return Register(registry, library, out,
                    [&](B& backend, Library* own) { return backend.Define(own, View(schema), View(place)); });
  }
  static pl_error* RegisterKernel(pl_registry* registry, pl_library* library, pl_string operator_name, pl_key key,
                                  const pl_kernel* kernel, pl_registration** out) {
    return Register(registry, library, out, [&, own_kernel = Take(kernel)](B& backend, Library* own) {
      return backend.RegisterKernel(own, View(operator_name), Optional(key), own_kernel());
    });
  }
  static pl_error* RegisterFallback(pl_registry* registry, pl_library* library, pl_key key, const pl_kernel* kernel,
                                    pl_registration** out) {
    return Register(registry, library, out, [&, own_kernel = Take(kernel)](B& backend, Library* own) {
      return backend.RegisterFallback(own, Optional(key), own_kernel());
    });
  }
  static pl_error* ListenerAdd(pl_registry* registry, const pl_listener* listener, pl_registration** out) {
    return Register(registry, nullptr, out, [&](B& backend, Library*) {
      NotNull(listener, "listener");
      Fits(listener->struct_size, sizeof *listener, "pl_listener");
      HostListener own(*listener);
      if (listener->reserved != 0) throw Error(PL_ERROR_INVALID_ARGUMENT, "pl_listener.reserved is not zero");
      return backend.AddListener(std::move(own));
    });
  }
  static pl_error* ChainDeclare(pl_registry* registry, pl_key key, pl_key served_by, pl_registration** out) {
    return Register(registry, nullptr, out, [&](B& backend, Library*) { return backend.DeclareChain(key, served_by); });
  }

  static pl_error* Release(pl_registration* registration) {
    return Run([&] {
      NotNull(registration, "registration", PL_ERROR_INVALID_HANDLE);
      std::unique_ptr<HeldRegistration<B>> held(reinterpret_cast<HeldRegistration<B>*>(registration));
      if (held->library != nullptr) {
        std::lock_guard lock(held->library->mutex);
        std::erase(held->library->members, held.get());
      }
      TakeBack(*held->backend, held->held);
    });
  }

  // ---- libraries ----

  static pl_error* LibraryOpen(pl_registry* registry, uint32_t kind, pl_string name_space, pl_key key, pl_string place,
                               pl_library** out) {
    return Run([&] {
      NotNull(out, "out");
      if (kind > PL_LIBRARY_IMPL) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown kind of library");
      *out = reinterpret_cast<pl_library*>(
          new HeldLibrary<B>{Backend(registry).OpenLibrary(kind, View(name_space), Optional(key), View(place))});
    });
  }
  static pl_error* LibraryClose(pl_library* library) {
    return Run([&] {
      NotNull(library, "library", PL_ERROR_INVALID_HANDLE);
      std::unique_ptr<HeldLibrary<B>> held(reinterpret_cast<HeldLibrary<B>*>(library));
      struct Taken {
        B* backend;
        std::optional<Registration> held;
      };
      std::vector<Taken> taken;
      {
        std::lock_guard lock(held->registrations->mutex);
        for (HeldRegistration<B>* member : held->registrations->members) {
          taken.push_back({member->backend, std::move(member->held)});
          member->held.reset();
        }
        held->registrations->members.clear();
      }
      for (; !taken.empty(); taken.pop_back()) TakeBack(*taken.back().backend, taken.back().held);
    });
  }

  // ---- calls ----

  static pl_error* FindOperator(pl_registry* registry, pl_string operator_name, pl_operator** out) {
    return Run([&] {
      NotNull(out, "out");
      *out = reinterpret_cast<pl_operator*>(new Operator(Backend(registry).FindOperator(View(operator_name))));
    });
  }
  static void OperatorRelease(pl_operator* op) { delete reinterpret_cast<Operator*>(op); }

  static pl_error* Call(pl_registry* registry, const pl_call* call) {
    return Run([&] {
      Operator& op = Callee(call);
      const Values arguments = FromC<Tensor>(call->arguments, call->argument_count);
      Values results;
      if (call->form == PL_CALL_TYPED) {
        if constexpr (OffersCallTyped<B>) results = Backend(registry).CallTyped(op, call->signature, arguments);
      } else {
        if constexpr (OffersCallBoxed<B>) results = Backend(registry).CallBoxed(op, arguments);
      }
      Push<Tensor>(call->results, results);
    });
  }
  static pl_error* CallMany(pl_registry* registry, const pl_call* call, uint64_t times) {
    return Run([&] {
      Operator& op = Callee(call);
      const Values arguments = FromC<Tensor>(call->arguments, call->argument_count);
      Backend(registry).CallMany(op, call->form, call->signature, arguments, times);
    });
  }
  static pl_error* FindMany(pl_registry* registry, pl_string operator_name, uint64_t times) {
    return Run([&] { Backend(registry).FindMany(View(operator_name), times); });
  }

  static pl_error* Redispatch(pl_frame* frame, pl_key_list keys, const pl_value* arguments, uint64_t argument_count,
                              pl_value_sink results) {
    return Run([&] {
      const FrameLink<B>& link = Link(frame);
      const Values own = FromC<Tensor>(arguments, argument_count);
      Push<Tensor>(results, link.backend->Redispatch(*link.frame, Keys(keys), own));
    });
  }
  static pl_error* RedispatchTyped(pl_frame* frame, uint32_t signature, pl_key_list keys, const pl_value* arguments,
                                   uint64_t argument_count, pl_value_sink results) {
    return Run([&] {
      const FrameLink<B>& link = Link(frame);
      const Values own = FromC<Tensor>(arguments, argument_count);
      Push<Tensor>(results, link.backend->RedispatchTyped(*link.frame, signature, Keys(keys), own));
    });
  }

  // ---- tensors ----

  static pl_error* TensorMake(pl_registry* registry, pl_key_list keys, pl_tensor** out) {
    return Run([&] {
      NotNull(out, "out");
      *out = Give(Backend(registry).MakeTensor(Keys(keys)));
    });
  }
  static pl_error* TensorMakeUndefined(pl_registry* registry, pl_tensor** out) {
    return Run([&] {
      NotNull(out, "out");
      *out = Give(Backend(registry).MakeUndefinedTensor());
    });
  }
  static pl_error* TensorKeys(pl_registry* registry, pl_tensor* tensor, void* context,
                              void (*push)(void* context, pl_key key)) {
    return Run([&] {
      NotNull(tensor, "tensor", PL_ERROR_INVALID_HANDLE), NotNull(push, "push");
      for (pl_key key : Backend(registry).KeysOf(*reinterpret_cast<const Tensor*>(tensor))) push(context, key);
    });
  }
  static uint64_t TensorIdentity(pl_tensor* tensor) { return B::Identity(*reinterpret_cast<const Tensor*>(tensor)); }
  static pl_tensor* TensorRetain(pl_tensor* tensor) { return Give(*reinterpret_cast<const Tensor*>(tensor)); }
  static void TensorRelease(pl_tensor* tensor) { delete reinterpret_cast<Tensor*>(tensor); }

  static pl_error* TensorFromHost(pl_registry* registry, const pl_tensor_layout* layout, const void* storage,
                                  uint64_t storage_bytes, pl_tensor** out) {
    return Run([&] {
      NotNull(layout, "layout"), NotNull(out, "out");
      Fits(layout->struct_size, sizeof *layout, "pl_tensor_layout");
      if (layout->dim > PL_MAX_DIM)
        throw Error(PL_ERROR_OVERFLOW, "pl_tensor_layout.dim is " + std::to_string(layout->dim) + ", and at most " +
                                           std::to_string(PL_MAX_DIM) + " are read");
      if (layout->dim != 0) NotNull(layout->sizes, "sizes"), NotNull(layout->strides, "strides");
      if (storage_bytes != 0) NotNull(storage, "storage");
      const TensorLayout own{layout->dtype,
                             {layout->sizes, layout->sizes + layout->dim},
                             {layout->strides, layout->strides + layout->dim},
                             layout->offset,
                             std::string(View(layout->device))};
      *out = Give(Backend(registry).TensorFromHost(
          own, {static_cast<const std::byte*>(storage), static_cast<std::size_t>(storage_bytes)}));
    });
  }
  static pl_error* TensorInfoOf(pl_registry* registry, pl_tensor* tensor, void* context,
                                void (*push)(void* context, const pl_tensor_info* info)) {
    return Run([&] {
      NotNull(tensor, "tensor", PL_ERROR_INVALID_HANDLE), NotNull(push, "push");
      const TensorInfo info = Backend(registry).InfoOf(*reinterpret_cast<const Tensor*>(tensor));
      const TensorLayout& layout = info.layout;
      const pl_tensor_info out{sizeof out,
                               0,
                               {sizeof(pl_tensor_layout), layout.dtype, layout.sizes.data(), layout.strides.data(),
                                layout.sizes.size(), layout.offset, Borrow(layout.device)},
                               info.storage_bytes,
                               info.storage,
                               info.version};
      push(context, &out);
    });
  }
  static pl_error* TensorToHost(pl_registry* registry, pl_tensor* tensor, void* elements, uint64_t bytes) {
    return Read(tensor, elements, bytes,
                [&](const Tensor& own, std::span<std::byte> into) { Backend(registry).TensorToHost(own, into); });
  }
  static pl_error* StorageToHost(pl_registry* registry, pl_tensor* tensor, void* storage, uint64_t bytes) {
    return Read(tensor, storage, bytes,
                [&](const Tensor& own, std::span<std::byte> into) { Backend(registry).StorageToHost(own, into); });
  }

  // ---- memory ----

  static pl_error* MemoryFigures(pl_registry* registry, pl_string device, pl_memory_figures* out) {
    return Run([&] {
      NotNull(out, "out");
      Fits(out->struct_size, sizeof *out, "pl_memory_figures");
      const abi::MemoryFigures now = Backend(registry).MemoryOf(View(device));
      *out = pl_memory_figures{sizeof *out, 0, now.live_bytes, now.peak_bytes, now.kept_bytes, now.live_blocks};
    });
  }
  static pl_error* MemoryResetPeak(pl_registry* registry, pl_string device) {
    return Run([&] { Backend(registry).ResetPeak(View(device)); });
  }
  static pl_error* MemoryEmptyCache(pl_registry* registry, pl_string device) {
    return Run([&] { Backend(registry).EmptyCache(View(device)); });
  }
  static pl_error* MemoryRecord(pl_registry* registry, uint32_t on) {
    return Run([&] {
      if (on > 1) throw Error(PL_ERROR_INVALID_ARGUMENT, "recording is 0 or 1, not " + std::to_string(on));
      Backend(registry).RecordTensors(on == 1);
    });
  }
  static pl_error* MemoryHolders(pl_registry* registry, pl_string device, void* context,
                                 void (*push)(void* context, const pl_memory_holder* holder)) {
    return Run([&] {
      NotNull(push, "push");
      for (const MemoryHolder& holder : Backend(registry).MemoryHolders(View(device))) {
        std::vector<pl_held_tensor> tensors;
        for (const HeldTensor& tensor : holder.tensors)
          tensors.push_back({tensor.dtype, 0, tensor.sizes.data(), tensor.sizes.size(), Borrow(tensor.name)});
        const pl_memory_holder out{sizeof out,   holder.foreign ? 1u : 0u, holder.storage,
                                   holder.bytes, tensors.data(),           tensors.size()};
        push(context, &out);
      }
    });
  }

  static pl_error* TensorToDlpack(pl_registry* registry, pl_tensor* tensor, DLManagedTensor** out) {
    return Run([&] {
      NotNull(tensor, "tensor", PL_ERROR_INVALID_HANDLE), NotNull(out, "out");
      *out = Backend(registry).ToDlpack(*reinterpret_cast<const Tensor*>(tensor));
    });
  }
  static pl_error* TensorFromDlpack(pl_registry* registry, DLManagedTensor* managed, pl_tensor** out) {
    return Run([&] {
      NotNull(managed, "managed"), NotNull(out, "out");
      *out = Give(Backend(registry).FromDlpack(managed));
    });
  }

  // ---- the rest ----

  static pl_error* WarningsTo(pl_registry* registry, pl_string_sink sink) {
    return Run([&] {
      std::function<void(std::string_view)> own;
      if (sink.push != nullptr) own = [sink](std::string_view text) { sink.push(sink.context, Borrow(text)); };
      Backend(registry).WarningsTo(std::move(own));
    });
  }
  static pl_error* GuardEnter(pl_registry* registry, uint32_t side, pl_key_list keys, pl_guard** out) {
    return Run([&] {
      NotNull(out, "out");
      if (side > PL_GUARD_EXCLUDE) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown side of a guard");
      *out = reinterpret_cast<pl_guard*>(new Guard(Backend(registry).EnterGuard(side, Keys(keys))));
    });
  }
  static void GuardLeave(pl_guard* guard) { delete reinterpret_cast<Guard*>(guard); }

  static pl_error* Drain(pl_registry* registry) {
    return Run([&] { Backend(registry).Drain(); });
  }
  static pl_error* CacheCounters(pl_registry* registry, pl_operator* op, pl_cache_counters* out) {
    return Run([&] {
      NotNull(op, "operator", PL_ERROR_INVALID_HANDLE), NotNull(out, "out");
      Fits(out->struct_size, sizeof *out, "pl_cache_counters");
      const abi::CacheCounters counters = Backend(registry).Counters(*reinterpret_cast<Operator*>(op));
      *out = pl_cache_counters{sizeof *out, 0, counters.hits, counters.misses, counters.invalidations};
    });
  }
  static pl_error* CacheFlush(pl_registry* registry) {
    return Run([&] { Backend(registry).FlushCache(); });
  }

  static pl_error* HasKernel(pl_registry* registry, pl_string operator_name, pl_key key, uint32_t query,
                             uint32_t* out) {
    return Run([&] {
      NotNull(out, "out");
      if (query > PL_QUERY_COMPUTED) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown query");
      *out = Backend(registry).HasKernel(View(operator_name), key, query) ? 1 : 0;
    });
  }
  static pl_error* HasFallback(pl_registry* registry, pl_key key, uint32_t* out) {
    return Run([&] {
      NotNull(out, "out");
      *out = Backend(registry).HasFallback(key) ? 1 : 0;
    });
  }
  static pl_error* ListOperators(pl_registry* registry, uint32_t which, pl_key key, pl_string_sink sink) {
    return Run([&] {
      if (which > PL_LIST_AT_KEY) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown list");
      PushAll(sink, Backend(registry).ListOperators(which, Optional(key)));
    });
  }
  static pl_error* SchemaOf(pl_registry* registry, pl_string operator_name, pl_string_sink sink) {
    return Run([&] { PushAll(sink, {Backend(registry).SchemaOf(View(operator_name))}); });
  }
  static pl_error* DumpTable(pl_registry* registry, pl_string operator_name, pl_table_sink sink) {
    return Run([&] {
      for (const TableRow& row : Backend(registry).DumpTable(View(operator_name))) {
        const pl_table_row out{sizeof out, row.rule, row.fallthrough ? 1u : 0u, row.key, Borrow(row.place)};
        sink.push(sink.context, &out);
      }
    });
  }
  static pl_error* DumpRegistrations(pl_registry* registry, pl_string operator_name, pl_string_sink sink) {
    return Run([&] { PushAll(sink, Backend(registry).DumpRegistrations(View(operator_name))); });
  }

  static pl_error* FaultList(pl_string_sink sink) {
    return Run([&] { PushAll(sink, B::Faults()); });
  }
  static pl_error* FaultSet(pl_string name) {
    return Run([&] { B::SetFault(View(name)); });
  }
  static pl_error* Load(pl_string path) {
    return Run([&] {
      B::Load(View(path));
      std::lock_guard lock(described_mutex_);
      described_before_load_ = true;
    });
  }

 private:
  // What `describe` lends.
  struct Described {
    explicit Described(Description of) : description(std::move(of)) {
      for (const KeyDeclaration& key : description.keys) {
        keys.push_back(
            {sizeof(pl_key_declaration), key.kind, Borrow(key.name), Borrow(key.after), Borrow(key.autograd)});
      }
      for (const BuiltinFallback& fallback : description.fallbacks) {
        fallbacks.push_back({sizeof(pl_builtin_fallback), fallback.fallthrough ? 1u : 0u, Borrow(fallback.key)});
      }
    }
    const Description description;
    std::vector<pl_key_declaration> keys;
    std::vector<pl_builtin_fallback> fallbacks;
  };

  // Made anew after a load, which may have changed what a registry starts from; the older stay, for those who hold
  // them.
  static const Described& DescribedNow() {
    static std::vector<std::unique_ptr<const Described>> made;
    std::lock_guard lock(described_mutex_);
    if (made.empty() || described_before_load_) {
      made.push_back(std::make_unique<const Described>(B::Describe()));
      described_before_load_ = false;
    }
    return *made.back();
  }
  static inline std::mutex described_mutex_;
  static inline bool described_before_load_ = false;

  template <class Body>
  static pl_error* Run(Body&& body) {
    return Catch<B>(std::forward<Body>(body));
  }
  static std::string_view View(pl_string text) { return ViewOfGiven(text); }  // hides the unchecked one
  template <class T>
  static void NotNull(T* pointer, const char* what, uint32_t error_class = PL_ERROR_INVALID_ARGUMENT) {
    if (pointer == nullptr) throw Error(error_class, std::string(what) + " is null");
  }
  static void Fits(uint32_t size, std::size_t needed, const char* what) {
    if (size < needed) {
      throw Error(PL_ERROR_INVALID_ARGUMENT, std::string(what) + " of " + std::to_string(size) + " bytes; at least " +
                                                 std::to_string(needed) + " are needed");
    }
  }
  static B& Backend(pl_registry* registry) {
    NotNull(registry, "registry", PL_ERROR_INVALID_HANDLE);
    return *reinterpret_cast<B*>(registry);
  }
  static std::span<const pl_key> Keys(pl_key_list keys) {
    if (keys.size != 0) NotNull(keys.data, "a key list");
    return {keys.data, static_cast<std::size_t>(keys.size)};
  }
  static std::optional<pl_key> Optional(pl_key key) {
    return key == PL_NO_KEY ? std::nullopt : std::optional<pl_key>(key);
  }
  static pl_tensor* Give(Tensor tensor) { return reinterpret_cast<pl_tensor*>(new Tensor(std::move(tensor))); }
  template <class Body>
  static pl_error* Read(pl_tensor* tensor, void* into, uint64_t bytes, const Body& body) {
    return Run([&] {
      NotNull(tensor, "tensor", PL_ERROR_INVALID_HANDLE);
      if (bytes != 0) NotNull(into, "the memory to read into");
      body(*reinterpret_cast<const Tensor*>(tensor), std::span(static_cast<std::byte*>(into), bytes));
    });
  }
  static void PushAll(pl_string_sink sink, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) sink.push(sink.context, Borrow(line));
  }

  // Takes the kernel's context over at once, so that it is destroyed however the registration ends; the checks that may
  // refuse it come when the result is called.
  static auto Take(const pl_kernel* kernel) {
    Kernel own;
    const bool readable = kernel != nullptr && kernel->struct_size >= sizeof *kernel;
    std::optional<std::string> refused;
    if (!readable) {
      refused = "the kernel is null or too small a struct";
    } else {
      try {
        own = Kernel{HostKernel(*kernel), kernel->form, kernel->signature, kernel->lifetime == PL_LIFETIME_PERMANENT,
                     std::string(View(kernel->place))};
      } catch (const std::bad_alloc&) {
        refused = "out of memory";
      }
    }
    return [own = std::move(own), refused = std::move(refused)]() -> const Kernel& {
      if (refused.has_value()) throw Error(PL_ERROR_INVALID_ARGUMENT, *refused);
      CheckForm(own);
      return own;
    };
  }
  static void CheckForm(const Kernel& kernel) {
    const uint64_t needs = kernel.form == PL_KERNEL_BOXED         ? PL_CAPABILITY(BOXED)
                           : kernel.form == PL_KERNEL_TYPED       ? PL_CAPABILITY(TYPED)
                           : kernel.form == PL_KERNEL_FALLTHROUGH ? 0
                           : kernel.form <= PL_KERNEL_NOOP_BOXED  ? PL_CAPABILITY(CALL_MANY)
                                                                  : UINT64_MAX;
    if (needs == UINT64_MAX) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown form of kernel");
    if ((needs & ~Claims<B>()) != 0) throw Error(PL_ERROR_UNSUPPORTED, "kernels of this form are not claimed");
    if (kernel.form <= PL_KERNEL_TYPED && !kernel.host)
      throw Error(PL_ERROR_INVALID_ARGUMENT, "a kernel of this form needs a function");
    if (kernel.form == PL_KERNEL_TYPED) VisitSignature(kernel.signature, [](auto) {});
  }

  template <class Make>
  static pl_error* Register(pl_registry* registry, pl_library* library, pl_registration** out, const Make& make) {
    return Run([&] {
      NotNull(out, "out");
      B& backend = Backend(registry);
      auto* held_library = reinterpret_cast<HeldLibrary<B>*>(library);
      auto held = std::make_unique<HeldRegistration<B>>();
      held->backend = &backend;
      held->held.emplace(make(backend, held_library != nullptr ? &held_library->library : nullptr));
      if (held_library != nullptr && !kLibraryDropsRegistrations<B>) {
        held->library = held_library->registrations;
        std::lock_guard lock(held->library->mutex);
        held->library->members.push_back(held.get());
      }
      *out = reinterpret_cast<pl_registration*>(held.release());
    });
  }
  static void TakeBack(B& backend, std::optional<Registration>& held) {
    if (!held.has_value()) return;
    if constexpr (OffersRelease<B>) backend.Release(*held);
    held.reset();
  }

  static Operator& Callee(const pl_call* call) {
    NotNull(call, "call");
    Fits(call->struct_size, sizeof *call, "pl_call");
    if (call->reserved != 0) throw Error(PL_ERROR_INVALID_ARGUMENT, "pl_call.reserved is not zero");
    if (call->form > PL_CALL_TYPED) throw Error(PL_ERROR_INVALID_ARGUMENT, "unknown form of call");
    const uint64_t needs = call->form == PL_CALL_TYPED ? PL_CAPABILITY(TYPED) : PL_CAPABILITY(BOXED);
    if (!(Claims<B>() & needs)) throw Error(PL_ERROR_UNSUPPORTED, "calls of this form are not claimed");
    if (call->form == PL_CALL_TYPED) VisitSignature(call->signature, [](auto) {});
    NotNull(call->op, "operator", PL_ERROR_INVALID_HANDLE);
    return *reinterpret_cast<Operator*>(call->op);
  }
  static const FrameLink<B>& Link(pl_frame* frame) {
    NotNull(frame, "frame");
    const auto* link = static_cast<const FrameLink<B>*>(frame->backend);
    if (link == nullptr || link->frame == nullptr)
      throw Error(PL_ERROR_UNSUPPORTED, "this kernel's frame cannot redispatch");
    return *link;
  }
};

// The table for backend class B.
template <class B>
const pl_adapter& Table() {
  static_assert(CheckMembers<B>());
  static constexpr pl_adapter kTable = [] {
    using E = Entries<B>;
    pl_adapter table{};
    table.struct_size = sizeof table;
    table.abi_major = PL_ABI_MAJOR;
    table.abi_minor = PL_ABI_MINOR;
    table.capabilities = Claims<B>();
    table.describe = &E::Describe;
    table.open = &E::Open;
    table.close = &E::Close;
    if constexpr (OffersInternKey<B>) table.intern_key = &E::InternKey;
    if constexpr (OffersDefine<B>) table.define = &E::Define;
    if constexpr (OffersRegisterKernel<B>) table.register_kernel = &E::RegisterKernel;
    if constexpr (OffersDefine<B> || OffersRegisterKernel<B>) table.release = &E::Release;
    if constexpr (OffersFindOperator<B>) table.find_operator = &E::FindOperator;
    if constexpr (OffersFindOperator<B>) table.operator_release = &E::OperatorRelease;
    if constexpr (OffersCallBoxed<B> || OffersCallTyped<B>) table.call = &E::Call;
    // One by one, so that a host sees how far an unfinished backend has come.
    if constexpr (OffersMakeUndefinedTensor<B>) table.tensor_make_undefined = &E::TensorMakeUndefined;
    if constexpr (OffersKeysOf<B>) table.tensor_keys = &E::TensorKeys;
    if constexpr (OffersIdentity<B>) table.tensor_identity = &E::TensorIdentity;
    if constexpr (OffersMakeTensor<B>) {
      table.tensor_make = &E::TensorMake;
      table.tensor_retain = &E::TensorRetain;
      table.tensor_release = &E::TensorRelease;
    }
    if constexpr (OffersRegisterFallback<B>) table.register_fallback = &E::RegisterFallback;
    if constexpr (OffersOpenLibrary<B>) table.library_open = &E::LibraryOpen;
    if constexpr (OffersOpenLibrary<B>) table.library_close = &E::LibraryClose;
    if constexpr (OffersAddListener<B>) table.listener_add = &E::ListenerAdd;
    if constexpr (OffersWarningsTo<B>) table.warnings_to = &E::WarningsTo;
    if constexpr (OffersEnterGuard<B>) table.guard_enter = &E::GuardEnter;
    if constexpr (OffersEnterGuard<B>) table.guard_leave = &E::GuardLeave;
    if constexpr (OffersDeclareChain<B>) table.chain_declare = &E::ChainDeclare;
    if constexpr (OffersRedispatch<B>) table.redispatch = &E::Redispatch;
    if constexpr (OffersRedispatchTyped<B>) table.redispatch_typed = &E::RedispatchTyped;
    if constexpr (OffersDrain<B>) table.drain = &E::Drain;
    if constexpr (OffersCounters<B>) table.cache_counters = &E::CacheCounters;
    if constexpr (OffersFlushCache<B>) table.cache_flush = &E::CacheFlush;
    if constexpr (OffersHasKernel<B>) table.has_kernel = &E::HasKernel;
    if constexpr (OffersHasFallback<B>) table.has_fallback = &E::HasFallback;
    if constexpr (OffersListOperators<B>) table.list_operators = &E::ListOperators;
    if constexpr (OffersSchemaOf<B>) table.schema_of = &E::SchemaOf;
    if constexpr (OffersDumpTable<B>) table.dump_table = &E::DumpTable;
    if constexpr (OffersDumpRegistrations<B>) table.dump_registrations = &E::DumpRegistrations;
    if constexpr (OffersFaults<B>) table.fault_list = &E::FaultList;
    if constexpr (OffersSetFault<B>) table.fault_set = &E::FaultSet;
    if constexpr (OffersCallMany<B>) table.call_many = &E::CallMany;
    if constexpr (OffersFindMany<B>) table.find_many = &E::FindMany;
    if constexpr (OffersLoad<B>) table.load = &E::Load;
    if constexpr (OffersTensorFromHost<B>) table.tensor_from_host = &E::TensorFromHost;
    if constexpr (OffersInfoOf<B>) table.tensor_info = &E::TensorInfoOf;
    if constexpr (OffersTensorToHost<B>) table.tensor_to_host = &E::TensorToHost;
    if constexpr (OffersStorageToHost<B>) table.storage_to_host = &E::StorageToHost;
    if constexpr (OffersMemoryOf<B>) table.memory_figures = &E::MemoryFigures;
    if constexpr (OffersResetPeak<B>) table.memory_reset_peak = &E::MemoryResetPeak;
    if constexpr (OffersEmptyCache<B>) table.memory_empty_cache = &E::MemoryEmptyCache;
    if constexpr (OffersRecordTensors<B>) table.memory_record = &E::MemoryRecord;
    if constexpr (OffersMemoryHolders<B>) table.memory_holders = &E::MemoryHolders;
    if constexpr (OffersToDlpack<B>) table.tensor_to_dlpack = &E::TensorToDlpack;
    if constexpr (OffersFromDlpack<B>) table.tensor_from_dlpack = &E::TensorFromDlpack;
    return table;
  }();
  return kTable;
}

// The table, if this host can use it: the major must be the same, of the minor the host takes what it knows.
template <class B>
const pl_adapter* GetAdapter(uint32_t host_major) {
  return host_major == PL_ABI_MAJOR ? &Table<B>() : nullptr;
}

}  // namespace plumbline::abi

// Exports the table; once per shared object, outside any namespace.
#define PLUMBLINE_ADAPTER(Backend)                                                                                \
  extern "C" __attribute__((visibility("default"))) const pl_adapter* plumbline_get_adapter(uint32_t host_major,  \
                                                                                            uint32_t host_minor); \
  extern "C" const pl_adapter* plumbline_get_adapter(uint32_t host_major, [[maybe_unused]] uint32_t host_minor) { \
    return ::plumbline::abi::GetAdapter<Backend>(host_major);                                                     \
  }                                                                                                               \
  static_assert(true, "so that a semicolon may follow")

#endif  // PLUMBLINE_SPEC_ABI_ADAPTER_H_
