#include "conformance/suites/operators/judge_program.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "conformance/suites/operators/judge_changes.h"
#include "conformance/suites/operators/judge_looks.h"
#include "conformance/suites/operators/judge_memory.h"
#include "conformance/suites/operators/oracle.h"
#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

using States = std::map<int, TensorState>;

// The call as the oracle takes it: tensors with their memory as it was before.
OperatorCall CallOf(const Statement& statement, const States& before, std::vector<int>& names) {
  OperatorCall call{statement.op, statement.arguments};
  const std::function<void(std::vector<Argument>&)> fill = [&](std::vector<Argument>& arguments) {
    for (Argument& argument : arguments) {
      fill(argument.items);
      if (argument.kind != PL_TENSOR) continue;
      const int name = static_cast<int>(argument.integer);
      if (!before.contains(name)) {
        argument = Argument::None();  // an undefined tensor, which stands for one that is not there
        continue;
      }
      const TensorState& state = before.at(name);
      argument = Argument::Of(state.layout);
      if (argument.tensor.device == kMeta) {  // the oracle takes elements, whatever they are
        std::int64_t last = argument.tensor.offset;
        for (std::size_t d = 0; d < argument.tensor.sizes.size(); ++d) {
          last += std::max<std::int64_t>(0, argument.tensor.sizes[d] - 1) * argument.tensor.strides[d];
        }
        argument.tensor.storage.resize(static_cast<std::size_t>(last + 1) * DtypeBytes(argument.tensor.dtype));
      }
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (before.at(names[i]).storage != state.storage) continue;
        argument.integer = static_cast<std::int64_t>(i);
        break;
      }
      names.push_back(name);
    }
  };
  fill(call.arguments);
  return call;
}

// The oracle goes over every element, and one may stand in for any number of them.
bool IsLarge(const Moment& moment, const States& before) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto large = [](const TensorState& state) { return state.layout.numel() > kMost; };
  return std::any_of(moment.returned.begin(), moment.returned.end(), large) ||
         std::any_of(before.begin(), before.end(), [&](const auto& named) { return large(named.second); });
}

// Sizes, or what sizes are made of, that stand for more elements than the oracle could go over: what comes of them is
// for the program to say.
bool IsVast(const Argument& argument) {
  constexpr std::int64_t kMost = std::int64_t{1} << 26;
  std::int64_t product = 1;
  bool vast = false;
  for (const Argument& item : argument.items) {
    if (item.kind == PL_LIST && IsVast(item)) return true;
    if (item.kind == PL_INT && item.integer == 0) return false;  // no elements
    if (item.kind != PL_INT || item.integer < 1 || vast) continue;
    vast = __builtin_mul_overflow(product, item.integer, &product) || product > kMost;
  }
  return vast;
}

OperatorOutcome OutcomeOf(const Moment& moment, const std::vector<int>& names, const States& before) {
  OperatorOutcome outcome{moment.error_class, moment.message, moment.results, {}, {}, {}};
  for (const TensorState& state : moment.returned) {
    ReturnedTensor returned;
    returned.strides = state.layout.strides;
    returned.tensor = HostTensor::Contiguous(state.layout.dtype, state.layout.sizes);
    returned.tensor.device = state.layout.device;
    if (state.layout.device != kMeta) returned.tensor.storage = state.layout.RowMajor();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const TensorState& argument = moment.states.at(names[i]);
      if (returned.same_as < 0 && argument.identity == state.identity) returned.same_as = static_cast<int>(i);
      if (returned.shares_with < 0 && argument.storage == state.storage) returned.shares_with = static_cast<int>(i);
    }
    outcome.tensors.push_back(std::move(returned));
  }
  for (const int name : names) {
    const TensorState& after = moment.states.at(name);
    outcome.arguments_after.push_back(after.layout);
    outcome.raised.push_back(after.version > before.at(name).version);
  }
  return outcome;
}

// A tensor that is given twice is known by its first place.
Expected ByFirstPlace(Expected expected, const std::vector<int>& names, const States& before) {
  for (ExpectedTensor& tensor : expected.tensors) {
    if (tensor.same_as < 0) continue;
    const auto same = std::find_if(names.begin(), names.end(), [&](int name) {
      return before.at(name).identity == before.at(names[static_cast<std::size_t>(tensor.same_as)]).identity;
    });
    tensor.same_as = static_cast<int>(same - names.begin());
  }
  return expected;
}

std::string Refusal(std::uint32_t error_class, const std::string& message) {
  return fmt::format("error {} (\"{}\")", abi::ErrorClassSpelling(error_class), message);
}

class ProgramJudge {
 public:
  ProgramJudge(const TensorProgram& program, const ProgramTrace& trace) : program_(program), trace_(trace) {}

  std::optional<ProgramFault> Judge() {
    for (at_ = 0; at_ < program_.statements.size(); ++at_) {
      const Statement& statement = program_.statements[at_];
      const Moment& moment = trace_.moments[at_];
      const bool unexpected = moment.error_class != PL_ERROR_NONE && !statement.error_class;
      if (const std::optional<ProgramFault> fault = JudgeStatement(statement, moment)) return fault;
      if (moment.memory) readings_[statement.names[0]] = *moment.memory;
      if (moment.holders) holders_[statement.names[0]] = *moment.holders;
      for (const auto& [name, state] : moment.states) {
        if (!state.outside) continue;  // [TENS-035]
        return Wrong("every element lies inside of the storage",
                     program_.names[static_cast<std::size_t>(name)] + " has " + Describe(state.layout) +
                         " a storage of " + std::to_string(state.storage_bytes) + " bytes");
      }
      // Also one that the oracle would have refused: the rest is not run without its results.
      const bool last = at_ + 1 == program_.statements.size();
      if (unexpected && (!last || statement.kind != Statement::Kind::kCall)) {
        return Wrong("it is done", Refusal(moment.error_class, moment.message));
      }
      for (const auto& [name, state] : moment.states) first_versions_.emplace(name, state.version);
      before_ = &moment.states;
    }
    return std::nullopt;
  }

 private:
  std::optional<ProgramFault> Wrong(std::string expected, std::string got) const {
    return ProgramFault{at_, std::move(expected), std::move(got)};
  }

  std::optional<ProgramFault> JudgeStatement(const Statement& statement, const Moment& moment) {
    const auto told = [this](const std::optional<Difference>& wrong) {
      return wrong ? Wrong(wrong->expected, wrong->got) : std::nullopt;
    };
    switch (statement.kind) {
      case Statement::Kind::kExpect:
        return Expect(statement);
      case Statement::Kind::kExpectMemory: {
        const bool since = statement.other >= 0;
        return told(WrongFigure(statement.figures, readings_.at(statement.names[0]),
                                since ? readings_.at(statement.other) : MemoryReading()));
      }
      case Statement::Kind::kExpectHolders: {
        std::vector<TensorState> tensors;
        for (const int name : statement.holders) tensors.push_back(before_->at(name));
        return told(WrongHolders(tensors, holders_.at(statement.names[0])));
      }
      case Statement::Kind::kExpectCapsule:
        return told(WrongCapsule(statement, moment.capsules.at(statement.names[0])));
      default:
        return Do(statement, moment);
    }
  }

  std::optional<ProgramFault> Do(const Statement& statement, const Moment& moment) {
    const std::uint32_t came = moment.error_class;
    if (came == PL_ERROR_NONE) done_.insert(statement.op);
    // What was there a moment ago is not missing: a dtype of it may be, which has a class of its own.
    const bool missing = (came == PL_ERROR_NO_KERNEL || came == PL_ERROR_NOT_FOUND) && !done_.contains(statement.op);
    const bool absent = missing || came == PL_ERROR_UNSUPPORTED || came == PL_ERROR_NO_DTYPE;
    if (statement.error_class) {
      const bool any = *statement.error_class == PL_ERROR_NONE;
      if (any ? came != PL_ERROR_NONE : came == *statement.error_class) {
        for (const std::string& part : statement.says) {
          if (moment.message.find(part) == std::string::npos) {
            return Wrong(fmt::format("a message that says \"{}\"", part), Refusal(came, moment.message));
          }
        }
        return std::nullopt;
      }
      if (absent) return ProgramFault{at_, "", Refusal(came, moment.message), true};
      return Wrong(*statement.error_class == PL_ERROR_NONE
                       ? "an error"
                       : fmt::format("error {}", abi::ErrorClassSpelling(*statement.error_class)),
                   came == PL_ERROR_NONE ? "it is done" : Refusal(came, moment.message));
    }
    if (statement.kind != Statement::Kind::kCall) {
      if (came == PL_ERROR_NONE) return std::nullopt;
      if (absent) return ProgramFault{at_, "", Refusal(came, moment.message), true};
      return Wrong(statement.kind == Statement::Kind::kMake ? "the tensor is made" : "it is done",
                   Refusal(came, moment.message));
    }
    const Oracle* const oracle = OracleFor(std::string_view(statement.op).substr(statement.op.find("::") + 2));
    if (oracle != nullptr) {
      std::vector<int> names;
      static const States nothing;
      const States& before = before_ != nullptr ? *before_ : nothing;
      if (IsLarge(moment, before)) {
        if (came == PL_ERROR_NONE) return std::nullopt;
        return Wrong("it is done", Refusal(came, moment.message));
      }
      const OperatorCall call = CallOf(statement, before, names);
      if (std::any_of(call.arguments.begin(), call.arguments.end(), IsVast)) {
        if (came == PL_ERROR_NONE || came == PL_ERROR_OVERFLOW || came == PL_ERROR_INVALID_ARGUMENT)
          return std::nullopt;
        return Wrong("it is done, or refused as overflow or invalid-argument", Refusal(came, moment.message));
      }
      Expected expected = (*oracle)(call);
      // What only elements tell a meta tensor may be refused for or not.
      const bool on_meta =
          std::any_of(names.begin(), names.end(), [&](int name) { return before.at(name).layout.device == kMeta; });
      if (on_meta && expected.by_elements) expected.errors.push_back(PL_ERROR_NONE);
      const OperatorOutcome outcome = OutcomeOf(moment, names, before);
      const bool said = std::find(expected.errors.begin(), expected.errors.end(), came) != expected.errors.end();
      if (absent && !said) return ProgramFault{at_, "", Refusal(came, moment.message), true};
      std::optional<std::string> wrong = Compare(ByFirstPlace(expected, names, before), outcome);
      if (!wrong) wrong = WrongChange(expected, call, outcome);
      if (wrong) return Wrong("what the operator's clauses say", *wrong);
    }
    if (absent) return ProgramFault{at_, "", Refusal(came, moment.message), true};
    if (came != PL_ERROR_NONE && oracle == nullptr) return Wrong("it is done", Refusal(came, moment.message));
    return std::nullopt;
  }

  std::optional<ProgramFault> Expect(const Statement& statement) {
    const int name = statement.names[0];
    const std::string shown = program_.names[static_cast<std::size_t>(name)];
    if (const auto value = before_->find(name); value == before_->end()) return ExpectValue(statement, name);
    const TensorState& state = before_->at(name);
    if (statement.value) return Wrong(Describe(*statement.value), shown + " is a tensor");
    if (const auto wrong = WrongLook(statement.looks, state.layout)) return Wrong(wrong->expected, wrong->got);
    if (statement.raised) {  // [TENS-040] [TENS-041] [TENS-042] [TENS-044]
      const std::uint64_t first = first_versions_.at(name);
      if (state.version != first + static_cast<std::uint64_t>(*statement.raised)) {
        return Wrong(fmt::format("the version has gone up by {}", *statement.raised),
                     fmt::format("it went from {} to {}", first, state.version));
      }
    }
    if (statement.relation == Relation::kNone) return std::nullopt;
    const auto other = before_->find(statement.other);
    const std::string other_shown = program_.names[static_cast<std::size_t>(statement.other)];
    if (other == before_->end()) return Wrong(other_shown + " is a tensor", "it is none");
    const auto relation = [&](bool holds, const char* yes, const char* no) -> std::optional<ProgramFault> {
      if (holds) return std::nullopt;
      return Wrong(fmt::format("{} {} {}", shown, yes, other_shown), fmt::format("it {}", no));
    };
    switch (statement.relation) {
      case Relation::kIs:  // [TENS-001]
        return relation(state.identity == other->second.identity, "is the very tensor", "is another one");
      case Relation::kShares:  // [TENS-030] [TENS-033]
        return relation(state.storage == other->second.storage, "shares the storage of", "has another one");
      case Relation::kApartFrom:  // [TENS-033] [TENS-037]
        return relation(state.storage != other->second.storage, "shares no storage with", "has the same one");
      case Relation::kKeysNotAs:  // [TENS-051]
        return relation(state.keys != other->second.keys, "has another key set than", "has the same one");
      default:  // [TENS-050]
        return relation(state.keys == other->second.keys, "has the key set of", "has another one");
    }
  }

  std::optional<ProgramFault> ExpectValue(const Statement& statement, int name) {
    const auto& values = trace_.moments[at_].values;
    const auto value = values.find(name);
    const std::string shown = program_.names[static_cast<std::size_t>(name)];
    if (value == values.end()) return Wrong(shown + " has a result", "the call gave fewer results");
    if (!statement.value) return Wrong(shown + " is a tensor", "it is " + Describe(value->second));
    if (Describe(*statement.value) == Describe(value->second) && statement.value->kind == value->second.kind) {
      return std::nullopt;
    }
    return Wrong(Describe(*statement.value), Describe(value->second));
  }

  const TensorProgram& program_;
  const ProgramTrace& trace_;
  std::size_t at_ = 0;
  const States* before_ = nullptr;
  std::map<int, std::uint64_t> first_versions_;
  std::map<int, MemoryReading> readings_;
  std::map<int, std::vector<HeldStorage>> holders_;
  std::set<std::string> done_;  // operators
};

}  // namespace

std::optional<ProgramFault> JudgeProgram(const TensorProgram& program, const ProgramTrace& trace) {
  return ProgramJudge(program, trace).Judge();
}

}  // namespace plumbline::suites
