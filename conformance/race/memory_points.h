// Points at the loads and stores of a backend that was compiled with
//   clang++ -fsanitize-coverage=func,trace-pc-guard,trace-loads,trace-stores
// which calls memory_points.cc before each of them, atomic ones included, but for read-modify-write operations. What a
// thread does on its own stack is no point.
//
//   SetMemoryPoints(MemoryPoints::kEverywhereNoted);
//   Schedule(...);                                     // some runs of the program
//   LearnSharedSites();
//   SetMemoryPoints(MemoryPoints::kWhereShared);
//   Schedule(...);                                     // fewer steps, the same interleavings that matter
//
// Most of what a thread loads and stores no other thread looks at, and a switch there changes nothing. So the places in
// the code are learnt at which threads of a run met: touched the same memory, one of them storing. What is learnt
// depends on the runs only, so a process that makes the same runs learns the same.
//
// To be called between runs, from the thread that makes them.
#ifndef PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_
#define PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_

#include <cstddef>
#include <cstdint>

namespace plumbline::race {

enum class MemoryPoints { kEverywhere, kEverywhereNoted, kWhereShared, kWhereSharedNoted };
void SetMemoryPoints(MemoryPoints points);

// What was noted since the last time: each access, in order, with its thread, the step at which it was a point, and its
// site as a number that counts from the first that was seen.
void TakeNoted(void* context, void (*take)(void* context, int thread, std::uint32_t step, int site));

// From the accesses that were noted since the last time; adds to what was learnt before. How many sites are known now.
int LearnSharedSites();
void ForgetSharedSites();

// Memory is given back: for what is learnt, a store to all of it. Off the threads of a run it is that of one more, for
// what is freed after a run might have been freed in it.
bool NotesFreed();
void NoteFreed(const void* block, std::size_t size);

// Something that was compiled so has been loaded. Any thread.
bool BackendIsTraced();

}  // namespace plumbline::race

#endif  // PLUMBLINE_CONFORMANCE_RACE_MEMORY_POINTS_H_
