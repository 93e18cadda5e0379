// Files that a user names: read whole, or seen to be writable before any work is done for them.
//
//   OrError<std::string> text = ReadTextFile("mine.toml", "a waiver file (TOML)");
//   if (!text.ok()) return Complain(text.error());          // "mine.toml: there is no such file; give a waiver file
//   ..." if (auto wrong = CannotWriteInto("out")) return Complain("--report " + *wrong);
//
// `wanted` says what the file should be, and closes every message. Touches the file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_

#include <optional>
#include <string>

#include "conformance/harness/or_error.h"

namespace plumbline::harness {

// A path that means standard input wherever a file is read.
inline constexpr char kStandardInput[] = "-";

// A file in words: its path, or "standard input".
std::string NameOfFile(const std::string& path);

// All of a file, without the byte order mark that some editors put before it. An error: it is missing, a folder,
// unreadable, empty, too large to be one, or no UTF-8 text.
OrError<std::string> ReadTextFile(const std::string& path, const std::string& wanted);

// Why nothing can be written into this folder, which may have to be made first; nothing is left behind.
std::optional<std::string> CannotWriteInto(const std::string& folder);

// Why this file cannot be written; one that is there keeps its content.
std::optional<std::string> CannotWrite(const std::string& path);

// Replaces a file; the error names it.
OrError<bool> WriteTextFile(const std::string& path, const std::string& text);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_TEXT_FILE_H_
