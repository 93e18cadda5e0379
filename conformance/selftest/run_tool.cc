#include "conformance/selftest/run_tool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "conformance/harness/case_runner.h"

namespace plumbline::selftest {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string BuildFolder() {
  const char* folder = std::getenv("PLUMBLINE_BUILD");
  if (folder == nullptr) throw std::runtime_error("PLUMBLINE_BUILD is not set: run this test through ctest");
  return folder;
}

std::string Backend(const std::string& name) { return BuildFolder() + "/lib/plumbline/backends/" + name + ".so"; }

std::string Misbehaving() { return BuildFolder() + "/lib/plumbline/selftest/misbehaving.so"; }

Ran RunLine(const std::string& line, const std::map<std::string, std::string>& environment) {
  const Folder folder;
  std::string command = "cd " + harness::ShellWord(folder.path()) +
                        " && export PATH=" + harness::ShellWord(BuildFolder() + "/bin") + ":\"$PATH\" && ";
  for (const auto& [name, value] : environment) command += "export " + name + "=" + harness::ShellWord(value) + " && ";
  command += "{ " + line + "; } >out 2>err </dev/null";
  const int status = std::system(command.c_str());
  Ran ran{.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = ReadAll(fs::path(folder.path()) / "out"),
          .err = ReadAll(fs::path(folder.path()) / "err")};
  return ran;
}

Ran RunTool(const std::string& arguments, const std::map<std::string, std::string>& environment) {
  return RunLine("plumbline " + arguments, environment);
}

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "plumbline-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("cannot make a folder " + pattern);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
}

std::string Folder::Write(const std::string& name, const std::string& text) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string Folder::Read(const std::string& name) const { return ReadAll(fs::path(path_) / name); }

}  // namespace plumbline::selftest
