#include "fuzz/replay/inputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;

std::string Because(const std::error_code& failed) { return " (" + failed.message() + ")"; }

}  // namespace

std::optional<std::string> CollectInputs(const std::string& path, std::vector<std::string>& files) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) return path + ": there is no such file or folder";
  if (failed) return path + ": it cannot be looked at" + Because(failed);
  if (fs::is_regular_file(status)) {
    files.push_back(path);
    return std::nullopt;
  }
  if (!fs::is_directory(status)) return path + ": this is neither a file nor a folder";
  fs::recursive_directory_iterator at(path, failed);
  while (!failed && at != fs::recursive_directory_iterator()) {
    std::error_code unknown;  // a link that leads nowhere is no input
    if (at->is_regular_file(unknown)) files.push_back(at->path().string());
    at.increment(failed);
  }
  if (failed) return path + ": this folder cannot be read" + Because(failed);
  return std::nullopt;
}

std::optional<std::string> ReadInput(const std::string& file, std::vector<std::uint8_t>& bytes) {
  const auto cannot = [&] { return file + ": it cannot be read (" + std::strerror(errno) + ")"; };
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot();
  std::optional<std::string> wrong;
  std::array<std::uint8_t, 65536> part;
  bytes.clear();
  while (!wrong) {
    const ssize_t got = read(descriptor, part.data(), part.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      wrong = cannot();
    } else if (bytes.size() + static_cast<std::size_t>(got) > kLargestInput) {
      wrong = file + ": it holds more than " + std::to_string(kLargestInput) + " bytes, as no input does";
    } else {
      bytes.insert(bytes.end(), part.begin(), part.begin() + got);
    }
  }
  close(descriptor);
  return wrong;
}

}  // namespace plumbline::fuzz
