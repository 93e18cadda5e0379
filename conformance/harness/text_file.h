// Files that a user names: read whole, or seen to be writable before any work is done for them.
//
//   OrError<std::string> text = ReadTextFile("mine.toml", "a waiver file (TOML)");
//   if (!text.ok()) return Complain(text.error());   // "mine.toml: there is no such file; give a waiver file (TOML)"
//   if (auto wrong = CannotWriteInto("out")) return Complain("--report " + *wrong);
//
// `wanted` says what the file should be, and closes every message. Nothing here waits: a pipe or a device, which may
// never end, is no file to read. Touches the file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "conformance/harness/or_error.h"

namespace plumbline::harness {

// How many bytes a file may have: what is larger is not what it was taken for.
inline constexpr std::size_t kMostOfAPerson = std::size_t{4} << 20;    // scenarios, waivers, templates
inline constexpr std::size_t kMostOfAProgram = std::size_t{64} << 20;  // reports, histories, the clause index

// A path that means standard input wherever a file is read.
inline constexpr char kStandardInput[] = "-";

// A file in words: its path, or "standard input".
std::string NameOfFile(const std::string& path);

// All of a file, without the byte order mark that some editors put before it. An error: it is missing, no regular file,
// unreadable, empty, too large, or no UTF-8 text.
OrError<std::string> ReadTextFile(const std::string& path, const std::string& wanted,
                                  std::size_t most_bytes = kMostOfAPerson);

// "a pipe", "a device", ... for what is there and no regular file; what a file's reader says of it.
std::optional<std::string> NoRegularFile(const std::string& path);

// Why nothing can be written into this folder, which may have to be made first. Tried by writing a file; nothing is
// left behind.
std::optional<std::string> CannotWriteInto(const std::string& folder);

// Why this file cannot be written. Tried by writing, unless the file is there: it keeps its content.
std::optional<std::string> CannotWrite(const std::string& path);

// Replaces a file. The error names it, and covers what shows only when the file is closed.
OrError<bool> WriteTextFile(const std::string& path, const std::string& text);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_
