// The cases of the concurrency chapter: a hunt for each of its scenarios, which first shows that it works here.
//
//   RaceOptions options{.faults = *FaultsByClause(*broken), .calibration = config_of_broken};
//   OrError<std::vector<Case>> cases = RaceCases(harness::DataFolder() + "/corpus/concurrency", options);
//   RunSuite(suite, *cases);                 // runner.h; with race::Serve as the executor's service
//
// A case names the clauses of its scenario. With a calibration it first has to catch each planted fault of these
// clauses in the same time that it then has for the backend. Both go on for longer where the machine is so busy that
// few schedules fit into the time: a calibration up to 3000 schedules, a hunt up to four times those that its
// calibrations took, and none longer than kMostTimes its time. If a fault is missed, or the hunt had fewer schedules
// than a calibration took, and nothing was found in the backend either, the case is inconclusive. A case never says
// that a backend is right, only how many schedules were clean.
//
// Cases run in workers; see case.h. What calibrations came to is noted in the order of the cases.
#ifndef PLUMBLINE_CONFORMANCE_RACE_CASES_H_
#define PLUMBLINE_CONFORMANCE_RACE_CASES_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/case.h"
#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"
#include "conformance/race/hunt.h"

namespace plumbline::race {

// What a hunt for a planted fault needs. That of the reference which is the hardest to catch takes 570 schedules on
// average, the next 210: of two hundred hunts for the hardest, one misses it in this many.
inline constexpr std::uint64_t kSchedulesOfACalibration = 3000;

struct RaceOptions {
  std::chrono::milliseconds time{3000};  // for each hunt, and for each calibration
  std::uint64_t least = 400;             // schedules of a hunt, also where they take longer
  bool free = false;
  bool shrink = true;
  bool untraced = false;  // of a backend that is not traced: what is found says so, lest a traced build is asked
  std::optional<harness::ExecutorConfig> calibration;      // of a backend with planted faults
  std::map<std::string, std::vector<std::string>> faults;  // clause -> names of these
};

// What a planted fault was caught by and after how many schedules, or why it was not.
struct Calibration {
  std::string fault;
  bool caught = false;
  std::string how;
  std::uint64_t schedules = 0;
};

// Of a hunt that found nothing: why that is inconclusive. Empty: it is not.
std::vector<std::string> WhyNothingIsSaid(const Hunted& clean, const std::vector<Calibration>& calibrations);

// What an executor's faults violate, by clause.
harness::OrError<std::map<std::string, std::vector<std::string>>> FaultsByClause(harness::Executor& executor);

// The traced build of a backend, where there is one: in the folder traced/ beside it. Else the backend.
std::string TracedOr(const std::string& path);

// One case for each scenario file under the folder. The error names the file that is no program of threads.
harness::OrError<std::vector<harness::Case>> RaceCases(const std::string& folder, const RaceOptions& options);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CASES_H_
