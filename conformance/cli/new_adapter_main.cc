// plumbline new-adapter: writes the start of a backend of one's own, which builds and fails nothing.

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "conformance/cli/command_line.h"
#include "conformance/cli/new_adapter.h"
#include "conformance/cli/paint.h"
#include "conformance/harness/backend_file.h"
#include "conformance/harness/case_runner.h"
#include "conformance/harness/data_folder.h"
#include "conformance/harness/run_main.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;

int Main(int argc, char** argv) {
  CLI::App app(
      "Writes the start of a backend of your own into a folder: one source file, a CMakeLists.txt and a README. It "
      "builds\n"
      "as it is and claims nothing, so that its first check fails nothing; then you add members, each of which claims\n"
      "more.",
      "plumbline new-adapter");
  NewAdapterOptions options;
  app.add_option("folder", options.folder, "where it goes; made if need be, and no file in it is overwritten")
      ->required()
      ->type_name("DIR");
  app.add_option("--name", options.name,
                 "of the backend: a letter, then letters, digits and _; else that of the folder")
      ->type_name("NAME");
  app.footer(
      "  plumbline new-adapter mine && cmake -S mine -B mine/build && cmake --build mine/build\n"
      "Exit status: 0 written; 2 bad input.");
  if (auto status = ParseCommandLine(app, argc, argv)) return *status;

  options.templates = harness::NewAdapterFolder();
  harness::OrError<NewAdapter> made = WriteNewAdapter(options);
  if (!made.ok()) return Complain(app, made.error());

  for (const std::string& file : made->files) Print("wrote {}\n", file);
  const std::string folder = harness::ShellPath(fs::path(options.folder).lexically_normal().string());
  const std::string build = harness::ShellPath((fs::path(options.folder) / "build").lexically_normal().string());
  const std::string object =
      harness::ShellPath((fs::path(options.folder) / "build" / (made->name + ".so")).lexically_normal().string());
  // The prefix that this program is installed in, or the build folder, which has the same places.
  const fs::path root = (fs::path(harness::ProgramFolder()) / "..").lexically_normal().parent_path();
  const bool standard_place = root == "/usr" || root == "/usr/local";
  Print(
      "\n"
      "Next, build it and see that it fails nothing:\n"
      "\n"
      "  cmake -S {} -B {}{}\n"
      "  cmake --build {}\n"
      "  plumbline check --backend {}\n"
      "\n"
      "Then open {} and add the members that it names, in that order; while nothing fails, check says what comes "
      "next.\n",
      folder, build, standard_place ? "" : " -DCMAKE_PREFIX_PATH=" + harness::ShellWord(root.string()), build, object,
      (fs::path(options.folder) / "adapter.cc").lexically_normal().string());
  return kGood;
}

}  // namespace
}  // namespace plumbline::cli

int main(int argc, char** argv) { return plumbline::harness::RunMain(&plumbline::cli::Main, argc, argv); }
