#include "conformance/cli/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include "conformance/cli/paint.h"

namespace plumbline::cli {

Progress::Progress() : Progress(stderr, isatty(STDERR_FILENO) == 1, Clock::now()) {}

Progress::Progress(std::FILE* to, bool terminal, Clock::time_point now)
    : to_(to), terminal_(terminal), begin_(now), last_(now) {}

void Progress::Show(std::size_t done, std::size_t total, std::string_view what, Clock::time_point now) {
  if (terminal_) {
    Clear();
    Print(to_, "[{}/{}] {:.60}", done, total, what);
    shown_ = true;
  } else {
    if (now - last_ < kEvery) return;
    last_ = now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - begin_).count();
    Print(to_, "[{}/{}] after {} s\n", done, total, seconds);
  }
  std::fflush(to_);
}

void Progress::Clear() {
  if (shown_) Print(to_, "\r\x1b[K");
  shown_ = false;
}

}  // namespace plumbline::cli
