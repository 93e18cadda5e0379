// Calls of one and of two threads while another thread registers and releases kernels without pause: for the operator
// that is called, at a key that it is not called with, or for another one. Beside it the same calls without that
// thread.
//
//   RegisterContended(bench);   // before benchmark::Initialize; `bench` outlives the benchmarks
//
// items_per_second is calls, of all threads that call; `changes` is registrations and releases a second. Compare within
// one run; on fewer processors than threads the figures tell of the scheduler.
#ifndef PLUMBLINE_PERF_BENCH_CONTENDED_BENCH_H_
#define PLUMBLINE_PERF_BENCH_CONTENDED_BENCH_H_

#include "perf/bench/workload.h"

namespace plumbline::perf {

void RegisterContended(Bench& bench);

}  // namespace plumbline::perf

#endif  // PLUMBLINE_PERF_BENCH_CONTENDED_BENCH_H_
