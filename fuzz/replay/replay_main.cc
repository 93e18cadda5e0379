// Runs a fuzz target over files, without a fuzzing engine: built by any compiler, so that what was found once is tried
// by every `ctest`.
//
//   NAME_replay FILE|FOLDER...     // each file is one input; folders are searched
//
// The name of each input is printed before it runs if it is the only one; else it is told when the process dies.
// Exit status: 0 all inputs held; 2 bad input. An input that breaks the property ends the process as a crash.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/targets/property.h"

namespace {

namespace fs = std::filesystem;

char running[4096] = "";

void TellWhichInput(int signal) {
  const char* const parts[] = {"\nthe input is ", running, "\n"};
  for (const char* part : parts) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

// False: there is no such file.
bool Collect(const std::string& path, std::vector<std::string>& into) {
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) into.push_back(entry.path().string());
    }
    return true;
  }
  into.push_back(path);
  return fs::is_regular_file(path);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (Collect(argv[i], files)) continue;
    std::fprintf(stderr, "%s: there is no such file or folder; give inputs of the target\n", argv[i]);
    return 2;
  }
  if (files.empty()) {
    std::fprintf(stderr, "usage: %s FILE|FOLDER...\nRuns the fuzz target over each file; there is none.\n", argv[0]);
    return 2;
  }
  std::sort(files.begin(), files.end());
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::signal(signal, &TellWhichInput);
  for (const std::string& file : files) {
    std::strncpy(running, file.c_str(), sizeof running - 1);
    std::ifstream in(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    // In memory of its own, so that a sanitizer sees where it ends.
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs\n", files.size());
  return 0;
}
