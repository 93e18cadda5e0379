// What points_test.cc loads: shared data without any lock, traced load by load. Each function is called by threads of a
// run.
#include <atomic>

namespace {

int counter = 0;
std::atomic<int> ready{0};
int message = 0;

}  // namespace

#define PLUMBLINE_EXPORT extern "C" __attribute__((visibility("default")))

PLUMBLINE_EXPORT void Reset() {
  counter = 0;
  ready = 0;
  message = 0;
}

// Two that add at the same time may count as one.
PLUMBLINE_EXPORT void Add() { counter = counter + 1; }
PLUMBLINE_EXPORT int Counted() { return counter; }

// The flag is raised too early: who looks between sees no message.
PLUMBLINE_EXPORT void Publish(int what) {
  ready.store(1, std::memory_order_release);
  message = what;
}
PLUMBLINE_EXPORT int Look() { return ready.load(std::memory_order_acquire) != 0 ? message : -1; }

// Loads and stores, but none of anything shared.
PLUMBLINE_EXPORT int SumOnStack(int n) {
  volatile int values[8] = {};
  for (int i = 0; i < n; ++i) values[i % 8] = values[i % 8] + i;
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += values[i];
  return sum;
}
