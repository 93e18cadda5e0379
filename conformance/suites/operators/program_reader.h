// Goes through the tokens of a tensor program: what comes next, whether it is as it has to be, and lists of numbers.
//
//   ProgramReader reader("[2, 3] {1 2}\n");
//   Sizes sizes = reader.Ints();   std::vector<long double> elements = reader.Elements();   reader.EndOfLine();
//
// What is not as expected throws ProgramSyntaxError, which says where it is and what was found. One thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_READER_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suites/operators/host_tensor.h"
#include "conformance/suites/operators/program_tokens.h"

namespace plumbline::suites {

class ProgramReader {
 public:
  using Token = ProgramToken;

  explicit ProgramReader(std::string_view text) : tokens_(SplitProgram(text)) {}

  const Token& Peek() const { return tokens_[at_]; }
  const Token& PeekAfter() const;
  Token Take();
  bool TakeIf(std::string_view text);  // a word or a mark
  void Mark(const std::string& mark);  // takes it
  void Word(const std::string& word) { Mark(word); }
  void EndOfLine() const;
  void SkipLines();

  std::int64_t Integer();
  Sizes Ints();  // [2, 3]
  // {1 2.5 nan}, over several lines too; of a dtype, if one is told, that holds them.
  std::vector<long double> Elements(std::optional<std::uint32_t> dtype);
  std::vector<std::byte> Bits();  // {00ff}

  static std::string Shown(const Token& token);
  [[noreturn]] static void Fail(const Token& at, const std::string& what);

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_READER_H_
