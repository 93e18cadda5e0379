#include "conformance/suites/operators/clauses_of_operator.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "spec/scenario/schema.h"
#include "spec/tables/operators.h"

namespace plumbline::suites {
namespace {

using scenario::SchemaArgument;
using scenario::SchemaType;
using tables::BoundRule;
using tables::Family;
using tables::OperatorData;
using tables::ResultRule;
using tables::ShapeRule;

// What the rules ask of an operator.
class Facts {
 public:
  explicit Facts(const OperatorData& op)
      : op_(op), arguments_(scenario::ParseSchema(std::string(op.schema)).schema->arguments) {}

  bool Of(std::initializer_list<Family> families) const { return Has(families, op_.family); }
  bool Within(std::initializer_list<BoundRule> bounds) const { return Has(bounds, op_.bound.rule); }
  bool Shaped(std::initializer_list<ShapeRule> shapes) const { return Has(shapes, op_.shape); }
  // Before it is written: in place the row says that it has the dtype of self.
  bool Gives(std::initializer_list<ResultRule> results) const {
    const OperatorData& base = op_.of.empty() ? op_ : *tables::FindOperator(op_.of);
    return std::any_of(base.results.begin(), base.results.end(), [&](ResultRule one) { return Has(results, one); });
  }

  bool GivesTensors() const { return !op_.results.empty() && !Gives({ResultRule::kNone}); }

  // By its row in the table, which the variants of an operator have from it.
  bool Listed(std::string_view clause) const {
    return std::find(op_.clauses.begin(), op_.clauses.end(), clause) != op_.clauses.end();
  }
  bool Says(std::string_view words) const {
    return std::any_of(op_.special.begin(), op_.special.end(),
                       [&](std::string_view special) { return special.find(words) != std::string_view::npos; });
  }

  bool Takes(std::initializer_list<std::string_view> names) const {
    return Any([&](const SchemaArgument& argument) {
      return Has(names, std::string_view(argument.name)) && !argument.type.writes;
    });
  }
  bool TakesScalar() const { return Takes({"min", "max"}) || (Takes({"other", "exponent"}) && !ReadsTwo()); }
  bool TakesIndexList() const {
    return Any([](const SchemaArgument& argument) { return argument.type.list && argument.type.optional_items; });
  }
  bool Reads() const { return Tensors(false) > 0; }
  bool ReadsTwo() const { return Tensors(false) + (in_place() ? 1 : 0) > 1 || TakesTensorList(); }
  bool Writes() const { return Tensors(true) > 0; }

  bool is(std::string_view name) const { return op_.name.substr(op_.name.find("::") + 2) == name; }
  bool in_place() const { return op_.variant == tables::Variant::kInPlace; }
  bool out() const { return op_.variant == tables::Variant::kOut; }
  // Of another operator, as fill_ is none.
  bool variant() const { return !op_.of.empty(); }
  bool functional() const { return op_.variant == tables::Variant::kFunctional && !Writes(); }
  bool elementwise() const { return Of({Family::kUnary, Family::kBinary, Family::kComparison, Family::kLogical}); }
  bool of_numbers() const { return Of({Family::kUnary, Family::kBinary}); }
  bool reduces() const { return Of({Family::kReduction}) && Shaped({ShapeRule::kReduce, ShapeRule::kZeroDim}); }

 private:
  template <class T>
  static bool Has(std::initializer_list<T> all, const T& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }
  template <class F>
  bool Any(F holds) const {
    return std::any_of(arguments_.begin(), arguments_.end(), holds);
  }
  bool TakesTensorList() const {
    return Any([](const SchemaArgument& argument) {
      return argument.type.base == SchemaType::Base::kTensor && argument.type.list && !argument.type.optional_items;
    });
  }
  std::ptrdiff_t Tensors(bool written) const {
    return std::count_if(arguments_.begin(), arguments_.end(), [&](const SchemaArgument& argument) {
      return argument.type.base == SchemaType::Base::kTensor && argument.type.writes == written;
    });
  }

  const OperatorData& op_;
  std::vector<SchemaArgument> arguments_;
};

struct Rule {
  const char* clause;
  bool (*shows)(const Facts& op);
};

constexpr Rule kRules[] = {
    // Which dtype: of a result that the call makes. What is written has its own.
    {"OPER-010",
     [](const Facts& op) {
       const bool mixed = op.Gives({ResultRule::kPromote, ResultRule::kFloat, ResultRule::kDivision,
                                    ResultRule::kPromoteTensors, ResultRule::kPromoteValues});
       // The tensors of the others are drawn alike.
       const bool drawn_alike = op.is("addcmul") || op.is("addcdiv") || op.Of({Family::kMatrix});
       return op.functional() && op.ReadsTwo() && mixed && !drawn_alike;
     }},
    {"OPER-011", [](const Facts& op) { return op.functional() && op.Of({Family::kBinary}) && op.TakesScalar(); }},
    {"OPER-012",
     [](const Facts& op) {
       return op.functional() && op.Gives({ResultRule::kFloat, ResultRule::kDivision});
     }},
    {"OPER-013",
     [](const Facts& op) {
       return op.Of({Family::kComparison}) && op.Gives({ResultRule::kBool}) && (op.ReadsTwo() || op.TakesScalar());
     }},
    {"OPER-014", [](const Facts& op) { return op.functional() && op.Listed("OPER-014"); }},
    {"OPER-015", [](const Facts& op) { return op.Listed("OPER-015"); }},
    {"OPER-016", [](const Facts& op) { return op.Of({Family::kMatrix}) && op.Within({BoundRule::kMatmul}); }},

    // Which sizes.
    {"OPER-020",
     [](const Facts& op) {
       return op.Shaped({ShapeRule::kBroadcast, ShapeRule::kBroadcastToSelf}) && op.ReadsTwo();
     }},
    {"OPER-022",
     [](const Facts& op) {
       return op.Takes({"dim", "dims", "dim0", "dim1", "start_dim"});
     }},
    {"OPER-024", [](const Facts& op) { return op.Of({Family::kReduction}) && op.Shaped({ShapeRule::kReduce}); }},

    // What is written. Where it overlaps is drawn for elementwise operators, and of self.
    {"OPER-008", [](const Facts& op) { return op.variant() || op.is("copy_"); }},
    {"OPER-030", [](const Facts& op) { return op.Writes(); }},
    {"OPER-031",
     [](const Facts& op) { return op.in_place() && op.Shaped({ShapeRule::kBroadcastToSelf}) && op.Reads(); }},
    {"OPER-032",
     [](const Facts& op) {
       return (op.out() && op.elementwise()) ||
              (op.in_place() && op.of_numbers() &&
               (op.Reads() || op.TakesScalar() || op.Gives({ResultRule::kFloat, ResultRule::kDivision})));
     }},
    {"OPER-033", [](const Facts& op) { return op.out(); }},
    {"OPER-035",
     [](const Facts& op) {
       return (op.in_place() && op.variant()) || (op.out() && op.elementwise()) || op.is("copy_") ||
              op.is("uniform_") || op.is("normal_") || op.is("bernoulli_.float");
     }},
    {"OPER-036", [](const Facts& op) { return op.elementwise() && (op.out() || (op.in_place() && op.Reads())); }},
    {"OPER-037", [](const Facts& op) { return op.out(); }},
    {"OPER-038", [](const Facts& op) { return op.Reads() || op.Writes(); }},
    {"TENS-040", [](const Facts& op) { return op.Writes() && !op.Listed("TENS-044"); }},
    {"TENS-044", [](const Facts& op) { return op.Reads() || op.Listed("TENS-044"); }},

    // How near.
    {"OPER-050",
     [](const Facts& op) {
       return op.Within({BoundRule::kExact, BoundRule::kUlp, BoundRule::kMultiplyAdd}) &&
              (op.Reads() || op.variant()) && !op.Of({Family::kView, Family::kFactory});
     }},
    {"OPER-051",
     [](const Facts& op) {
       return op.Within({BoundRule::kTerms, BoundRule::kMultiplyAdd});
     }},
    {"OPER-052",
     [](const Facts& op) {
       return op.Within({BoundRule::kSum, BoundRule::kMean});
     }},
    {"OPER-053", [](const Facts& op) { return op.Within({BoundRule::kMatmul}); }},
    {"OPER-054",
     [](const Facts& op) {
       return op.Within({BoundRule::kSoftmax, BoundRule::kLogSoftmax});
     }},
    {"OPER-055", [](const Facts& op) { return op.Within({BoundRule::kNormalise}); }},
    {"OPER-056", [](const Facts& op) { return op.Within({BoundRule::kLoss}); }},
    {"OPER-057", [](const Facts& op) { return op.Listed("OPER-057") || op.Says("wrap") || op.Says("modulo 2 to"); }},
    {"OPER-058", [](const Facts& op) { return op.Listed("OPER-058"); }},
    {"OPER-059", [](const Facts& op) { return op.Listed("OPER-059"); }},
    {"OPER-060",
     [](const Facts& op) {
       return op.of_numbers() || (op.reduces() && op.Within({BoundRule::kSum, BoundRule::kMean}));
     }},
    // Below the least normal number only what is exact is looked at; so is the sign of a zero.
    {"OPER-061",
     [](const Facts& op) {
       return op.of_numbers() && op.Within({BoundRule::kExact, BoundRule::kMultiplyAdd});
     }},
    {"OPER-070",
     [](const Facts& op) {
       return op.of_numbers() && op.Within({BoundRule::kExact, BoundRule::kMultiplyAdd});
     }},

    // Special values.
    {"OPER-062", [](const Facts& op) { return op.reduces(); }},
    {"OPER-063",
     [](const Facts& op) {
       return op.Listed("OPER-063") ||
              (op.reduces() && op.Within({BoundRule::kSum, BoundRule::kMean, BoundRule::kProduct}));
     }},
    {"OPER-064", [](const Facts& op) { return op.Of({Family::kUnary}) && op.Gives({ResultRule::kFloat}); }},
    {"OPER-065", [](const Facts& op) { return op.Listed("OPER-065"); }},
    {"OPER-066", [](const Facts& op) { return op.Of({Family::kMatrix}) && op.Within({BoundRule::kMatmul}); }},
    {"OPER-071", [](const Facts& op) { return op.Listed("OPER-071"); }},

    // Inputs are drawn in every layout.
    {"OPER-080",
     [](const Facts& op) {
       return (op.Reads() || op.in_place()) && !op.Of({Family::kFactory, Family::kRandom});
     }},
    {"OPER-090",
     [](const Facts& op) {
       return op.Of({Family::kIndex}) ? op.Takes({"index", "indices"}) : op.Listed("OPER-090");
     }},
    {"OPER-091", [](const Facts& op) { return op.TakesIndexList(); }},
    {"OPER-092", [](const Facts& op) { return op.Listed("OPER-092"); }},
    {"OPER-093",
     [](const Facts& op) {
       return op.TakesIndexList() || op.Shaped({ShapeRule::kMasked, ShapeRule::kNonzero});
     }},
    {"OPER-095", [](const Facts& op) { return op.Listed("OPER-095"); }},
    {"OPER-096", [](const Facts& op) { return op.Listed("OPER-096"); }},
    {"OPER-097", [](const Facts& op) { return op.Listed("OPER-097"); }},

    // Views and copies.
    {"OPER-100", [](const Facts& op) { return op.functional() && op.Reads() && op.GivesTensors(); }},
    {"OPER-101", [](const Facts& op) { return op.Listed("OPER-101"); }},
    {"OPER-102", [](const Facts& op) { return op.Listed("OPER-102"); }},
    {"OPER-103", [](const Facts& op) { return op.Listed("OPER-103"); }},
    {"OPER-105",
     [](const Facts& op) { return op.is("copy_") || op.is("clone") || op.is("to.dtype") || op.is("_to_copy"); }},
    {"OPER-106", [](const Facts& op) { return op.Listed("OPER-106"); }},
    {"OPER-107", [](const Facts& op) { return op.Listed("OPER-107"); }},
    {"TENS-013", [](const Facts& op) { return op.Listed("TENS-013"); }},
    {"TENS-030",
     [](const Facts& op) {
       return op.Of({Family::kView}) || op.Shaped({ShapeRule::kSplit, ShapeRule::kUnbind});
     }},
    {"TENS-031",
     [](const Facts& op) {
       return op.Of({Family::kView}) || op.Shaped({ShapeRule::kSplit, ShapeRule::kUnbind});
     }},
    {"TENS-032", [](const Facts& op) { return op.Listed("TENS-032"); }},
    {"TENS-033", [](const Facts& op) { return op.Listed("TENS-033"); }},
    {"TENS-034", [](const Facts& op) { return op.Listed("TENS-034"); }},
    {"TENS-035", [](const Facts& op) { return op.Listed("TENS-035"); }},
    {"TENS-036", [](const Facts& op) { return op.Listed("TENS-036"); }},
    {"TENS-037", [](const Facts& op) { return op.is("clone") || op.is("to.dtype") || op.is("_to_copy"); }},

    // Factories and random numbers. The device is the one that is asked for anyway, and linspace is given its dtype.
    {"OPER-110",
     [](const Facts& op) { return op.functional() && op.Of({Family::kFactory}) && !op.Shaped({ShapeRule::kSteps}); }},
    {"OPER-111", [](const Facts& op) { return op.functional() && op.Shaped({ShapeRule::kRange}); }},
    {"OPER-112", [](const Facts& op) { return op.functional() && op.Shaped({ShapeRule::kSteps}); }},
    {"OPER-121",
     [](const Facts& op) {
       return op.is("rand") || op.is("randint.low") || op.is("uniform_") || op.is("normal_") ||
              op.is("bernoulli_.float");
     }},
    {"OPER-123", [](const Facts& op) { return op.Listed("OPER-123"); }},

    // Layers.
    {"OPER-150", [](const Facts& op) { return op.Listed("OPER-150"); }},
    {"OPER-151", [](const Facts& op) { return op.Listed("OPER-151"); }},
    {"OPER-152",
     [](const Facts& op) {
       return op.Shaped({ShapeRule::kConvolution, ShapeRule::kPool});
     }},
};

}  // namespace

std::vector<std::string> ClausesOfOperator(std::string_view name) {
  const OperatorData* const op = tables::FindOperator("aten::" + std::string(name));
  if (op == nullptr) return {};
  const Facts facts(*op);
  std::vector<std::string> clauses;
  for (const Rule& rule : kRules) {
    if (rule.shows(facts)) clauses.emplace_back(rule.clause);
  }
  std::sort(clauses.begin(), clauses.end());
  return clauses;
}

}  // namespace plumbline::suites
