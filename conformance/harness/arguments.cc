#include "conformance/harness/arguments.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "conformance/harness/nearest.h"
#include "reports/text/counted.h"
#include "reports/text/shown.h"

namespace plumbline::harness {
namespace {

// As a user writes it: "--seed", or "FILE" for what has no name on the command line.
std::string NameOf(const CLI::Option& option) {
  return option.get_positional() ? option.get_type_name() : option.get_name();
}

std::vector<std::string> NamesOfOptions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> NamesOfCommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

// The option that the library's message is about: it starts with the name, or holds it.
const CLI::Option* OptionIn(const CLI::App& app, const std::string& message) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : app.get_options()) {
    if (message.starts_with(option->get_name() + ":")) return option;
    if (message.find(" " + option->get_name() + " ") != std::string::npos) found = option;
  }
  return found;
}

std::string Description(const CLI::Option& option) {
  return option.get_description().empty() ? "" : ": " + option.get_description();
}

// What the command line lacks, has too much, or has wrong; `asked` is the command of `app` that was named, or `app`.
std::string WhatIsWrong(const CLI::App& app, const CLI::App& asked, const CLI::ParseError& error) {
  for (const std::string& word : app.remaining(true)) {
    if (word.size() > 1 && word.front() == '-') {
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("there is no option '{}'{}", name, DidYouMean(name, NamesOfOptions(asked)));
    }
    if (&asked == &app && !app.get_subcommands({}).empty()) {
      return fmt::format("the command {}", OneOf(word, NamesOfCommands(app)));
    }
    return fmt::format("'{}' is one argument too many", word);
  }
  if (&asked == &app && !app.get_subcommands({}).empty() && app.get_subcommands().empty()) {
    std::string names;
    for (const std::string& name : NamesOfCommands(app)) names += (names.empty() ? "" : ", ") + name;
    return "a command is missing; there are " + names;
  }
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    for (const CLI::Option* option : asked.get_options()) {
      if (option->get_required() && option->count() == 0) return NameOf(*option) + " is missing" + Description(*option);
    }
  }
  const CLI::Option* option = OptionIn(asked, message);
  if (option == nullptr) return message;
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    return message.starts_with(option->get_name()) ? NameOf(*option) + message.substr(option->get_name().size())
                                                   : message;
  }
  const std::size_t given = option->results().size();
  if (option->get_items_expected_max() == 0) return NameOf(*option) + " takes no value";
  if (static_cast<int>(given) > option->get_items_expected_max()) {
    return fmt::format("{} is given {}; give it once", NameOf(*option), reports::Counted(given, "time"));
  }
  return fmt::format("{} needs a value, {}{}", NameOf(*option), option->get_type_name(), Description(*option));
}

// The first option that is given an empty text, in words; empty: none is.
std::string GivenNothing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& given = option->results();
    if (std::find(given.begin(), given.end(), "") == given.end()) continue;
    if (option->get_positional()) return fmt::format("'' is no {}{}", NameOf(*option), Description(*option));
    return fmt::format("{} is given '', which says nothing; give {}{}{}", NameOf(*option), option->get_type_name(),
                       option->get_required() ? "" : " or leave it out", Description(*option));
  }
  return "";
}

}  // namespace

std::optional<int> ParseCommandLine(CLI::App& app, int argc, char** argv) {
  const auto asked = [&]() -> const CLI::App& {
    const auto named = app.get_subcommands();
    return named.empty() ? app : *named.front();
  };
  const auto complain = [&](const std::string& what) {
    const std::string program = &asked() == &app ? app.get_name() : app.get_name() + " " + asked().get_name();
    return Complain(program, fmt::format("{}\nSee {} --help.", what, program));
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return kGood;
  } catch (const CLI::ParseError& error) {
    return complain(WhatIsWrong(app, asked(), error));
  }
  // An empty text is what a variable of a script holds that was never set.
  const std::string nothing = GivenNothing(asked());
  return nothing.empty() ? std::nullopt : std::optional<int>(complain(nothing));
}

std::optional<int> RefuseIdle(const CLI::App& app, const std::vector<std::string>& options, const std::string& when) {
  std::vector<std::string> idle;
  for (const std::string& name : options) {
    const CLI::Option* option = app.get_option(name);
    if (option->count() != 0) idle.push_back(NameOf(*option));
  }
  if (idle.empty()) return std::nullopt;
  const bool one = idle.size() == 1;
  const std::string last = one ? "" : " and " + idle.back();
  if (!one) idle.pop_back();
  return Complain(app, fmt::format("{}{} {} no effect {}; leave {} out\nSee {} --help.", fmt::join(idle, ", "), last,
                                   one ? "has" : "have", when, one ? "it" : "them", app.get_name()));
}

int Complain(const std::string& program, const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", reports::Shown(program), reports::Shown(message));
  return kBadInput;
}

int Complain(const CLI::App& app, const std::string& message) { return Complain(app.get_name(), message); }

std::optional<std::uint64_t> ReadNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

CLI::Validator Choice(std::vector<std::string> names) {
  return {[names = std::move(names)](std::string& text) {
            return std::find(names.begin(), names.end(), text) != names.end() ? "" : OneOf(text, names);
          },
          ""};
}

CLI::Validator WholeNumber(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& text) -> std::string {
            const std::optional<std::uint64_t> number = ReadNumber(text);
            if (!number || *number < least || *number > most) {
              return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
            }
            text = std::to_string(*number);  // the library would read 010 as 8
            return "";
          },
          ""};
}

CLI::Validator Duration(double least, double most, std::string unit) {
  return {[least, most, unit = std::move(unit)](std::string& text) -> std::string {
            double number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            // Written so that nan is refused too.
            const bool good =
                error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
            return good ? "" : fmt::format("'{}' is no time from {} to {:.0f} {}", text, least, most, unit);
          },
          ""};
}

}  // namespace plumbline::harness
