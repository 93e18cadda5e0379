#include "conformance/suites/operators/program_words.h"

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "spec/abi/abi.h"

namespace plumbline::suites {

std::optional<std::int64_t> IntegerOf(const std::string& word) {
  if (word.empty() || word.find_first_not_of("-0123456789") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::int64_t value = std::strtoll(word.c_str(), &end, 10);
  return *end == '\0' && errno == 0 ? std::optional(value) : std::nullopt;
}

std::optional<long double> NumberOf(const std::string& word) {
  if (word == "true") return 1.0L;
  if (word == "false") return 0.0L;
  if (word.empty() || std::isspace(static_cast<unsigned char>(word[0])) != 0) return std::nullopt;
  char* end = nullptr;
  const long double value = std::strtold(word.c_str(), &end);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> DtypeOf(std::string_view word) {
  for (const std::uint32_t dtype : kDtypes) {
    if (DtypeSpelling(dtype) == word) return dtype;
  }
  return std::nullopt;
}

std::optional<Argument> ConstantOf(const std::string& word) {
  static const std::map<std::string, Argument> constants = {{"None", Argument::None()},
                                                            {"true", Argument::Bool(true)},
                                                            {"True", Argument::Bool(true)},
                                                            {"false", Argument::Bool(false)},
                                                            {"False", Argument::Bool(false)},
                                                            {"Mean", Argument::Int(1)},
                                                            {"Sum", Argument::Int(2)},
                                                            {"contiguous_format", Argument::Int(0)},
                                                            {"preserve_format", Argument::Int(1)},
                                                            {"channels_last", Argument::Int(2)},
                                                            {"channels_last_3d", Argument::Int(3)},
                                                            {"long", Argument::Int(PL_DTYPE_INT64)}};
  const auto found = constants.find(word);
  if (found != constants.end()) return found->second;
  if (const auto dtype = DtypeOf(word)) return Argument::Int(*dtype);
  if (const auto integer = IntegerOf(word)) return Argument::Int(*integer);
  if (const auto number = NumberOf(word)) return Argument::Float(static_cast<double>(*number));
  return std::nullopt;
}

}  // namespace plumbline::suites
