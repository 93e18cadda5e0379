// Indices of elements and their places in row-major order, for the oracle.
//
//   for (std::int64_t i = 0; i < NumelOf(sizes); ++i) {
//     Sizes index = IndexOf(i, sizes);                     // of the i-th element
//     i == RowMajorOf(index, sizes);
//   }
//
// Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ROW_MAJOR_H_
#define PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ROW_MAJOR_H_

#include <cstddef>
#include <cstdint>

#include "conformance/suites/operators/host_tensor.h"

namespace plumbline::suites {

inline std::int64_t RowMajorOf(const Sizes& index, const Sizes& sizes) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
  return at;
}

inline Sizes IndexOf(std::int64_t i, const Sizes& sizes) {
  Sizes index(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    index[d] = i % sizes[d];
    i /= sizes[d];
  }
  return index;
}

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_OPERATORS_ROW_MAJOR_H_
