// The numbers behind rand and its like: Philox4x32-10, a function of seed and counter, so that element i of a tensor
// has its number whatever threads there are.
//
//   SetSeed(7);                                    // from here on the same numbers again
//   const std::uint64_t first = TakeNumbers(n);    // n counters of its own
//   double u = Uniform(seed, first + i);           // in [0, 1)
//
// One stream for the process. Any thread; which operator takes which numbers is the order of their calls.
#ifndef PLUMBLINE_KERNELS_RANDOM_H_
#define PLUMBLINE_KERNELS_RANDOM_H_

#include <cstdint>

namespace plumbline::kernels {

void SetSeed(std::uint64_t seed);
std::uint64_t Seed();
std::uint64_t TakeNumbers(std::uint64_t count);

struct Random128 {
  std::uint32_t word[4];
};
Random128 Philox(std::uint64_t seed, std::uint64_t counter);

double Uniform(std::uint64_t seed, std::uint64_t counter);  // [0, 1), a multiple of 2^-53
double Normal(std::uint64_t seed, std::uint64_t counter);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_RANDOM_H_
