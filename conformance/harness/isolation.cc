#include "conformance/harness/isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "reports/text/shown.h"

namespace plumbline::harness {
namespace {

using Clock = std::chrono::steady_clock;

// ---- a file descriptor with an owner ----

class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { Close(); }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

// ---- frames: a length, then bytes ----

bool WriteAll(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t wrote = send(fd, at, size, MSG_NOSIGNAL);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
  return true;
}

enum class ReadEnd { kDone, kClosed, kLate, kGarbled };

// Before each frame, so that what a backend writes to a descriptor that is not its own is not taken for one.
constexpr std::uint64_t kFrameMark = 0x0a656e696c626d75u;
constexpr const char* kWroteThere = "wrote to a file descriptor that is not its own, the one that answers go through";
constexpr std::uint64_t kMostOfAFrame = std::uint64_t{1} << 32;

bool WriteFrame(int fd, const std::string& text) {
  const std::uint64_t head[] = {kFrameMark, text.size()};
  return WriteAll(fd, head, sizeof(head)) && WriteAll(fd, text.data(), text.size());
}

// `process`: whose end ends it too, if not -1. A child that it left behind may hold the other end of `fd` open.
ReadEnd ReadAll(int fd, void* data, std::size_t size, std::optional<Clock::time_point> deadline, int process = -1) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      pollfd poll_for[] = {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = process, .events = POLLIN, .revents = 0}};
      const int ready = poll(poll_for, 2, static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return ReadEnd::kLate;
      if (poll_for[0].revents == 0 && poll_for[1].revents != 0) return ReadEnd::kClosed;
    }
    const ssize_t got = recv(fd, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ReadEnd::kClosed;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return ReadEnd::kDone;
}

ReadEnd ReadFrame(int fd, std::string& text, std::optional<Clock::time_point> deadline, int process = -1) {
  std::uint64_t head[2] = {};
  if (const ReadEnd end = ReadAll(fd, head, sizeof(head), deadline, process); end != ReadEnd::kDone) return end;
  const auto [mark, size] = head;
  if (mark != kFrameMark || size > kMostOfAFrame) return ReadEnd::kGarbled;
  text.resize(size);
  return ReadAll(fd, text.data(), size, deadline, process);
}

// ---- asking the parent of executors ----

struct Order {
  enum Kind : std::uint32_t { kSpawn, kReap } kind;
  pid_t pid;
};

constexpr int kPassed = 3;  // the executor's socket, its output, its progress

bool SendOrder(int socket, const Order& order, const std::array<int, kPassed>* fds) {
  iovec part{.iov_base = const_cast<Order*>(&order), .iov_len = sizeof(order)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kPassed)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fds != nullptr) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * kPassed);
    memcpy(CMSG_DATA(header), fds->data(), sizeof(int) * kPassed);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(order));
}

bool ReceiveOrder(int socket, Order& order, std::array<int, kPassed>& fds) {
  iovec part{.iov_base = &order, .iov_len = sizeof(order)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kPassed)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(order))) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr) memcpy(fds.data(), CMSG_DATA(header), sizeof(int) * kPassed);
  return true;
}

// ---- what a child is set up with ----

// In a process group of its own, so that what a backend sends to its group reaches nobody else.
void DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it was gone before the line above
  setpgid(0, 0);
}

void RedirectOutput(int output) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    close(nothing);
  }
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
}

Fd MakeOutput() {
  Fd output(memfd_create("plumbline-output", MFD_CLOEXEC));
  // Appending: several processes and both streams write into it.
  if (output.get() >= 0) fcntl(output.get(), F_SETFL, fcntl(output.get(), F_GETFL) | O_APPEND);
  return output;
}

std::string Tail(int fd) {
  constexpr off_t kMost = 4096;
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kMost);
  std::string text(static_cast<std::size_t>(size - from), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), from);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (from > 0) text = "..." + text.substr(std::min(text.size(), text.find('\n')));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string DescribeStatus(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  if (WIFEXITED(status)) return fmt::format("left with exit status {}", WEXITSTATUS(status));
  return fmt::format("ended with wait status {}", status);
}

// What an executor leaves with whose socket was closed under it.
constexpr int kChannelClosed = 117;
constexpr const char* kClosedThere = "closed a file descriptor that is not its own, the one that answers go through";

[[noreturn]] void RunExecutor(const Service& service, int socket, Progress* progress) {
  std::string request;
  while (ReadFrame(socket, request, std::nullopt) == ReadEnd::kDone) {
    std::string answer;
    try {
      answer = service.serve(request, *progress);
    } catch (...) {
      // `serve` deals with the backend's exceptions; this is one of our own, and the asker shall see a crash.
      std::fputs("plumbline: an exception left the executor's own code\n", stderr);
      std::terminate();
    }
    if (!WriteFrame(socket, answer)) break;
  }
  LeaveProcess(fcntl(socket, F_GETFD) >= 0 ? 0 : kChannelClosed);
}

[[noreturn]] void RunZygote(const Service& service, int socket) {
  std::string wrong;
  try {
    wrong = service.prepare();
  } catch (const std::exception& error) {
    wrong = fmt::format("an exception was thrown: {}", error.what());
  } catch (...) {
    wrong = "an exception was thrown";
  }
  if (!WriteFrame(socket, wrong) || !wrong.empty()) LeaveProcess(0);
  Order order;
  std::array<int, kPassed> fds;
  while (ReceiveOrder(socket, order, fds)) {
    if (order.kind == Order::kReap) {
      int status = 0;
      while (waitpid(order.pid, &status, 0) < 0 && errno == EINTR) {
      }
      if (!WriteAll(socket, &status, sizeof(status))) break;
      continue;
    }
    std::fflush(nullptr);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      DieWithParent(parent);
      close(socket);
      RedirectOutput(fds[1]);
      void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fds[2], 0);
      if (shared == MAP_FAILED) _exit(125);
      RunExecutor(service, fds[0], static_cast<Progress*>(shared));
    }
    for (const int fd : fds) close(fd);
    if (!WriteAll(socket, &child, sizeof(child))) break;
  }
  LeaveProcess(0);
}

}  // namespace

void LeaveProcess(int status) {
#if defined(PLUMBLINE_FLUSH_COVERAGE)
  std::exit(status);  // each shared object writes its own counters from a destructor
#else
  std::fflush(nullptr);
  _exit(status);
#endif
}

struct Isolation::Executor {
  pid_t pid = -1;
  Fd socket, output, shared, process;  // `process` can be read once it has ended
  off_t copied = 0;                    // of the output
  Progress* progress = nullptr;

  ~Executor() {
    if (progress != nullptr) munmap(progress, sizeof(Progress));
  }
};

Isolation::Isolation(Service service, std::chrono::milliseconds limit) : service_(std::move(service)), limit_(limit) {}

OrError<std::unique_ptr<Isolation>> Isolation::Start(Service service, std::chrono::milliseconds limit) {
  std::unique_ptr<Isolation> made(new Isolation(std::move(service), limit));
  if (const std::string wrong = made->StartZygote(); !wrong.empty()) return InputError{wrong};
  return made;
}

Isolation::~Isolation() {
  Renew();
  EndZygote();
}

std::string Isolation::StartZygote() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return fmt::format("cannot make a socket pair: {}", strerror(errno));
  }
  Fd ours(pair[0]), theirs(pair[1]), output = MakeOutput();
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return fmt::format("cannot fork: {}", strerror(errno));
  if (child == 0) {
    DieWithParent(parent);
    ours.Close();
    RedirectOutput(output.get());
    RunZygote(service_, theirs.get());
  }
  theirs.Close();
  zygote_socket_ = ours.Release();
  zygote_ = child;
  std::string wrong;
  const ReadEnd end = ReadFrame(zygote_socket_, wrong, Clock::now() + limit_);
  if (end == ReadEnd::kDone && wrong.empty()) return wrong;
  if (end == ReadEnd::kLate || end == ReadEnd::kGarbled) kill(child, SIGKILL);
  const int status = EndZygote();
  if (end == ReadEnd::kLate) wrong = fmt::format("loading did not end within {} s", limit_.count() / 1000.0);
  if (end == ReadEnd::kGarbled) wrong = kWroteThere;
  if (end == ReadEnd::kClosed) wrong = fmt::format("loading ended the process: {}", DescribeStatus(status));
  const std::string tail = Tail(output.get());
  return tail.empty() ? wrong : wrong + "\n" + tail;
}

int Isolation::EndZygote() {
  int status = 0;
  if (zygote_ < 0) return status;
  // Not only closed: another Isolation's processes may have been forked while it was open.
  shutdown(zygote_socket_, SHUT_RDWR);
  close(zygote_socket_);
  while (waitpid(zygote_, &status, 0) < 0 && errno == EINTR) {
  }
  zygote_ = zygote_socket_ = -1;
  return status;
}

// After an order: its answer, unless the parent of executors was ended, by what ran in one of them, or stands still.
bool Isolation::ZygoteAnswers(bool asked, void* answer, std::size_t size) {
  if (asked && ReadAll(zygote_socket_, answer, size, Clock::now() + limit_) == ReadEnd::kDone) return true;
  if (zygote_ < 0) return false;
  kill(zygote_, SIGKILL);
  zygote_ended_ = DescribeStatus(EndZygote());
  return false;
}

std::string Isolation::Spawn() {
  if (zygote_ < 0) {
    if (const std::string wrong = StartZygote(); !wrong.empty()) return wrong;
  }
  auto made = std::make_unique<Executor>();
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return strerror(errno);
  made->socket = Fd(pair[0]);
  Fd theirs(pair[1]);
  made->output = MakeOutput();
  made->shared = Fd(memfd_create("plumbline-progress", MFD_CLOEXEC));
  if (made->shared.get() < 0 || ftruncate(made->shared.get(), sizeof(Progress)) != 0) return strerror(errno);
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, made->shared.get(), 0);
  if (shared == MAP_FAILED) return strerror(errno);
  made->progress = new (shared) Progress;
  const std::array<int, kPassed> fds = {theirs.get(), made->output.get(), made->shared.get()};
  if (!ZygoteAnswers(SendOrder(zygote_socket_, {Order::kSpawn, 0}, &fds), &made->pid, sizeof(made->pid))) {
    return "the process that starts them " + zygote_ended_;
  }
  if (made->pid < 0) return "it cannot be forked";
  made->process = Fd(static_cast<int>(syscall(SYS_pidfd_open, made->pid, 0)));
  executor_ = std::move(made);
  ++executors_;
  return "";
}

std::optional<int> Isolation::Reap(pid_t pid) {
  int status = 0;
  if (!ZygoteAnswers(SendOrder(zygote_socket_, {Order::kReap, pid}, nullptr), &status, sizeof(status))) {
    return std::nullopt;
  }
  return status;
}

void Isolation::Renew() {
  if (!executor_) return;
  const pid_t pid = executor_->pid;
  shutdown(executor_->socket.get(), SHUT_RDWR);  // it leaves when it reads the end
#if !defined(PLUMBLINE_FLUSH_COVERAGE)
  kill(pid, SIGKILL);  // it has answered, so it has nothing left to do
#endif
  Reap(pid);
  executor_.reset();
}

void Isolation::CopyOutput() {
  if (copy_output_to_ < 0) return;
  constexpr std::size_t kAtOnce = 1 << 16;
  const auto copy = [&](const std::string& text) {
    const std::string shown = reports::Shown(text);
    for (std::size_t at = 0; at < shown.size();) {
      const ssize_t wrote = write(copy_output_to_, shown.data() + at, shown.size() - at);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;  // nobody reads it
      at += static_cast<std::size_t>(wrote);
    }
    return true;
  };
  std::string pending;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t got = pread(executor_->output.get(), buffer, sizeof(buffer), executor_->copied);
    if (got <= 0) break;
    executor_->copied += got;
    pending.append(buffer, static_cast<std::size_t>(got));
    if (pending.size() < kAtOnce) continue;
    // Whole lines, so that no character is torn.
    const std::size_t end = pending.rfind('\n');
    if (end == std::string::npos) continue;
    if (!copy(pending.substr(0, end + 1))) return;
    pending.erase(0, end + 1);
  }
  copy(pending);
}

Reply Isolation::Ask(const std::string& request, std::chrono::milliseconds limit) {
  Reply reply;
  if (!executor_) {
    if (const std::string wrong = Spawn(); !wrong.empty()) {
      reply.what = "no executor could be started: " + wrong;
      return reply;
    }
  }
  executor_->progress->step = -1;
  ReadEnd end = ReadEnd::kClosed;
  if (WriteFrame(executor_->socket.get(), request)) {
    end = ReadFrame(executor_->socket.get(), reply.text, Clock::now() + limit, executor_->process.get());
  }
  if (end == ReadEnd::kDone) {
    reply.ending = Reply::Ending::kAnswered;
    reply.step = executor_->progress->step;
    reply.output = Tail(executor_->output.get());
    CopyOutput();
    return reply;
  }
  if (end == ReadEnd::kLate || end == ReadEnd::kGarbled) kill(executor_->pid, SIGKILL);
  const std::optional<int> status = Reap(executor_->pid);
  kill(-executor_->pid, SIGKILL);  // what it left behind
  reply.text.clear();
  reply.ending = end == ReadEnd::kLate ? Reply::Ending::kTimeout : Reply::Ending::kCrash;
  if (end == ReadEnd::kLate) {
    reply.what = fmt::format("did not end within {} s", limit.count() / 1000.0);
  } else if (end == ReadEnd::kGarbled) {
    reply.what = kWroteThere;
  } else if (!status) {
    reply.what = "ended with its parent, which " + zygote_ended_;
  } else if (WIFEXITED(*status) && WEXITSTATUS(*status) == kChannelClosed) {
    reply.what = kClosedThere;
  } else {
    reply.what = DescribeStatus(*status);
  }
  reply.output = Tail(executor_->output.get());
  reply.step = executor_->progress->step;
  CopyOutput();
  executor_.reset();
  return reply;
}

}  // namespace plumbline::harness
