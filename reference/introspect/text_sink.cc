#include "reference/introspect/text_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace plumbline::reference {

namespace {

int OpenToAppend(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

std::string CannotOpen(const std::string& path) {
  return "cannot open '" + path + "': " + std::strerror(errno) + ". Give it 'stderr' or a path";
}

}  // namespace

std::string TextSink::WhatIsWrongWith(std::string_view target) {
  if (target == "stderr") return "";
  const std::string path(target);
  const int descriptor = OpenToAppend(path);
  if (descriptor < 0) return CannotOpen(path);
  close(descriptor);
  return "";
}

std::unique_ptr<TextSink> TextSink::Open(std::string_view target, std::string_view variable) {
  if (target == "stderr") return std::unique_ptr<TextSink>(new TextSink(STDERR_FILENO, ""));
  const std::string path(target);
  const int descriptor = OpenToAppend(path);
  if (descriptor < 0) {
    std::fprintf(stderr, "plumbline: %s: %s\n", std::string(variable).c_str(), CannotOpen(path).c_str());
    return nullptr;
  }
  const std::string prefix = variable.empty() ? "" : std::string(variable) + ": ";
  return std::unique_ptr<TextSink>(new TextSink(descriptor, prefix + "'" + path + "'"));
}

TextSink::~TextSink() {
  if (!name_.empty()) close(descriptor_);
}

void TextSink::Write(std::string line) {
  line += '\n';
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      if (!name_.empty() && !complained_.exchange(true, std::memory_order_relaxed)) {
        std::fprintf(stderr, "plumbline: %s cannot be written (%s); its lines are lost\n", name_.c_str(),
                     std::strerror(error));
      }
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace plumbline::reference
