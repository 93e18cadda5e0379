#include "conformance/suites/operators/tensor_program.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "spec/abi/error.h"

namespace plumbline::suites {
namespace {

std::string PrintInts(const Sizes& ints) { return fmt::format("[{}]", fmt::join(ints, ", ")); }

std::string PrintElements(const std::vector<long double>& elements) {
  std::string text = "{";
  for (const long double element : elements) text += (text.size() > 1 ? " " : "") + Number(element);
  return text + "}";
}

std::string PrintBits(const std::vector<std::byte>& bytes) {
  std::string text = "{";
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text + "}";
}

std::string PrintMade(const HostTensor& tensor, bool with_strides = false) {
  if (tensor.dtype == PL_DTYPE_NONE) return "undefined";
  TensorLooks looks;
  looks.dtype = tensor.dtype;
  looks.sizes = tensor.sizes;
  if (with_strides || tensor.strides != ContiguousStrides(tensor.sizes)) looks.strides = tensor.strides;
  if (tensor.offset != 0) looks.offset = tensor.offset;
  if (!tensor.device.empty()) looks.device = tensor.device;
  // As numbers, unless these would lose something: the payload of a NaN, a part of an element.
  HostTensor again = tensor;
  looks.elements.emplace();
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const long double element = tensor.GetAt(i);
    looks.elements->push_back(element);
    again.SetAt(i, std::isnan(element) ? std::numeric_limits<long double>::quiet_NaN() : element);
  }
  if (again.storage != tensor.storage || tensor.storage.size() % DtypeBytes(tensor.dtype) != 0) {
    looks.elements.reset();
    looks.bits = tensor.storage;
  }
  return PrintLooks(looks).substr(1);
}

// What comes after the dtype, sizes and elements of a capsule.
std::string PrintSpoilt(const SpoiltCapsule& spoilt) {
  std::string text;
  const auto field = [&](const char* name, const std::optional<int>& value) {
    if (value) text += fmt::format(" {} {}", name, *value);
  };
  field("code", spoilt.code);
  field("bits", spoilt.bits);
  field("lanes", spoilt.lanes);
  field("device", spoilt.device);
  return text;
}

std::string PrintFigure(const FigureLook& look) {
  const std::string_view figure = kMemoryFigures[static_cast<int>(look.figure)];
  if (look.as) return fmt::format("{} as {}", figure, kMemoryFigures[static_cast<int>(*look.as)]);
  return fmt::format("{} {}{}", figure, look.grown && look.amount >= 0 ? "+" : "", look.amount);
}

std::string PrintArgument(const TensorProgram& program, const Argument& argument) {
  if (argument.kind == PL_TENSOR) return program.names[static_cast<std::size_t>(argument.integer)];
  if (argument.kind == PL_LIST) {
    std::string text = "[";
    for (const Argument& item : argument.items) text += (text.size() > 1 ? ", " : "") + PrintArgument(program, item);
    return text + "]";
  }
  std::string text = Describe(argument);
  const bool looks_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return argument.kind == PL_FLOAT && looks_whole ? text + ".0" : text;
}

}  // namespace

std::string PrintLooks(const TensorLooks& looks) {
  std::string text;
  if (looks.dtype) text += fmt::format(" {}", DtypeSpelling(*looks.dtype));
  if (looks.sizes) text += " " + PrintInts(*looks.sizes);
  if (looks.strides) text += " / " + PrintInts(*looks.strides);
  if (looks.offset) text += fmt::format(" + {}", *looks.offset);
  if (looks.device) text += " on " + *looks.device;
  if (looks.elements) text += " " + PrintElements(*looks.elements);
  if (looks.bits) text += " bits " + PrintBits(*looks.bits);
  return text;
}

std::string PrintStatement(const TensorProgram& program, const Statement& statement) {
  std::string names;
  for (const int name : statement.names) {
    names += (names.empty() ? "" : ", ") + program.names[static_cast<std::size_t>(name)];
  }
  const std::string named = names.empty() ? "" : names + " = ";
  std::string refused;
  if (statement.error_class) refused = " => error";
  if (statement.error_class.value_or(PL_ERROR_NONE) != PL_ERROR_NONE) {
    refused += fmt::format(" {}", abi::ErrorClassSpelling(*statement.error_class));
  }
  if (!statement.says.empty()) refused += fmt::format(" says \"{}\"", fmt::join(statement.says, "\" \""));
  const std::string on = statement.device.empty() ? "" : " on " + statement.device;
  const std::string other = statement.other < 0 ? "" : program.names[static_cast<std::size_t>(statement.other)];
  switch (statement.kind) {
    case Statement::Kind::kMake:
      return named + PrintMade(statement.made) + refused;
    case Statement::Kind::kCall: {
      std::string text = named + statement.op + "(";
      for (const Argument& argument : statement.arguments) {
        text += (text.back() == '(' ? "" : ", ") + PrintArgument(program, argument);
      }
      return text + ")" + refused;
    }
    case Statement::Kind::kDrop:
      return "drop " + names;
    case Statement::Kind::kMemory:
      return named + "memory" + on;
    case Statement::Kind::kHolders:
      return named + "holders" + on;
    case Statement::Kind::kResetPeak:
      return "reset peak" + on;
    case Statement::Kind::kEmptyCache:
      return "empty cache" + on;
    case Statement::Kind::kToDlpack:
      return named + "to_dlpack(" + other + ")" + refused;
    case Statement::Kind::kFromDlpack:
      return named + "from_dlpack(" + other + ")" + refused;
    case Statement::Kind::kCapsule:
      return named + "dlpack " + PrintMade(statement.made, statement.spoilt.strides_told) +
             PrintSpoilt(statement.spoilt);
    case Statement::Kind::kExpectMemory: {
      std::string text = "expect " + names;
      for (const FigureLook& look : statement.figures) text += " " + PrintFigure(look);
      return other.empty() ? text : text + " since " + other;
    }
    case Statement::Kind::kExpectHolders: {
      std::string text = "expect " + names + " lists";
      for (const int holder : statement.holders) text += " " + program.names[static_cast<std::size_t>(holder)];
      return text;
    }
    case Statement::Kind::kExpect:
    case Statement::Kind::kExpectCapsule:
      break;
  }
  std::string text = "expect " + names + PrintLooks(statement.looks);
  if (statement.deleted) text += fmt::format(" deleted {}", *statement.deleted);
  if (statement.aligned) text += fmt::format(" aligned {}", *statement.aligned);
  static constexpr const char* kRelations[] = {"", " is ", " shares ", " apart from ", " keys as ", " keys not as "};
  if (statement.relation != Relation::kNone) {
    text += kRelations[static_cast<int>(statement.relation)] + other;
  }
  if (statement.raised) text += fmt::format(" version +{}", *statement.raised);
  if (statement.value) text += " " + PrintArgument(program, *statement.value);
  return text;
}

std::string PrintTensorProgram(const TensorProgram& program) {
  std::string text = "program  1\n";
  if (!program.title.empty()) text += "title    " + program.title + "\n";
  if (!program.clauses.empty()) text += fmt::format("clauses  {}\n", fmt::join(program.clauses, " "));
  if (program.needs_elements) text += "needs    elements\n";
  text += "\n";
  for (const Statement& statement : program.statements) text += PrintStatement(program, statement) + "\n";
  return text;
}

TensorProgram ProgramOf(const OperatorCall& call, std::string title) {
  TensorProgram program;
  program.title = std::move(title);
  Statement made{.kind = Statement::Kind::kCall, .line = 0, .names = {}};
  made.op = call.op;
  // Tensors are counted as TensorsOf counts them: those of a list before what follows it.
  const std::function<Argument(const Argument&)> name = [&](const Argument& argument) {
    Argument named = argument;
    if (argument.kind == PL_LIST) {
      for (Argument& item : named.items) item = name(item);
    }
    if (argument.kind != PL_TENSOR) return named;
    const int number = static_cast<int>(program.names.size());
    program.names.push_back(fmt::format("t{}", number));
    Statement before{.kind = Statement::Kind::kMake, .line = 0, .names = {number}};
    if (argument.integer < 0) {
      before.made = argument.tensor;
    } else {
      before.kind = Statement::Kind::kCall;
      before.op = "aten::as_strided";
      before.arguments = {{.kind = PL_TENSOR, .integer = argument.integer},
                          Argument::Ints(argument.tensor.sizes),
                          Argument::Ints(argument.tensor.strides),
                          Argument::Int(argument.tensor.offset)};
    }
    program.statements.push_back(std::move(before));
    return Argument{.kind = PL_TENSOR, .integer = number};
  };
  for (const Argument& argument : call.arguments) made.arguments.push_back(name(argument));
  program.statements.push_back(std::move(made));
  return program;
}

}  // namespace plumbline::suites
