#include "conformance/harness/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/text/shown.h"

namespace plumbline::harness {
namespace {

namespace fs = std::filesystem;

// Where the first byte stands that no text holds: a zero, or one that is no UTF-8.
std::size_t FirstBadByte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = reports::CharacterLength(text.substr(at));
    if (length == 0 || text[at] == '\0') return at;
    at += length;
  }
  return std::string_view::npos;
}

// Closes itself; -1 if it could not be opened, with errno.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  // Zero, or the error number: some writes fail only now.
  int Close() {
    if (number_ < 0) return 0;
    const int failed = close(std::exchange(number_, -1)) == 0 ? 0 : errno;
    return failed == EINTR ? 0 : failed;
  }

 private:
  int number_;
};

std::string KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "";
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

int ReadFrom(const Descriptor& file, std::size_t most_bytes, std::string& bytes) {
  if (file.number() < 0) return errno;
  char buffer[1 << 16];
  while (bytes.size() <= most_bytes) {
    const ssize_t got = read(file.number(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
  return 0;
}

// Reads a file; the error number, 0 if all is well. `no_file` says what it is instead of a
// regular file; standard input may be anything.
int ReadBytes(const std::string& path, std::size_t most_bytes, std::string& bytes, std::string& no_file) {
  if (path == kStandardInput) return ReadFrom(Descriptor(dup(STDIN_FILENO)), most_bytes, bytes);
  struct stat status {};
  // Before it is opened: for some devices that does something. And after it: it may have been replaced.
  if (stat(path.c_str(), &status) != 0) return errno;
  no_file = KindOf(status.st_mode);
  if (!no_file.empty()) return 0;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0 || fstat(file.number(), &status) != 0) return errno;
  no_file = KindOf(status.st_mode);
  if (!no_file.empty()) return 0;
  if (static_cast<std::uintmax_t>(status.st_size) > most_bytes) {
    bytes.resize(most_bytes + 1);
    return 0;
  }
  return ReadFrom(file, most_bytes, bytes);
}

// Zero, or the error number.
int WriteBytes(Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return file.Close();
}

// Makes a file that is not there, fills a block of the disk, and takes it away again; the error number.
int TryToMake(const std::string& path) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.number() < 0) return errno;
  const int failed = WriteBytes(file, std::string(4096, ' '));
  unlink(path.c_str());
  return failed;
}

// For a file that is there: opens it, and asks a device for a write of nothing, which a full one refuses.
int TryToOpen(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (S_ISFIFO(status.st_mode)) return access(path.c_str(), W_OK) == 0 ? 0 : errno;  // opening it is for the writer
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.number() < 0) return errno;
  return S_ISCHR(status.st_mode) && write(file.number(), "", 0) < 0 ? errno : 0;
}

std::string Unwritable(const std::string& path, int error) {
  return fmt::format("{}: it cannot be written ({})", path, std::strerror(error));
}

}  // namespace

std::string NameOfFile(const std::string& path) { return path == kStandardInput ? "standard input" : path; }

OrError<std::string> ReadTextFile(const std::string& path, const std::string& wanted, std::size_t most_bytes) {
  const auto wrong = [&](const std::string& what) {
    return InputError{fmt::format("{}: {}; give {}", path.empty() ? "''" : NameOfFile(path), what, wanted)};
  };
  std::string text, no_file;
  switch (const int error = ReadBytes(path, most_bytes, text, no_file)) {
    case 0:
      break;
    case ENOENT:
    case ENOTDIR:
      return wrong("there is no such file");
    default:
      return wrong(fmt::format("it cannot be read ({})", std::strerror(error)));
  }
  if (!no_file.empty()) return wrong(fmt::format("this is {}", no_file));
  if (text.size() > most_bytes) return wrong(fmt::format("it holds more than {} MiB", most_bytes >> 20));
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

std::optional<std::string> NoRegularFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  const std::string kind = KindOf(status.st_mode);
  return kind.empty() ? std::nullopt : std::optional(kind);
}

std::optional<std::string> CannotWriteInto(const std::string& folder) {
  if (folder.empty()) return "'': give the name of a folder";
  std::error_code failed;
  const fs::path whole = fs::absolute(folder, failed).lexically_normal();
  // The nearest that is there has to be a folder that takes new entries.
  fs::path at = whole;
  std::vector<fs::path> missing;  // inmost first
  for (; !fs::exists(at, failed) && at.has_relative_path(); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  if (!fs::is_directory(at, failed)) return fmt::format("{}: {} is a file, not a folder", folder, at.string());
  // What only trying tells: /proc, a full disk, a disk that is read-only.
  std::vector<fs::path> made;
  int error = 0;
  for (auto next = missing.rbegin(); next != missing.rend() && error == 0; ++next) {
    if (mkdir(next->c_str(), 0777) == 0) {
      made.push_back(*next);
    } else if (errno != EEXIST) {
      error = errno;
    }
  }
  if (error == 0) error = TryToMake((whole / fmt::format(".plumbline-writes-here-{}", getpid())).string());
  for (auto last = made.rbegin(); last != made.rend(); ++last) rmdir(last->c_str());
  if (error == 0) return std::nullopt;
  return fmt::format("{}: nothing can be written into {} ({})", folder, at.string(), std::strerror(error));
}

std::optional<std::string> CannotWrite(const std::string& path) {
  std::error_code failed;
  if (path.empty()) return "'': give the name of a file";
  if (fs::is_directory(path, failed)) return fmt::format("{}: this is a folder; give the name of a file", path);
  const fs::path parent = fs::absolute(path, failed).parent_path();
  const bool there = fs::exists(path, failed);
  if (!there && !fs::exists(parent, failed)) return fmt::format("{}: there is no folder {}", path, parent.string());
  const int error = there ? TryToOpen(path) : TryToMake(path);
  return error == 0 ? std::nullopt : std::optional(Unwritable(path, error));
}

OrError<bool> WriteTextFile(const std::string& path, const std::string& text) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    return InputError{fmt::format("{}: this is a folder; give the name of a file", path)};
  }
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const int error = file.number() < 0 ? errno : WriteBytes(file, text);
  if (error != 0) return InputError{Unwritable(path, error)};
  return true;
}

}  // namespace plumbline::harness
