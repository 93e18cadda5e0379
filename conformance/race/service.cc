#include "conformance/race/service.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/race/journal.h"
#include "conformance/race/memory_points.h"
#include "spec/model/key_table.h"
#include "spec/scenario/parse.h"

namespace plumbline::race {
namespace {

using Json = nlohmann::json;

// What a backend says may be any bytes.
std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json Write(const Exploration& done) {
  Json json = {{"schedules", done.schedules},
               {"learning", done.learning},
               {"undecided", done.undecided},
               {"steps", done.steps},
               {"refused", done.refused}};
  if (done.violation) {
    json["violation"] = {{"kind", done.violation->kind},         {"words", done.violation->words},
                         {"schedule", done.violation->schedule}, {"history", done.violation->history},
                         {"smallest", done.violation->smallest}, {"steps", done.violation->steps}};
  }
  return json;
}

Exploration Refused(std::string why) {
  Exploration done;
  done.refused = std::move(why);
  return done;
}

Exploration Do(const pl_adapter& adapter, const harness::BackendFacts& facts, const Json& request,
               harness::Progress& progress) {
  scenario::ParseResult parsed = scenario::ParsePrinted(request.at("scenario").get<std::string>());
  if (!parsed.scenario) return Refused(fmt::format("line {}: {}", parsed.error->line, parsed.error->message));
  const tables::ReleaseData* release = model::FindRelease(parsed.scenario->release);
  if (release == nullptr) return Refused("there is no release " + parsed.scenario->release);
  harness::OrError<Program> program = MakeProgram(*std::move(parsed.scenario));
  if (!program.ok()) return Refused(program.error());
  const std::shared_ptr<const model::KeyTable> keys = model::KeyTable::Get(*release, facts.keys);
  ExploreOptions options;
  options.seed = request.at("seed");
  options.first = request.at("first");
  options.schedules = request.at("schedules");
  options.time = std::chrono::milliseconds(request.at("time").get<std::int64_t>());
  options.free = request.at("free");
  options.fresh = request.at("fresh");
  options.journal = OpenJournal(request.at("journal").get<std::string>());
  options.on_schedule = [&progress](std::uint64_t schedule) { progress.step = static_cast<int>(schedule); };
  if (facts.fallbacks) {
    options.check.fallbacks.emplace();
    for (const harness::BuiltinFallback& one : *facts.fallbacks) {
      options.check.fallbacks->push_back({one.key, one.fallthrough});
    }
  }
  const std::string schedule = request.at("schedule");
  if (schedule.empty()) return Explore(adapter, *program, *keys, options);
  harness::OrError<OwnedPlan> plan = ParseSchedule(schedule);
  if (!plan.ok()) return Refused(plan.error());
  return Replay(adapter, *program, *keys, *plan, options);
}

}  // namespace

std::string Write(const Asked& asked) {
  return Dump({{"scenario", asked.scenario},
               {"schedule", asked.schedule},
               {"seed", asked.explore.seed},
               {"first", asked.explore.first},
               {"schedules", asked.explore.schedules},
               {"time", asked.explore.time.count()},
               {"free", asked.explore.free},
               {"fresh", asked.explore.fresh},
               {"journal", asked.journal}});
}

Exploration ReadExploration(const std::string& text) {
  const Json json = Json::parse(text);
  Exploration done;
  done.schedules = json.at("schedules");
  done.learning = json.at("learning");
  done.undecided = json.at("undecided");
  done.steps = json.at("steps");
  done.refused = json.at("refused");
  if (json.contains("violation")) {
    const Json& violation = json.at("violation");
    done.violation = {.kind = violation.at("kind"),
                      .words = violation.at("words"),
                      .schedule = violation.at("schedule"),
                      .history = violation.at("history"),
                      .smallest = violation.at("smallest"),
                      .steps = violation.at("steps")};
  }
  return done;
}

std::string Serve(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                  harness::Progress& progress) {
  if (request == kAskTraced) return BackendIsTraced() ? "yes" : "no";
  return Dump(Write(Do(adapter, facts, Json::parse(request), progress)));
}

bool ReadTraced(const std::string& text) { return text == "yes"; }

}  // namespace plumbline::race
