// Runs code that may crash, hang, leave or throw in processes of its own, so that it costs only one answer.
//
//   Service service{.prepare = [] { return LoadIt(); },            // once, in the parent of all executors
//                   .serve = [](const std::string& request, Progress& progress) { return Answer(request); }};
//   OrError<std::unique_ptr<Isolation>> isolation = Isolation::Start(service, std::chrono::seconds(60));
//   Reply reply = (*isolation)->Ask("request", std::chrono::seconds(10));
//   (*isolation)->Renew();                                         // the next request gets a fresh executor
//
// Three processes: this one, which never runs `prepare` or `serve`; a parent of executors, forked from it, which runs
// `prepare` and then only forks; executors, which run `serve` until they are renewed or fail. After a failure the next
// request gets a fresh executor by itself, and where an executor has ended its parent too, a fresh one of these.
// Executors end with the process that asked for them.
//
// Start it before this process has other threads. An Isolation belongs to one thread at a time; it owns its processes.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_ISOLATION_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_ISOLATION_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/harness/or_error.h"

namespace plumbline::harness {

// Written by the executor as it goes, read by the asker when the executor has failed.
struct Progress {
  std::atomic<int> step{-1};
};

struct Service {
  std::function<std::string()> prepare;  // empty: fine; else what is wrong
  std::function<std::string(const std::string& request, Progress& progress)> serve;
};

struct Reply {
  enum class Ending { kAnswered, kCrash, kTimeout };
  Ending ending = Ending::kCrash;
  std::string text;    // kAnswered: what `serve` returned
  std::string what;    // else: "was killed by signal 11 (Segmentation fault)", "left with exit status 3", ...
  std::string output;  // the last lines of standard output and error
  int step = -1;       // the last progress
};

class Isolation {
 public:
  static OrError<std::unique_ptr<Isolation>> Start(Service service, std::chrono::milliseconds limit);
  ~Isolation();
  Isolation(const Isolation&) = delete;
  Isolation& operator=(const Isolation&) = delete;

  Reply Ask(const std::string& request, std::chrono::milliseconds limit);

  // Lets the present executor leave in its own time.
  void Renew();

  // From now on what executors write to standard output and error is also written here, after each request.
  void CopyOutputTo(int file_descriptor) { copy_output_to_ = file_descriptor; }

  // Forked so far; what a test counts.
  int executors() const { return executors_; }

 private:
  struct Executor;
  Isolation(Service service, std::chrono::milliseconds limit);
  std::string StartZygote();  // empty, or what is wrong; so is Spawn's
  int EndZygote();
  bool ZygoteAnswers(bool asked, void* answer, std::size_t size);
  std::string Spawn();
  std::optional<int> Reap(pid_t pid);  // none: the parent of executors has ended
  void CopyOutput();

  const Service service_;
  const std::chrono::milliseconds limit_;
  int zygote_socket_ = -1;
  pid_t zygote_ = -1;         // none: the next request starts one
  std::string zygote_ended_;  // how the last one did
  int executors_ = 0;
  int copy_output_to_ = -1;
  std::unique_ptr<Executor> executor_;
};

// Leaves the process without running what only its parent should run, but with coverage written.
[[noreturn]] void LeaveProcess(int status);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_ISOLATION_H_
