// The folder that holds a run in all its forms: report.json, junit.xml and index.html, and notes.json of what may
// differ between equal runs.
//
//   if (auto wrong = CannotWriteReports("out")) return Complain(app, "--report " + *wrong);   // before the run
//   OrError<std::string> page = WriteReports("out", run, notes);                              // "out/index.html"
//
// Touches the file system; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_REPORT_FOLDER_H_
#define PLUMBLINE_CONFORMANCE_CLI_REPORT_FOLDER_H_

#include <optional>
#include <string>

#include "conformance/harness/or_error.h"
#include "reports/result/result.h"

namespace plumbline::cli {

inline constexpr const char* kReportFile = "report.json";
inline constexpr const char* kNotesFile = "notes.json";

// Why one of its files could not be written; tried, and nothing is left behind.
std::optional<std::string> CannotWriteReports(const std::string& folder);

// Makes the folder if need be; the path of the page.
harness::OrError<std::string> WriteReports(const std::string& folder, const reports::Run& run,
                                           const reports::SideNotes& notes);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_REPORT_FOLDER_H_
