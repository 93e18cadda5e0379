// What the programs print: text that is not ours is shown so that it cannot steer a terminal, and long lines are cut;
// colours for a terminal, and plain text for anything else.
//
//   const Painter paint(Colours(STDOUT_FILENO, no_color));
//   Print("{:<12} {}\n", name, paint.Green("yes"));
//   Print(stderr, "{}\n", path);
//
// Immutable; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_PAINT_H_
#define PLUMBLINE_CONFORMANCE_CLI_PAINT_H_

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "reports/text/shown.h"

namespace plumbline::cli {

// Text that is fit for a terminal, with its colours.
struct Painted {
  std::string text;
};

class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}
  Painted Red(std::string_view text) const { return Paint("31", text); }
  Painted Green(std::string_view text) const { return Paint("32", text); }
  Painted Yellow(std::string_view text) const { return Paint("33", text); }
  Painted Bold(std::string_view text) const { return Paint("1", text); }
  Painted Faint(std::string_view text) const { return Paint("2", text); }
  Painted Plain(std::string_view text) const { return {reports::Shown(text)}; }

 private:
  Painted Paint(const char* code, std::string_view text) const {
    std::string shown = reports::Shown(text);
    return {colours_ && !text.empty() ? std::string("\x1b[") + code + "m" + shown + "\x1b[0m" : std::move(shown)};
  }
  bool colours_;
};

// An argument of Format and Print: numbers as they are, painted text as it is, anything else as text that is not ours.
template <class T>
auto ForTerminal(const T& argument) {
  if constexpr (std::is_arithmetic_v<T>) {
    return argument;
  } else if constexpr (std::is_same_v<T, Painted>) {
    return std::string_view(argument.text);
  } else {
    return reports::Shown(fmt::vformat("{}", fmt::make_format_args(argument)));  // also of joined lists
  }
}

template <class... T>
using FormatFor = fmt::format_string<decltype(ForTerminal(std::declval<const T&>()))...>;

template <class... T>
std::string Format(FormatFor<T...> format, const T&... arguments) {
  return fmt::format(format, ForTerminal(arguments)...);
}

template <class... T>
void Print(std::FILE* to, FormatFor<T...> format, const T&... arguments) {
  const std::string text = Format(format, arguments...);
  std::fwrite(text.data(), 1, text.size(), to);
}

template <class... T>
void Print(FormatFor<T...> format, const T&... arguments) {
  Print(stdout, format, arguments...);
}

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_PAINT_H_
