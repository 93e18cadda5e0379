// Reports of runs, as JSON.
//
// Property: a text is read, or refused with words; what was read is written so that it reads back and is written alike;
// it has no difference from itself; every format can be made of it; and it is the merge of itself alone.
#include "fuzz/targets/property.h"
#include "reports/diff/diff.h"
#include "reports/html/html.h"
#include "reports/json/json.h"
#include "reports/junit/junit.h"
#include "reports/terminal/terminal.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plumbline;
  const std::string_view text = fuzz::Text(data, size);
  const reports::ReadResult read = reports::FromJson(text);
  if (!read.error.empty()) return 0;
  const std::string written = reports::ToJson(read.run);
  reports::ReadResult again = reports::FromJson(written);
  fuzz::Require(again.error.empty(), "a written report cannot be read", written, again.error);
  fuzz::Require(reports::ToJson(again.run) == written, "a report is written in two ways", text, written);
  fuzz::Require(reports::Diff(read.run, again.run).empty(), "a report differs from itself", written);
  fuzz::Require(reports::Unlike(read.run, again.run).empty() || read.run.shards > 1, "a report is unlike itself",
                written);

  reports::Summary(again.run, {.colour = true});
  reports::ToHtml({again.run});
  reports::ToJUnit(again.run, {});
  reports::ByClause(again.run);
  reports::Good(again.run);

  const reports::MergeResult alone = reports::Merge({again.run});
  if (alone.error.empty()) {
    fuzz::Require(again.run.shards == 1, "one shard of several is merged alone", written);
    // Blocked failures are marked anew; a second merge finds nothing more.
    const reports::MergeResult twice = reports::Merge({alone.run});
    fuzz::Require(twice.error.empty(), "what was merged cannot be merged again", written, twice.error);
    fuzz::Require(reports::ToJson(twice.run) == reports::ToJson(alone.run), "merging again changes a report", written);
  }
  fuzz::Require(!reports::Merge({again.run, again.run}).error.empty(), "the same shard twice is merged", written);
  return 0;
}
