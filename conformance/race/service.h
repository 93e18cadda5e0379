// What runs in an executor for the hunt: explores schedules of a program, or replays one, and answers in JSON.
//
//   harness::ExecutorConfig config{.path = "...", .service = &race::Serve};
//   race::Asked asked{.scenario = text, .explore = {.seed = 7, .schedules = 400}};
//   harness::Reply reply = executor->Ask(race::Write(asked), limit);
//   Exploration done = race::ReadExploration(reply.text);
//
// The progress of a request is the number of the schedule that runs. Serve is for executors only (explore.h).
#ifndef PLUMBLINE_CONFORMANCE_RACE_SERVICE_H_
#define PLUMBLINE_CONFORMANCE_RACE_SERVICE_H_

#include <string>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "conformance/race/explore.h"

namespace plumbline::race {

struct Asked {
  std::string scenario;    // as text
  std::string schedule;    // replay this one; empty: explore
  ExploreOptions explore;  // but for `check`, `on_schedule` and `journal`
  std::string journal{};   // journal.h; empty: none is kept
};
std::string Write(const Asked& asked);
Exploration ReadExploration(const std::string& text);

std::string Serve(const pl_adapter& adapter, const harness::BackendFacts& facts, const std::string& request,
                  harness::Progress& progress);

// True if the backend is built so that each of its loads and stores is a point of the scheduler's; asked like the rest.
inline constexpr const char* kAskTraced = "traced";
bool ReadTraced(const std::string& text);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_SERVICE_H_
