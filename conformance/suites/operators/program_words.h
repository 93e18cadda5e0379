// What a word of a tensor program stands for: a number, a dtype, a constant of an operator's argument.
//
//   IntegerOf("-3");   NumberOf("1e+30");   DtypeOf("int64");   ConstantOf("channels_last");
//
// None for a word that is no such thing. Any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_WORDS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/suites/operators/operator_call.h"

namespace plumbline::suites {

std::optional<std::int64_t> IntegerOf(const std::string& word);
std::optional<long double> NumberOf(const std::string& word);  // true is 1
std::optional<std::uint32_t> DtypeOf(std::string_view word);
// What an argument may be given, the defaults of schemas among them.
std::optional<Argument> ConstantOf(const std::string& word);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_WORDS_H_
