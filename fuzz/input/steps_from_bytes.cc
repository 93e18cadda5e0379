#include "fuzz/input/steps_from_bytes.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace plumbline::fuzz {
namespace {

using scenario::Scenario;
using scenario::Step;
using scenario::Value;
using Names = std::vector<std::string>;

// Of the signature catalogue; `arguments` holds a letter each, as ArgumentOf reads them.
struct Shape {
  const char* signature;
  const char* schema;
  std::string_view arguments;
};
constexpr std::array kShapes = {
    Shape{"tensor", "(Tensor a) -> Tensor", "T"},
    Shape{"tensor_tensor", "(Tensor a, Tensor b) -> Tensor", "TT"},
    Shape{"tensor_optional", "(Tensor a, Tensor? b=None) -> Tensor", "TO"},
    Shape{"tensor_list", "(Tensor[] a) -> Tensor", "L"},
    Shape{"tensor_optional_list", "(Tensor a, Tensor?[] b) -> Tensor", "TM"},
    Shape{"int_to_int", "(int a) -> int", "I"},
    Shape{"tensor_int", "(Tensor a, int b=3) -> Tensor", "TI"},
    Shape{"tensor_float", "(Tensor a, float b) -> float", "TF"},
    Shape{"tensor_str", "(Tensor a, str b) -> str", "TS"},
    Shape{"tensor_scalar", "(Tensor a, Scalar b) -> Tensor", "TN"},
    Shape{"tensor_lists", "(Tensor a, int[] b, float[] c, bool[] d) -> Tensor", "Txyz"},
    Shape{"tensor_optionals", "(Tensor a, int? b, float? c, bool? d, str? e, Scalar? f) -> Tensor", "Tifbsn"},
    Shape{"tensor_int_two", "(Tensor a, int b) -> (Tensor, int)", "TI"},
    Shape{"tensor_nothing", "(Tensor a) -> ()", "T"},
    Shape{"inplace", "(Tensor(a!) a, Tensor b) -> Tensor(a!)", "TT"},
    Shape{"tensor_symint_list", "(Tensor a, SymInt[] b) -> Tensor", "Tx"},
};
const Names kOperators = {"t::f", "t::g", "t::h.out", "u::f"};

// Tensors have these; kernels are registered at them and at the aliases.
const Names kKeys = {"CPU",
                     "AutogradCPU",
                     "CUDA",
                     "AutogradCUDA",
                     "SparseCPU",
                     "FPGA",
                     "XLA",
                     "AutogradOther",
                     "AutogradXLA",
                     "BackendSelect",
                     "Tracer",
                     "ADInplaceOrView",
                     "QuantizedCPU",
                     "HIP",
                     "NestedTensorCPU",
                     "AutogradNestedTensor"};
const Names kAliases = {"Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd",
                        "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor"};
const Names kOddKeys = {"Undefined", "Dense", "Nope", "CatchAll"};
constexpr int kKernels = 6;

class Decoder {
 public:
  Decoder(ByteReader& bytes, const Names& releases) : bytes_(bytes) { made_.release = bytes_.Of(releases); }

  Scenario Decode() {
    const int with_body = bytes_.Below(4);
    for (int i = 0; i < with_body; ++i) made_.kernels.push_back({.name = KernelName(i), .body = Body()});
    while (!bytes_.done() && made_.steps.size() < kMostSteps) {
      Step step;
      step.action = Action();
      made_.steps.push_back(std::move(step));
    }
    return std::move(made_);
  }

 private:
  static std::string KernelName(int number) { return "k" + std::to_string(number); }
  std::string NewName(const char* prefix) { return prefix + std::to_string(named_++); }

  // One of those that were made, sometimes one that never was.
  std::string NameOf(const Names& made, const char* prefix) {
    const int which = bytes_.Byte();
    if (made.empty() || which == 255) return prefix + std::string("x");
    return made[made.size() - 1 - static_cast<std::size_t>(which) % made.size()];
  }

  std::string Key() {
    const int which = bytes_.Below(64);
    if (which < 40) return kKeys[static_cast<std::size_t>(which) % kKeys.size()];
    if (which < 60) return kAliases[static_cast<std::size_t>(which) % kAliases.size()];
    return kOddKeys[static_cast<std::size_t>(which) % kOddKeys.size()];
  }
  std::optional<std::string> MaybeKey() {
    if (bytes_.OneIn(8)) return std::nullopt;
    return Key();
  }
  // A set by the bits of a byte or two, never with a key twice.
  Names Keys() {
    Names keys;
    std::uint32_t bits = bytes_.Byte();
    if ((bits & 0x80) != 0) bits = (bits & 0x7f) | static_cast<std::uint32_t>(bytes_.Byte()) << 7;
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if ((bits >> i & 1) != 0) keys.push_back(kKeys[i]);
    }
    return keys;
  }

  // ---- values ----
  std::int64_t Integer() {
    constexpr std::array<std::int64_t, 4> kExtremes = {
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), std::int64_t{1} << 32, -1};
    const int byte = bytes_.Byte();
    return byte < 252 ? byte - 126 : kExtremes[static_cast<std::size_t>(byte - 252)];
  }
  double Real() {
    constexpr std::array kValues = {0.0,
                                    -0.0,
                                    1.5,
                                    1e300,
                                    5e-324,
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
    return bytes_.Of(kValues);
  }
  Value Tensor() { return bytes_.OneIn(16) ? Value::Undefined() : Value::Tensor(Keys()); }
  template <class Make>
  Value List(const Make& make) {
    std::vector<Value> items;
    for (int count = bytes_.Below(4); count > 0; --count) items.push_back(make());
    return Value::List(std::move(items));
  }
  Value Number() {
    switch (bytes_.Below(3)) {
      case 0:
        return Value::Int(Integer());
      case 1:
        return Value::Float(Real());
      default:
        return Value::Bool(bytes_.OneIn(2));
    }
  }
  Value String() { return Value::String(bytes_.OneIn(2) ? "a\"\n\x80 b" : ""); }
  Value ArgumentOf(char kind) {
    switch (kind) {
      case 'T':
        return Tensor();
      case 'O':
        return bytes_.OneIn(3) ? Value::None() : Tensor();
      case 'L':
        return List([&] { return Tensor(); });
      case 'M':
        return List([&] { return bytes_.OneIn(3) ? Value::None() : Tensor(); });
      case 'I':
        return Value::Int(Integer());
      case 'F':
        return Value::Float(Real());
      case 'S':
        return String();
      case 'N':
        return Number();
      case 'x':
        return List([&] { return Value::Int(Integer()); });
      case 'y':
        return List([&] { return Value::Float(Real()); });
      case 'z':
        return List([&] { return Value::Bool(bytes_.OneIn(2)); });
      default:
        break;
    }
    if (bytes_.OneIn(3)) return Value::None();
    switch (kind) {
      case 'i':
        return Value::Int(Integer());
      case 'f':
        return Value::Float(Real());
      case 'b':
        return Value::Bool(bytes_.OneIn(2));
      case 's':
        return String();
      default:
        return Number();
    }
  }
  // Of the shape that the operator was last defined with; sometimes of another, or too few.
  std::vector<Value> Arguments(int operator_number) {
    const int twist = bytes_.Below(16);
    const Shape& shape =
        twist == 15 ? bytes_.Of(kShapes) : kShapes[shape_of_[static_cast<std::size_t>(operator_number)]];
    std::vector<Value> arguments;
    for (const char kind : shape.arguments) arguments.push_back(ArgumentOf(kind));
    if (twist == 14 && !arguments.empty()) arguments.pop_back();
    return arguments;
  }

  // ---- kernels ----
  scenario::KernelUse Use(int operator_number) {
    const int form = bytes_.Below(8);
    if (form == 7) return {.fallthrough = true, .kernel = "", .signature = ""};
    scenario::KernelUse use{.fallthrough = false, .kernel = KernelName(bytes_.Below(kKernels)), .signature = ""};
    if (form == 5) use.signature = kShapes[shape_of_[static_cast<std::size_t>(operator_number)]].signature;
    if (form == 6) use.signature = bytes_.Of(kShapes).signature;
    return use;
  }
  std::vector<scenario::BodyItem> Body() {
    std::vector<scenario::BodyItem> body;
    for (int count = bytes_.Below(5); count > 0; --count) body.push_back(Item());
    return body;
  }
  scenario::BodyItem Item() {
    const int op = bytes_.Below(static_cast<int>(kOperators.size()));
    switch (bytes_.Below(12)) {
      case 0:
        return scenario::BodyGuard{.include = bytes_.OneIn(2), .keys = Keys()};
      case 1:
      case 2:
        return scenario::BodyRedispatch{.below = Key(), .keys = std::nullopt, .form = Form()};
      case 3:
        return scenario::BodyRedispatch{.below = std::nullopt, .keys = Keys(), .form = Form()};
      case 4:
      case 5: {
        scenario::BodyCall call;
        call.operator_name = Operator(op);
        call.caught = bytes_.OneIn(2);
        if (bytes_.OneIn(2)) call.arguments = Arguments(op);
        return call;
      }
      case 6:
        return scenario::BodyThrow{.message = "thrown"};
      case 7: {
        scenario::BodyReturn values;
        values.values.emplace_back(scenario::BodyReturn::Inner{});
        return values;
      }
      case 8: {
        scenario::BodyReturn values;
        values.values.emplace_back(scenario::BodyReturn::Argument{.index = bytes_.Below(3)});
        return values;
      }
      case 9: {
        scenario::BodyReturn values;
        values.values.emplace_back(ArgumentOf("TIFSNx"[bytes_.Below(6)]));
        return values;
      }
      default: {
        Step step;
        switch (bytes_.Below(4)) {
          case 0:
            step.action = DefineOf(op);
            break;
          case 1:
            step.action = ImplOf(op);
            break;
          case 2:
            step.action = FallbackAt();
            break;
          default:
            step.action = scenario::Release{.name = NameOf(registrations_, "r")};
        }
        return scenario::BodyStep{.step = {std::move(step)}};
      }
    }
  }
  scenario::CallForm Form() { return bytes_.OneIn(3) ? scenario::CallForm::kTyped : scenario::CallForm::kBoxed; }

  // ---- steps ----
  static std::string Operator(int number) { return kOperators[static_cast<std::size_t>(number)]; }
  int AnyOperator() { return bytes_.Below(static_cast<int>(kOperators.size())); }
  std::string Library() { return bytes_.OneIn(8) ? NameOf(libraries_, "l") : ""; }

  scenario::Define DefineOf(int op) {
    const auto shape = static_cast<std::size_t>(bytes_.Below(static_cast<int>(kShapes.size())));
    shape_of_[static_cast<std::size_t>(op)] = shape;
    scenario::Define define{.schema = Operator(op) + kShapes[shape].schema, .library = Library(), .name = NewName("r")};
    registrations_.push_back(define.name);
    return define;
  }
  scenario::Impl ImplOf(int op) {
    scenario::Impl impl{.operator_name = Operator(op),
                        .key = MaybeKey(),
                        .kernel = Use(op),
                        .library = Library(),
                        .name = NewName("r")};
    registrations_.push_back(impl.name);
    return impl;
  }
  scenario::Fallback FallbackAt() {
    scenario::Fallback fallback{.key = MaybeKey(), .kernel = Use(0), .library = Library(), .name = NewName("r")};
    fallback.kernel.signature.clear();
    registrations_.push_back(fallback.name);
    return fallback;
  }
  scenario::Call CallOf() {
    scenario::Call call;
    const int how = bytes_.Below(8);
    int op = AnyOperator();
    if (how == 7) {
      call.handle = NameOf(found_, "h");
    } else {
      call.operator_name = Operator(op);
    }
    if (how >= 5 && how < 7) {
      call.form = scenario::CallForm::kTyped;
      call.signature =
          how == 6 ? bytes_.Of(kShapes).signature : kShapes[shape_of_[static_cast<std::size_t>(op)]].signature;
    }
    call.arguments = Arguments(op);
    return call;
  }
  scenario::Query QueryOf() {
    using scenario::QueryKind;
    scenario::Query query;
    query.kind = static_cast<QueryKind>(bytes_.Below(static_cast<int>(QueryKind::kHeard) + 1));
    switch (query.kind) {
      case QueryKind::kHasKernel:
      case QueryKind::kHasComputed:
        query.subject = Operator(AnyOperator());
        query.key = Key();
        break;
      case QueryKind::kHasFallback:
      case QueryKind::kOperatorsAtKey:
        query.key = Key();
        break;
      case QueryKind::kSchema:
      case QueryKind::kTable:
      case QueryKind::kCounters:
        query.subject = Operator(AnyOperator());
        break;
      case QueryKind::kDestroyed:
        query.subject = KernelName(bytes_.Below(kKernels));
        break;
      case QueryKind::kHeard:
        query.subject = NameOf(listeners_, "e");
        break;
      case QueryKind::kOperators:
      case QueryKind::kDangling:
        break;
    }
    return query;
  }

  scenario::Action Action() {
    const int verb = bytes_.Below(64);
    if (verb < 8) return DefineOf(AnyOperator());
    if (verb < 24) return ImplOf(AnyOperator());
    if (verb < 38) return CallOf();
    if (verb < 43) return scenario::Release{.name = NameOf(registrations_, "r")};
    if (verb < 46) return FallbackAt();
    if (verb < 48) {
      scenario::GuardEnter guard{.include = bytes_.OneIn(2), .keys = Keys(), .name = NewName("g")};
      guards_.push_back(guard.name);
      return guard;
    }
    if (verb < 50) return scenario::GuardLeave{.name = NameOf(guards_, "g")};
    if (verb < 52) {
      scenario::Chain chain{.key = Key(), .served_by = Key(), .name = NewName("r")};
      registrations_.push_back(chain.name);
      return chain;
    }
    if (verb < 54) {
      scenario::LibraryOpen library{.name = NewName("l"),
                                    .kind = static_cast<scenario::LibraryKind>(bytes_.Below(3)),
                                    .name_space = bytes_.Of(Names{"t", "u", "_"}),
                                    .key = std::nullopt};
      if (bytes_.OneIn(2)) library.key = Key();
      libraries_.push_back(library.name);
      return library;
    }
    if (verb < 55) return scenario::LibraryClose{.name = NameOf(libraries_, "l")};
    if (verb < 56) {
      scenario::Find find{.operator_name = Operator(AnyOperator()), .name = NewName("h")};
      found_.push_back(find.name);
      return find;
    }
    if (verb < 57) {
      scenario::Listen listen{.name = NewName("e")};
      listeners_.push_back(listen.name);
      registrations_.push_back(listen.name);
      return listen;
    }
    if (verb < 58) return scenario::Flush{};
    if (verb < 59) return scenario::Drain{};
    return QueryOf();
  }

  ByteReader& bytes_;
  Scenario made_;
  int named_ = 0;
  std::array<std::size_t, 4> shape_of_{};  // by operator
  Names registrations_, libraries_, guards_, found_, listeners_;
};

}  // namespace

Scenario StepsFromBytes(ByteReader& bytes, const Names& releases) { return Decoder(bytes, releases).Decode(); }

}  // namespace plumbline::fuzz
