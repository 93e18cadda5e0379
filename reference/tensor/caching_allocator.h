// The CPU's allocator: what is freed is kept and handed out again, since the page faults of fresh memory cost more than
// most operators do.
//
//   Allocator& memory = CpuAllocator();
//
// Blocks are 64-byte aligned. Up to 1 MiB they come in size classes, four to a power of two; freed ones wait in lists
// of which each thread uses one of a few. Larger ones are mapped, from 2 MiB on in huge pages where the system offers
// them, and the smallest waiting block that fits is taken if it is not much too large. What waits is at most twice the
// largest amount that was live, and an eighth of the machine's memory; the oldest goes first. Any thread, and no fork
// finds it locked.
#ifndef PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_
#define PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_

#include "reference/tensor/allocator.h"

namespace plumbline::reference {

inline constexpr std::size_t kBlockAlignment = 64;

// Never destroyed.
Allocator& CpuAllocator();

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_CACHING_ALLOCATOR_H_
