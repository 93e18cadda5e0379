#include "conformance/cli/new_adapter.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "conformance/harness/text_file.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using harness::InputError;
using harness::OrError;

bool IsLetterOrDigit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "libmy-device.v2" as "my_device_v2".
std::string IdentifierOf(std::string text) {
  if (text.starts_with("lib") && text.size() > 3) text.erase(0, 3);
  for (char& c : text) {
    if (!IsLetterOrDigit(c)) c = '_';
  }
  return text;
}

bool IsIdentifier(const std::string& name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsLetterOrDigit(c) || c == '_'; });
}

// The name becomes that of a CMake project, of its target and of a file.
constexpr std::size_t kLongestName = 64;
constexpr std::array<std::string_view, 12> kTargetsOfCMake = {
    "all",     "clean",      "depend",         "edit_cache",    "help", "install", "list_install_components",
    "package", "preinstall", "package_source", "rebuild_cache", "test"};

// Empty: it can be one.
std::string WhyNoName(const std::string& name) {
  if (!IsIdentifier(name)) return "a name is a letter, then letters, digits and _";
  if (name.size() > kLongestName) {
    return fmt::format("it has {} characters, and {} are the most", name.size(), kLongestName);
  }
  const bool taken = std::find(kTargetsOfCMake.begin(), kTargetsOfCMake.end(), name) != kTargetsOfCMake.end();
  return taken ? "CMake has a target of this name; take another" : "";
}

void Replace(std::string& text, const std::string& placeholder, const std::string& value) {
  for (std::size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + value.size())) {
    text.replace(at, placeholder.size(), value);
  }
}

}  // namespace

std::string ClassNameOf(std::string_view name) {
  std::string result;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

OrError<NewAdapter> WriteNewAdapter(const NewAdapterOptions& options) {
  std::error_code failed;
  NewAdapter made;
  made.name = options.name;
  if (made.name.empty()) {
    // "mine/" and "." have a last part too.
    fs::path folder = fs::absolute(options.folder, failed).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    made.name = IdentifierOf(folder.filename().string());
    if (const std::string why = WhyNoName(made.name); !why.empty()) {
      return InputError{
          fmt::format("the folder's name gives no name for the backend ('{}': {}); say --name", made.name, why)};
    }
  }
  if (const std::string why = WhyNoName(made.name); !why.empty()) {
    return InputError{fmt::format("--name {}: {}", made.name, why)};
  }

  std::vector<std::pair<fs::path, std::string>> files;
  for (const auto& entry : fs::directory_iterator(options.templates, failed)) {
    if (entry.path().extension() != ".in") continue;
    OrError<std::string> read = harness::ReadTextFile(entry.path().string(), "a template of a new adapter");
    if (!read.ok()) return InputError{read.error()};
    std::string& text = *read;
    Replace(text, "@NAME@", made.name);
    Replace(text, "@CLASS@", ClassNameOf(made.name));
    files.emplace_back(fs::path(options.folder) / entry.path().stem(), std::move(text));
  }
  if (files.empty()) {
    return InputError{fmt::format("{}: the files of a new adapter are missing there; is Plumbline installed in full?",
                                  options.templates)};
  }
  std::sort(files.begin(), files.end());
  for (const auto& [path, text] : files) {
    if (fs::exists(path, failed)) {
      return InputError{
          fmt::format("{}: there is such a file already, and it is left as it is; name another folder", path.string())};
    }
  }
  fs::create_directories(options.folder, failed);
  if (!fs::is_directory(options.folder)) {
    return InputError{
        fmt::format("{}: cannot make this folder: {}", options.folder, failed ? failed.message() : "it is a file")};
  }
  for (const auto& [path, text] : files) {
    OrError<bool> written = harness::WriteTextFile(path.string(), text);
    if (!written.ok()) return InputError{written.error()};
    made.files.push_back(path.string());
  }
  return made;
}

}  // namespace plumbline::cli
