// Words and marks of the scenario language, shared by the parser and the printer so that what one writes the other
// reads.
//
//   Lexer lexer(text);
//   Token token = lexer.Next();  // kWord "define"
//
// Inside braces a line's end is white space; elsewhere it ends the step. Internal to spec/scenario; a lexer belongs to
// one thread.
#ifndef PLUMBLINE_SPEC_SCENARIO_LEX_H_
#define PLUMBLINE_SPEC_SCENARIO_LEX_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "spec/scenario/parse.h"

namespace plumbline::scenario {

// What is wrong, and where; thrown inside the parser only.
struct ParseFailure {
  std::size_t offset = 0;
  std::string message;
  bool unsupported = false;
};

struct Token {
  enum class Kind { kWord, kString, kMark, kLineEnd, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;        // of a string: what it means
  std::size_t offset = 0;  // where it starts
  std::size_t end = 0;     // one past its last character
};

class Lexer {
 public:
  Lexer(std::string_view text, std::size_t offset) : text_(text), at_(offset) {}

  Token Next();
  std::size_t offset() const { return at_; }
  void MoveTo(std::size_t offset) { at_ = offset; }
  void SetBraces(int depth) { braces_ = depth; }
  int braces() const { return braces_; }

 private:
  void SkipSpace();
  Token String();

  std::string_view text_;
  std::size_t at_;
  int braces_ = 0;
};

bool IsName(std::string_view text);         // of a handle, kernel, library, thread; no word of the language
bool IsReserved(std::string_view text);     // a word of the language
bool IsPlainWord(std::string_view text);    // an operator, key or namespace that needs no quotes
std::string Quoted(std::string_view text);  // as a string of the language; any bytes
std::string PlainOrQuoted(std::string_view text);

// Where the schema that starts at `offset` ends: before " in ", " as ", " => " or " #" at depth 0, or ';', '}' or a
// line's end there.
std::size_t SchemaEnd(std::string_view text, std::size_t offset);

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_LEX_H_
