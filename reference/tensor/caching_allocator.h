// The CPU's allocator: what is freed is kept and handed out again, since the page faults of fresh memory cost more than
// most operators do.
//
//   Allocator& memory = CpuAllocator();
//
// Blocks are 64-byte aligned. Up to 1 MiB they come in size classes, four to a power of two; freed ones wait in lists
// of which each thread uses one of a few, 32 MiB in each at most. Larger ones are mapped, in huge pages where the
// system has them, and the smallest waiting one that fits is taken unless it is more than a quarter too large. What
// waits of these is at most twice the largest amount that was in use at a time, and an eighth of the machine's memory;
// the oldest goes first. Any thread, and no fork finds a lock held. Under the address sanitizer nothing waits, so that
// it sees uses of freed blocks.
#ifndef PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_
#define PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_

#include "reference/tensor/allocator.h"

namespace plumbline::reference {

inline constexpr std::size_t kBlockAlignment = 64;

// Never destroyed.
Allocator& CpuAllocator();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_
