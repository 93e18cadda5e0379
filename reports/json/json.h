// The canonical JSON form of a run: keys and cases sorted, no times, so that two equal runs are byte-equal and `diff`
// is the comparison. Its schema is reports/schema/run.schema.json; side notes go to a file of their own.
//
//   out << ToJson(run);
//   ReadResult read = FromJson(text);   // read.error says what is wrong and where
//
// Thread-safe: no state.
#ifndef PLUMBLINE_REPORTS_JSON_JSON_H_
#define PLUMBLINE_REPORTS_JSON_JSON_H_

#include <string>
#include <string_view>

#include "reports/result/result.h"

namespace plumbline::reports {

std::string ToJson(const Run& run);
std::string ToJson(const SideNotes& notes);

struct ReadResult {
  Run run;
  std::string error;  // empty: read
};
ReadResult FromJson(std::string_view text);

struct ReadNotesResult {
  SideNotes notes;
  std::string error;  // empty: read
};
ReadNotesResult NotesFromJson(std::string_view text);

}  // namespace plumbline::reports

#endif  // PLUMBLINE_REPORTS_JSON_JSON_H_
