#include "fuzz/cli/target_run.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace plumbline::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptLines = 200;
constexpr std::size_t kLongestLine = 4096;

std::uint64_t FilesIn(const std::string& folder) {
  std::error_code failed;
  std::uint64_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder, failed)) files += entry.is_regular_file(failed) ? 1 : 0;
  return files;
}

}  // namespace

TargetRun::~TargetRun() {
  if (process_ > 0 && !done_) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (pipe_ >= 0) close(pipe_);
}

std::optional<std::string> TargetRun::Start() {
  std::error_code failed;
  fs::create_directories(options_.corpus, failed);
  if (failed) return fmt::format("{}: cannot be made ({})", options_.corpus, failed.message());
  inputs_before_ = FilesIn(options_.corpus);

  // A stuck input is one that takes longer than any should; a decoded one is better not kept short at first.
  std::vector<std::string> words = {target_.program,
                                    fmt::format("-max_total_time={}", options_.seconds),
                                    "-timeout=25",
                                    "-rss_limit_mb=4096",
                                    "-print_final_stats=1",
                                    "-use_value_profile=0",
                                    fmt::format("-max_len={}", target_.longest_input),
                                    fmt::format("-artifact_prefix={}/{}-", options_.failures, target_.name)};
  if (target_.decoded) words.emplace_back("-len_control=0");
  if (!target_.dictionary.empty()) words.push_back("-dict=" + target_.dictionary);
  words.push_back(options_.corpus);
  if (!target_.seeds.empty()) words.push_back(target_.seeds);

  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fmt::format("no pipe to read from: {}", std::strerror(errno));
  process_ = fork();
  if (process_ < 0) {
    close(ends[0]);
    close(ends[1]);
    return fmt::format("no process for {}: {}", target_.name, std::strerror(errno));
  }
  if (process_ == 0) {
    setpgid(0, 0);  // an interrupt is for us to pass on
    dup2(ends[1], STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    // Twice as fast, and what it finds beyond is found by no target: nothing here returns addresses of its own stack.
    setenv("ASAN_OPTIONS", "detect_stack_use_after_return=0", 0);
    setenv("UBSAN_OPTIONS", "print_stacktrace=1", 0);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  began_ = ended_ = last_progress_ = Clock::now();
  return std::nullopt;
}

void TargetRun::Stop() {
  if (done_ || process_ <= 0) return;
  stopped_ = true;
  kill(process_, SIGINT);
}

void TargetRun::Pump() {
  if (done_) return;
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t got = read(pipe_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // nothing yet
    if (got == 0) return Finish();
    partial_.append(bytes.data(), static_cast<std::size_t>(got));
    std::size_t from = 0;
    for (std::size_t end; (end = partial_.find('\n', from)) != std::string::npos; from = end + 1) {
      TakeLine(partial_.substr(from, end - from));
    }
    partial_.erase(0, from);
    if (partial_.size() > kLongestLine) partial_.erase(kLongestLine);
  }
}

void TargetRun::TakeLine(const std::string& line) {
  const std::uint64_t before = output_.executions;
  output_.Read(line);
  if (output_.executions != before) last_progress_ = Clock::now();
  // Progress is told in other ways.
  if (line.starts_with('#') || line.find("NEW_FUNC") != std::string::npos) return;
  last_lines_.push_back(line.substr(0, kLongestLine));
  if (last_lines_.size() > kKeptLines) last_lines_.pop_front();
}

void TargetRun::Finish() {
  int status = 0;
  waitpid(process_, &status, 0);
  exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended_ = Clock::now();
  done_ = true;
  const std::uint64_t inputs = FilesIn(options_.corpus);
  new_inputs_ = inputs > inputs_before_ ? inputs - inputs_before_ : 0;
  for (const std::string& finding : output_.findings) std::ofstream(finding + ".txt") << LastLines();
}

std::string TargetRun::LastLines() const { return fmt::format("{}\n", fmt::join(last_lines_, "\n")); }

double TargetRun::seconds() const {
  return std::chrono::duration<double>((done_ ? ended_ : Clock::now()) - began_).count();
}

double TargetRun::ExecutionsPerSecond() const {
  const double seconds = std::chrono::duration<double>(last_progress_ - began_).count();
  return seconds > 0 ? static_cast<double>(output_.executions) / seconds : 0;
}

}  // namespace plumbline::fuzz
