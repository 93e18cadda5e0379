// Points at the loads and stores of a backend that was compiled with
//   clang++ -fsanitize-coverage=func,trace-pc-guard,trace-loads,trace-stores
// which calls memory_points.cc before each of them, atomic ones included, but for read-modify-write operations. What a
// thread does on its own stack is no point.
#ifndef PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_
#define PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_

namespace plumbline::race {

// Something that was compiled so has been loaded. Any thread.
bool BackendIsTraced();

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_
