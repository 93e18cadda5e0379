#include "conformance/cli/report_folder.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "conformance/harness/text_file.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "reports/junit/junit.h"

namespace plumbline::cli {
namespace {

namespace fs = std::filesystem;
using harness::InputError;
using harness::OrError;

constexpr const char* kJUnit = "junit.xml";
constexpr const char* kPage = "index.html";

}  // namespace

std::optional<std::string> CannotWriteReports(const std::string& folder) {
  if (auto wrong = harness::CannotWriteInto(folder)) return wrong;
  for (const char* name : {kReportFile, kNotesFile, kJUnit, kPage}) {
    const fs::path file = fs::path(folder) / name;
    std::error_code failed;
    // One that is not there can be made, as was just tried.
    if (!fs::exists(file, failed)) continue;
    if (auto wrong = harness::CannotWrite(file.string())) return wrong;
  }
  return std::nullopt;
}

OrError<std::string> WriteReports(const std::string& folder, const reports::Run& run, const reports::SideNotes& notes) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  const std::vector<std::pair<const char*, std::string>> files = {{kReportFile, reports::ToJson(run)},
                                                                  {kNotesFile, reports::ToJson(notes)},
                                                                  {kJUnit, reports::ToJUnit(run, notes)},
                                                                  {kPage, reports::ToHtml({run})}};
  for (const auto& [name, text] : files) {
    OrError<bool> written = harness::WriteTextFile((fs::path(folder) / name).string(), text);
    if (!written.ok()) return InputError{written.error()};
  }
  return (fs::path(folder) / kPage).string();
}

}  // namespace plumbline::cli
