#include "reference/tensor/whole_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "reference/keys/error.h"

namespace plumbline::reference {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void Fail(const std::string& what, const std::string& path) {
  const int error = errno;
  Throw(error == ENOENT ? ErrorClass::kNotFound : ErrorClass::kInvalidArgument,
        path + " could not be " + what + ": " + std::strerror(error));
}

}  // namespace

std::string ReadWholeFile(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) Fail("read", path);
  std::string bytes;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) bytes.append(block, count);
  if (std::ferror(file.get()) != 0) Fail("read", path);
  return bytes;
}

void WriteWholeFile(const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part" + std::to_string(getpid());
  File file(std::fopen(part.c_str(), "wb"));
  if (file == nullptr) Fail("written", path);
  const bool whole = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  if (!whole || !closed || std::rename(part.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(part.c_str());
    errno = error;
    Fail("written", path);
  }
}

}  // namespace plumbline::reference
