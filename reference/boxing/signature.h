// C++ signatures, Ret(Args...): their identity, and the schema that they infer.
//
//   const Signature& s = SignatureOf<Tensor(const Tensor&, std::int64_t)>();
//   Print(s.schema()) == "(Tensor _0, int _1) -> (Tensor _0)" behind an operator's name
//
// Two signatures are the same if their C++ types are; so Tensor(Tensor) is not Tensor(const Tensor&). Objects are
// constants of the module that asks; compare with Same, not by address. Any thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_SIGNATURE_H_
#define PLUMBLINE_REFERENCE_BOXING_SIGNATURE_H_

#include <atomic>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "reference/boxing/schema.h"
#include "reference/boxing/types.h"

namespace plumbline::reference {

// Of one library there is one for each C++ type, which goes with the library; of a KeptSignature it is what is kept.
struct Signature {
  const std::type_info* type;
  const Schema& (*infer)();
  bool symbolic;  // uses SymInt
  const char* kept_name = nullptr;
  const Schema* kept_schema = nullptr;

  const char* mangled() const { return kept_name != nullptr ? kept_name : type->name(); }
  // Arguments and returns are named _0, _1, ...; no operator name.
  const Schema& schema() const { return kept_schema != nullptr ? *kept_schema : infer(); }
  std::string Name() const;  // as C++ writes it, for messages
};

inline bool Same(const Signature& a, const Signature& b) {
  return a.mangled() == b.mangled() || std::strcmp(a.mangled(), b.mangled()) == 0;
}

// One that outlives the library that it came from.
class KeptSignature {
 public:
  explicit KeptSignature(const Signature& signature)
      : name_(signature.mangled()),
        schema_(signature.schema()),
        signature_{nullptr, nullptr, signature.symbolic, name_.c_str(), &schema_} {}
  KeptSignature(const KeptSignature&) = delete;
  KeptSignature& operator=(const KeptSignature&) = delete;
  const Signature& get() const { return signature_; }

 private:
  const std::string name_;
  const Schema schema_;
  const Signature signature_;
};

namespace internal {

// The one of that mangled name, kept for good by this library: plug-ins that come and go bring theirs each time.
const Schema& SharedSchema(const char* mangled, Schema schema);

template <class T>
void AddType(std::vector<SchemaArgument>& list) {
  SchemaArgument& argument = list.emplace_back();
  argument.type = BoxOf<T>::Type();
  argument.name = "_" + std::to_string(list.size() - 1);
}

template <class R>
struct Returns {
  static void Add(std::vector<SchemaArgument>& list) { AddType<R>(list); }
};
template <>
struct Returns<void> {
  static void Add(std::vector<SchemaArgument>&) {}
};
template <class... R>
struct Returns<std::tuple<R...>> {
  static void Add(std::vector<SchemaArgument>& list) { (AddType<R>(list), ...); }
};

template <class Function>
struct Inferred;
template <class R, class... A>
struct Inferred<R(A...)> {
  static const Schema& Get() {
    // No guard, which a fork might find taken.
    static constinit std::atomic<const Schema*> known{nullptr};
    const Schema* schema = known.load(std::memory_order_acquire);
    if (schema != nullptr) return *schema;
    Schema made;
    (AddType<A>(made.arguments), ...);
    Returns<R>::Add(made.returns);
    schema = &SharedSchema(typeid(R(A...)).name(), std::move(made));
    known.store(schema, std::memory_order_release);
    return *schema;
  }
};

template <class T>
struct IsSymbolic : std::is_same<T, SymInt> {};
template <class T>
struct IsSymbolic<std::optional<T>> : IsSymbolic<T> {};
template <class T>
struct IsSymbolic<std::vector<T>> : IsSymbolic<T> {};
template <class T>
struct IsSymbolic<std::span<const T>> : IsSymbolic<T> {};
template <class... T>
struct IsSymbolic<std::tuple<T...>> : std::bool_constant<(IsSymbolic<std::remove_cvref_t<T>>::value || ...)> {};

template <class Function>
struct AnySymbolic;
template <class R, class... A>
struct AnySymbolic<R(A...)> : IsSymbolic<std::tuple<std::remove_cvref_t<R>, std::remove_cvref_t<A>...>> {};
template <class... A>
struct AnySymbolic<void(A...)> : IsSymbolic<std::tuple<std::remove_cvref_t<A>...>> {};

template <class Function>
inline constexpr Signature kSignature{&typeid(Function), &Inferred<Function>::Get, AnySymbolic<Function>::value};

}  // namespace internal

template <class Function>
const Signature& SignatureOf() {
  return internal::kSignature<Function>;
}

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_BOXING_SIGNATURE_H_
