// How far a run is, on standard error: one line that is painted over on a terminal; elsewhere, such as in the log of a
// CI, a line every half minute, so that a long run is seen to go on and a short one says nothing.
//
//   Progress progress;
//   for (...) progress.Show(++done, total, id);   // [12/755] resolution/priority
//   progress.Clear();                             // before anything else is printed
//
// One thread at a time.
#ifndef PLUMBLINE_CONFORMANCE_CLI_PROGRESS_H_
#define PLUMBLINE_CONFORMANCE_CLI_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace plumbline::cli {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kEvery{30};

  Progress();                                                     // to standard error
  Progress(std::FILE* to, bool terminal, Clock::time_point now);  // `to` outlives it

  void Show(std::size_t done, std::size_t total, std::string_view what) { Show(done, total, what, Clock::now()); }
  void Show(std::size_t done, std::size_t total, std::string_view what, Clock::time_point now);
  void Clear();

 private:
  std::FILE* to_;
  bool terminal_, shown_ = false;
  Clock::time_point begin_, last_;
};

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_PROGRESS_H_
