// The words, texts and marks of a tensor program, with where each stands.
//
//   for (const ProgramToken& token : SplitProgram("a = neg(b)  # why\n")) ...
//   // kWord a, kMark =, kWord neg, kMark (, kWord b, kMark ), kLineEnd, kEnd
//
// Comments are left out. Always ends with kLineEnd, kEnd. What is no token throws ProgramSyntaxError. Any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TOKENS_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TOKENS_H_

#include <string>
#include <string_view>
#include <vector>

namespace plumbline::suites {

struct ProgramSyntaxError {
  std::string message;  // "LINE:COLUMN: ..."
};

struct ProgramToken {
  enum class Kind { kWord, kText, kMark, kLineEnd, kEnd };
  Kind kind = Kind::kEnd;
  std::string text{};
  int line = 0, column = 0;
};

std::vector<ProgramToken> SplitProgram(std::string_view text);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_PROGRAM_TOKENS_H_
