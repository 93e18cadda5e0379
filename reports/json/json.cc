#include "reports/json/json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace plumbline::reports {
namespace {

using Json = nlohmann::json;

constexpr int kFormat = 1;

constexpr std::array kVerdicts = {Verdict::kPass,    Verdict::kFail,         Verdict::kCrash,
                                  Verdict::kTimeout, Verdict::kUnsupported,  Verdict::kWaived,
                                  Verdict::kVacuous, Verdict::kInconclusive, Verdict::kHarnessError};

Verdict ParseVerdict(const std::string& spelling) {
  for (Verdict verdict : kVerdicts) {
    if (spelling == Spelling(verdict)) return verdict;
  }
  throw std::invalid_argument("'" + spelling + "' is no verdict");
}

Json Write(const Finding& finding) {
  return {{"summary", finding.summary},   {"scenario", finding.scenario}, {"line", finding.line},
          {"expected", finding.expected}, {"got", finding.got},           {"rule", finding.rule},
          {"rerun", finding.rerun},       {"clauses", finding.clauses}};
}

Finding ReadFinding(const Json& json) {
  return {.summary = json.at("summary"),
          .scenario = json.at("scenario"),
          .line = json.at("line"),
          .expected = json.at("expected"),
          .got = json.at("got"),
          .rule = json.at("rule"),
          .rerun = json.at("rerun"),
          .clauses = json.at("clauses")};
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

CaseResult ReadCase(const Json& json) {
  CaseResult result{.id = json.at("id"),
                    .chapter = json.at("chapter"),
                    .clauses = json.at("clauses"),
                    .verdict = ParseVerdict(json.at("verdict")),
                    .sampled = json.at("sampled"),
                    .scenarios = json.value("scenarios", std::uint64_t{0}),
                    .discarded = json.value("discarded", std::uint64_t{0}),
                    .accepted_by_deviation = json.at("accepted_by_deviation"),
                    .missing_capabilities = json.at("missing_capabilities"),
                    .waiver = json.at("waiver"),
                    .waived_clauses = json.at("waived_clauses"),
                    .blocked_by = json.at("blocked_by"),
                    .findings = {}};
  for (const Json& finding : json.at("findings")) result.findings.push_back(ReadFinding(finding));
  return result;
}

Json Write(const Clause& clause) {
  return {{"id", clause.id},           {"title", clause.title},     {"strength", clause.strength},
          {"profile", clause.profile}, {"chapter", clause.chapter}, {"text", clause.text},
          {"needs", clause.needs},     {"where", clause.where},     {"tests", clause.tests},
          {"model", clause.model},     {"faults", clause.faults}};
}

Clause ReadClause(const Json& json) {
  return {.id = json.at("id"),
          .title = json.at("title"),
          .strength = json.at("strength"),
          .profile = json.at("profile"),
          .chapter = json.at("chapter"),
          .text = json.at("text"),
          .needs = json.at("needs"),
          .where = json.at("where"),
          .tests = json.at("tests"),
          .model = json.at("model"),
          .faults = json.at("faults")};
}

Json Write(const Backend& backend) {
  return {{"name", backend.name},    {"version", backend.version}, {"release", backend.release},
          {"abi", backend.abi},      {"digest", backend.digest},   {"capabilities", backend.capabilities},
          {"loaded", backend.loaded}};
}

Backend ReadBackend(const Json& json) {
  return {.name = json.at("name"),
          .version = json.at("version"),
          .release = json.at("release"),
          .abi = json.at("abi"),
          .digest = json.at("digest"),
          .capabilities = json.at("capabilities"),
          .loaded = json.at("loaded")};
}

Json Write(const WaiverUse& use) {
  return {{"id", use.id},           {"clause", use.clause}, {"cause", use.cause},    {"reference", use.reference},
          {"expires", use.expires}, {"used", use.used},     {"problem", use.problem}};
}

WaiverUse ReadWaiver(const Json& json) {
  return {.id = json.at("id"),
          .clause = json.at("clause"),
          .cause = json.at("cause"),
          .reference = json.at("reference"),
          .expires = json.at("expires"),
          .used = json.at("used"),
          .problem = json.at("problem")};
}

template <class Items>
Json WriteAll(const Items& items) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(Write(item));
  return array;
}

// Derived, for readers of the file; not read back.
Json WriteCounts(const Run& run) {
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
                     {"command_line", notes.command_line},
                     {"started", notes.started},
                     {"host_note", notes.host_note}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ReadResult FromJson(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (const int format = json.at("format"); format != kFormat) {
      return {
          {},
          "the report has format " + std::to_string(format) + "; this tool reads format " + std::to_string(kFormat)};
    }
    Run run{.suite_version = json.at("suite_version"),
            .tier = json.at("tier"),
            .seed = json.at("seed"),
            .filter = json.at("filter"),
            .shard = json.at("shard"),
            .shards = json.at("shards"),
            .backend = ReadBackend(json.at("backend")),
            .clauses = {},
            .cases = {},
            .waivers = {},
            .waiver_files = json.at("waiver_files")};
    if (run.shards < 1) return {{}, "a report has at least one shard, this one says " + std::to_string(run.shards)};
    for (const Json& clause : json.at("clauses")) run.clauses.push_back(ReadClause(clause));
    for (const Json& result : json.at("cases")) run.cases.push_back(ReadCase(result));
    for (const Json& use : json.at("waivers")) run.waivers.push_back(ReadWaiver(use));
    return {run, ""};
  } catch (const std::exception& error) {
    return {{}, std::string("not a Plumbline report: ") + error.what()};
  }
}

}  // namespace plumbline::reports
