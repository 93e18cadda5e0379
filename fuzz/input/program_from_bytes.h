// A program of threads and a schedule for it, out of bytes.
//
//   Race race = RaceFromBytes(data, size);
//   OrError<race::Program> program = race::MakeProgram(race.scenario);
//   Plan plan{.strategy = Strategy::kSwitches, .switches = race.switches.data(), ...};
//
// The program comes first, its length before it, and the rest is the list of preemptions: after so many steps, that
// thread goes on. Total: every string of bytes is a program of two or three threads and a schedule. Small: a history of
// it is judged in no time. Pure functions; any thread.
#ifndef PLUMBLINE_FUZZ_INPUT_PROGRAM_FROM_BYTES_H_
#define PLUMBLINE_FUZZ_INPUT_PROGRAM_FROM_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/race/scheduler.h"
#include "spec/scenario/scenario.h"

namespace plumbline::fuzz {

struct Race {
  scenario::Scenario scenario;
  std::vector<race::Switch> switches;  // by rising step
};

Race RaceFromBytes(const std::uint8_t* data, std::size_t size);

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_PROGRAM_FROM_BYTES_H_
