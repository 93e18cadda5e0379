#include "conformance/harness/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "reports/text/shown.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;

// No scenario, waiver file or report comes near it; /dev/zero does.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

// Where the first byte stands that no text holds: a zero, or one that is no UTF-8.
std::size_t FirstBadByte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = reports::CharacterLength(text.substr(at));
    if (length == 0 || text[at] == '\0') return at;
    at += length;
  }
  return std::string_view::npos;
}

// Reads to the end or to one byte too many; the error number, 0 if all is well.
int ReadBytes(const std::string& path, std::string& bytes) {
  const int file = path == kStandardInput ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  int failed = 0;
  char buffer[1 << 16];
  while (bytes.size() <= kMostBytes) {
    const ssize_t got = read(file, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed = errno;
    if (got <= 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  close(file);
  return failed;
}

}  // namespace

std::string NameOfFile(const std::string& path) { return path == kStandardInput ? "standard input" : path; }

OrError<std::string> ReadTextFile(const std::string& path, const std::string& wanted) {
  const auto wrong = [&](const std::string& what) {
    return InputError{fmt::format("{}: {}; give {}", path.empty() ? "''" : NameOfFile(path), what, wanted)};
  };
  std::error_code failed;
  if (path != kStandardInput && fs::is_directory(path, failed)) return wrong("this is a folder");
  std::string text;
  switch (const int error = ReadBytes(path, text)) {
    case 0:
      break;
    case ENOENT:
    case ENOTDIR:
      return wrong("there is no such file");
    default:
      return wrong(fmt::format("it cannot be read ({})", std::strerror(error)));
  }
  if (text.size() > kMostBytes) return wrong(fmt::format("it holds more than {} MiB", kMostBytes >> 20));
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());  // some editors begin a file with it
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return wrong("it is empty");
  if (const std::size_t bad = FirstBadByte(text); bad != std::string::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    return wrong(
        fmt::format("it is not UTF-8 text: line {} has the byte {:02x}", line, static_cast<unsigned char>(text[bad])));
  }
  return text;
}

std::optional<std::string> CannotWriteInto(const std::string& folder) {
  if (folder.empty()) return "'': give the name of a folder";
  std::error_code failed;
  // The nearest that is there has to be a folder that takes new entries.
  fs::path at = fs::absolute(folder, failed).lexically_normal();
  while (!fs::exists(at, failed) && at.has_relative_path()) at = at.parent_path();
  if (!fs::is_directory(at, failed)) return fmt::format("{}: {} is a file, not a folder", folder, at.string());
  if (access(at.c_str(), W_OK | X_OK) != 0) {
    return fmt::format("{}: nothing can be written into {} ({})", folder, at.string(), std::strerror(errno));
  }
  return std::nullopt;
}

std::optional<std::string> CannotWrite(const std::string& path) {
  std::error_code failed;
  if (path.empty()) return "'': give the name of a file";
  if (fs::is_directory(path, failed)) return fmt::format("{}: this is a folder; give the name of a file", path);
  if (fs::exists(path, failed)) {
    if (access(path.c_str(), W_OK) == 0) return std::nullopt;
    return fmt::format("{}: it cannot be written ({})", path, std::strerror(errno));
  }
  const fs::path parent = fs::absolute(path, failed).parent_path();
  if (!fs::exists(parent, failed)) return fmt::format("{}: there is no folder {}", path, parent.string());
  if (auto wrong = CannotWriteInto(parent.string())) return fmt::format("{}: it cannot be written", path);
  return std::nullopt;
}

OrError<bool> WriteTextFile(const std::string& path, const std::string& text) {
  if (auto wrong = CannotWrite(path)) return InputError{*wrong};
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush()) {
    return InputError{
        fmt::format("{}: it cannot be written ({})", path, errno != 0 ? std::strerror(errno) : "the disk may be full")};
  }
  return true;
}

}  // namespace plumbline::harness
