// Colours for a terminal, and plain text for anything else.
//
//   const Painter paint(Colours(STDOUT_FILENO, no_color));
//   fmt::print("{}", paint.Green("yes"));
//
// Immutable; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_PAINT_H_
#define PLUMBLINE_CONFORMANCE_CLI_PAINT_H_

#include <string>

namespace plumbline::cli {

class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}
  std::string Red(const std::string& text) const { return Paint("31", text); }
  std::string Green(const std::string& text) const { return Paint("32", text); }
  std::string Yellow(const std::string& text) const { return Paint("33", text); }
  std::string Bold(const std::string& text) const { return Paint("1", text); }
  std::string Faint(const std::string& text) const { return Paint("2", text); }

 private:
  std::string Paint(const char* code, const std::string& text) const {
    return colours_ && !text.empty() ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
  bool colours_;
};

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_PAINT_H_
