// What every program ends with: what it printed has to arrive, or its exit status would lie.
//
//   int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
//
// For one thread, once.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_RUN_MAIN_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_RUN_MAIN_H_

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

namespace plumbline::harness {

// The status of `body`, or 2 if standard output could not be written, as on a full disk.
inline int RunMain(int (*body)(int, char**), int argc, char** argv) {
  int status = 2, error = 0;
  try {
    status = body(argc, argv);
  } catch (const std::system_error& failed) {  // from fmt::print, when its buffer is full
    if (std::ferror(stdout) == 0) throw;
    error = failed.code().value();
  }
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) != 0 && error == 0) error = errno;
  if (error == 0 && std::ferror(stdout) == 0 && std::cout.good()) return status;
  std::fprintf(stderr, "%s: the output cannot be written (%s)\n",
               argc > 0 ? std::filesystem::path(argv[0]).filename().c_str() : "plumbline",
               error != 0 ? std::strerror(error) : "the disk may be full");
  return 2;
}

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_RUN_MAIN_H_
