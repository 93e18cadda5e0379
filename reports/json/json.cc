#include "reports/json/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reports/json/object.h"

namespace plumbline::reports {
namespace {

using Json = nlohmann::json;
using Object = JsonObject;

constexpr int kFormat = 1;

Json Write(const Finding& finding) {
  return {{"summary", finding.summary},   {"scenario", finding.scenario}, {"line", finding.line},
          {"expected", finding.expected}, {"got", finding.got},           {"rule", finding.rule},
          {"rerun", finding.rerun},       {"clauses", finding.clauses}};
}

Finding ReadFinding(const Object& object) {
  return {.summary = object.Text("summary"),
          .scenario = object.Text("scenario"),
          .line = object.Int("line"),
          .expected = object.Text("expected"),
          .got = object.Text("got"),
          .rule = object.Text("rule"),
          .rerun = object.Text("rerun"),
          .clauses = object.Texts("clauses")};
}

Json Write(const CaseResult& result) {
  Json findings = Json::array();
  for (const Finding& finding : result.findings) findings.push_back(Write(finding));
  Json json = {{"id", result.id},
               {"chapter", result.chapter},
               {"clauses", result.clauses},
               {"verdict", Spelling(result.verdict)},
               {"sampled", result.sampled},
               {"accepted_by_deviation", result.accepted_by_deviation},
               {"waiver", result.waiver},
               {"waived_clauses", result.waived_clauses},
               {"missing_capabilities", result.missing_capabilities},
               {"findings", findings},
               {"blocked_by", result.blocked_by}};
  // The counts of sampled cases may differ between equal runs.
  if (!result.sampled) {
    json["scenarios"] = result.scenarios;
    json["discarded"] = result.discarded;
  }
  return json;
}

CaseResult ReadCase(const Object& object) {
  CaseResult result{.id = object.Text("id"),
                    .chapter = object.Text("chapter"),
                    .clauses = object.Texts("clauses"),
                    .verdict = object.ReadVerdict("verdict"),
                    .sampled = object.Flag("sampled"),
                    .scenarios = object.Count("scenarios", 0),
                    .discarded = object.Count("discarded", 0),
                    .accepted_by_deviation = object.Counts("accepted_by_deviation"),
                    .missing_capabilities = object.Texts("missing_capabilities"),
                    .waiver = object.Text("waiver"),
                    .waived_clauses = object.Texts("waived_clauses"),
                    .blocked_by = object.Text("blocked_by"),
                    .findings = {}};
  for (const Object& finding : object.Objects("findings")) result.findings.push_back(ReadFinding(finding));
  return result;
}

Json Write(const Clause& clause) {
  return {{"id", clause.id},           {"title", clause.title},     {"strength", clause.strength},
          {"profile", clause.profile}, {"chapter", clause.chapter}, {"text", clause.text},
          {"needs", clause.needs},     {"where", clause.where},     {"tests", clause.tests},
          {"model", clause.model},     {"faults", clause.faults}};
}

Clause ReadClause(const Object& object) {
  return {.id = object.Text("id"),
          .title = object.Text("title"),
          .strength = object.Text("strength"),
          .profile = object.Text("profile"),
          .chapter = object.Text("chapter"),
          .text = object.Text("text"),
          .needs = object.Texts("needs"),
          .where = object.Text("where"),
          .tests = object.Texts("tests"),
          .model = object.Texts("model"),
          .faults = object.Texts("faults")};
}

Json Write(const Backend& backend) {
  return {{"name", backend.name},     {"version", backend.version},     {"release", backend.release},
          {"abi", backend.abi},       {"digest", backend.digest},       {"capabilities", backend.capabilities},
          {"loaded", backend.loaded}, {"key_count", backend.key_count}, {"unknown_keys", backend.unknown_keys}};
}

Backend ReadBackend(const Object& object) {
  const std::uint64_t key_count = object.Count("key_count", 0);  // reports of older programs lack it
  return {.name = object.Text("name"),
          .version = object.Text("version"),
          .release = object.Text("release"),
          .abi = object.Text("abi"),
          .digest = object.Text("digest"),
          .capabilities = object.Texts("capabilities"),
          .loaded = object.Texts("loaded"),
          .key_count = key_count,
          .unknown_keys = key_count == 0 ? std::vector<std::string>() : object.Texts("unknown_keys")};
}

Json Write(const WaiverUse& use) {
  return {{"id", use.id},           {"clause", use.clause}, {"cause", use.cause},    {"reference", use.reference},
          {"expires", use.expires}, {"used", use.used},     {"problem", use.problem}};
}

WaiverUse ReadWaiver(const Object& object) {
  return {.id = object.Text("id"),
          .clause = object.Text("clause"),
          .cause = object.Text("cause"),
          .reference = object.Text("reference"),
          .expires = object.Text("expires"),
          .used = object.Count("used"),
          .problem = object.Text("problem")};
}

template <class Items>
Json WriteAll(const Items& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(Write(item));
  return array;
}

// Derived, for readers of the file; not read back. Without what sampled cases tried.
Json WriteCounts(Run run) {
  for (CaseResult& result : run.cases) {
    if (result.sampled) result.scenarios = 0;
  }
  const Counts counts = Count(run);
  Json json = {{"roots", counts.roots},
               {"blocked", counts.blocked},
               {"scenarios", counts.scenarios},
               {"accepted_by_deviation", counts.accepted_by_deviation}};
  for (Verdict verdict : kVerdicts) {
    const auto found = counts.by_verdict.find(verdict);
    json["by_verdict"][Spelling(verdict)] = found == counts.by_verdict.end() ? 0 : found->second;
  }
  return json;
}

}  // namespace

std::string ToJson(const Run& run) {
  Run sorted = run;
  std::sort(sorted.cases.begin(), sorted.cases.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::sort(sorted.clauses.begin(), sorted.clauses.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  std::sort(sorted.waivers.begin(), sorted.waivers.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  const Json json = {{"format", kFormat},
                     {"suite_version", sorted.suite_version},
                     {"tier", sorted.tier},
                     {"seed", sorted.seed},
                     {"filter", sorted.filter},
                     {"shard", sorted.shard},
                     {"shards", sorted.shards},
                     {"backend", Write(sorted.backend)},
                     {"clauses", WriteAll(sorted.clauses)},
                     {"cases", WriteAll(sorted.cases)},
                     {"waivers", WriteAll(sorted.waivers)},
                     {"waiver_files", sorted.waiver_files},
                     {"counts", WriteCounts(sorted)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ToJson(const SideNotes& notes) {
  const Json json = {{"seconds", notes.seconds},
                     {"seconds_by_case", notes.seconds_by_case},
                     {"tried_by_case", notes.tried_by_case},
                     {"command_line", notes.command_line},
                     {"started", notes.started},
                     {"host_note", notes.host_note}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ReadNotesResult NotesFromJson(std::string_view text) {
  try {
    const Json json = ParseJson(text);
    const Object object(json, "");
    return {{.seconds = object.Number("seconds"),
             .seconds_by_case = object.Numbers("seconds_by_case"),
             .tried_by_case = object.Counts("tried_by_case"),
             .command_line = object.Text("command_line"),
             .started = object.Text("started"),
             .host_note = object.Text("host_note")},
            ""};
  } catch (const std::invalid_argument& error) {
    return {{}, std::string("not the notes of a Plumbline report: ") + error.what()};
  }
}

ReadResult FromJson(std::string_view text) {
  const auto no_report = [](const std::string& why) { return ReadResult{{}, "not a Plumbline report: " + why}; };
  try {
    const Json json = ParseJson(text);
    const Object object(json, "");
    if (const int format = object.Int("format"); format != kFormat) {
      return {{},
              "the report has format " + std::to_string(format) + ", and this program reads format " +
                  std::to_string(kFormat)};
    }
    Run run{.suite_version = object.Text("suite_version"),
            .tier = object.Text("tier"),
            .seed = object.Count("seed"),
            .filter = object.Text("filter"),
            .shard = object.Int("shard"),
            .shards = object.Int("shards"),
            .backend = ReadBackend(object.In("backend")),
            .clauses = {},
            .cases = {},
            .waivers = {},
            .waiver_files = object.Texts("waiver_files")};
    if (run.shard < 1 || run.shard > run.shards) {
      return no_report("'shard' is " + std::to_string(run.shard) + " of " + std::to_string(run.shards));
    }
    for (const Object& clause : object.Objects("clauses")) run.clauses.push_back(ReadClause(clause));
    for (const Object& result : object.Objects("cases")) run.cases.push_back(ReadCase(result));
    for (const Object& use : object.Objects("waivers")) run.waivers.push_back(ReadWaiver(use));
    return {run, ""};
  } catch (const std::invalid_argument& error) {
    return no_report(error.what());
  }
}

}  // namespace plumbline::reports
