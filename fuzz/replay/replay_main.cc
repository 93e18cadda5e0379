// Runs a fuzz target over files, without a fuzzing engine: built by any compiler, so that what was found once is tried
// by every `ctest`.
//
//   NAME_replay FILE|FOLDER...     // each file is one input; folders are searched
//
// Exit status: 0 all inputs held; 2 bad input, such as a file that cannot be read. An input that breaks the property
// ends the process as a crash, and its name is told.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/replay/inputs.h"
#include "fuzz/targets/property.h"

namespace {

char running[4096] = "";

void TellWhichInput(int signal) {
  const char* const parts[] = {"\nthe input is ", running, "\n"};
  for (const char* part : parts) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

int Complain(const std::string& message) {
  std::fprintf(stderr, "%s; give inputs of the target\n", message.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (const auto wrong = plumbline::fuzz::CollectInputs(argv[i], files)) return Complain(*wrong);
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s FILE|FOLDER...\nRuns the fuzz target over each file; there is none.\n", argv[0]);
    return 2;
  }
  std::sort(files.begin(), files.end());
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(signal, &TellWhichInput);
  for (const std::string& file : files) {
    std::strncpy(running, file.c_str(), sizeof running - 1);
    std::vector<std::uint8_t> bytes;
    if (const auto wrong = plumbline::fuzz::ReadInput(file, bytes)) return Complain(*wrong);
    // In memory that is no larger, so that a sanitizer sees where it ends.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
