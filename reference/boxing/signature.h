// C++ signatures, Ret(Args...): their identity, and the schema that they infer.
//
//   const Signature& s = SignatureOf<Tensor(const Tensor&, std::int64_t)>();
//   Print(s.schema()) == "(Tensor _0, int _1) -> (Tensor _0)" behind an operator's name
//
// Two signatures are the same if their C++ types are; so Tensor(Tensor) is not Tensor(const Tensor&). Objects are
// constants of the module that asks; compare with Same, not by address. Any thread.
#ifndef PLUMBLINE_REFERENCE_BOXING_SIGNATURE_H_
#define PLUMBLINE_REFERENCE_BOXING_SIGNATURE_H_

#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "reference/boxing/schema.h"
#include "reference/boxing/types.h"

namespace plumbline::reference {

struct Signature {
  const std::type_info* type;
  const Schema& (*schema)();  // arguments and returns are named _0, _1, ...; no operator name
  bool symbolic;              // uses SymInt
  std::string Name() const;   // as C++ writes it, for messages
};

inline bool Same(const Signature& a, const Signature& b) { return a.type == b.type || *a.type == *b.type; }

namespace internal {

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
    static const Schema* const schema = [] {
      auto* made = new Schema;
      (AddType<A>(made->arguments), ...);
      Returns<R>::Add(made->returns);
      return made;
    }();
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
