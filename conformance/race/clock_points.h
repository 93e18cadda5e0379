// The time of a run: what its threads see of clocks, and how they sleep. A microsecond passes at each step. A sleep is
// a Yield(), after which its time has passed; where all wait, time passes until the first of their limits. So a timeout
// of an hour costs nothing, and a run that looks at clocks replays.
//
// clock_points.cc puts its own clock_gettime, gettimeofday, nanosleep and their like, and sched_yield, into the
// executable. Off the threads of a run they are those of libc.
//
// What follows is for lock_points.cc, on a thread of a run.
#ifndef PLUMBLINE_CONFORMANCE_RACE_CLOCK_POINTS_H_
#define PLUMBLINE_CONFORMANCE_RACE_CLOCK_POINTS_H_

#include <time.h>

#include <cstdint>

namespace plumbline::race {

// In nanoseconds since the run began.
std::int64_t TimeAt(clockid_t clock, const timespec& reading);
std::int64_t TimeAfter(const timespec& duration);  // from now
inline constexpr std::int64_t kNoLimit = INT64_MAX;

void PassTimeTo(std::int64_t time);

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_CLOCK_POINTS_H_
