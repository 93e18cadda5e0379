#include "conformance/suites/operators/broadcast.h"

#include <algorithm>
#include <cstddef>

namespace plumbline::suites {

std::optional<Sizes> CommonSizes(const std::vector<const Sizes*>& all) {
  Sizes common;
  for (const Sizes* sizes : all) {
    if (sizes->size() > common.size()) common.insert(common.begin(), sizes->size() - common.size(), 1);
    for (std::size_t d = 0; d < sizes->size(); ++d) {
      std::int64_t& mine = common[common.size() - 1 - d];
      const std::int64_t theirs = (*sizes)[sizes->size() - 1 - d];
      if (mine == 1) {
        mine = theirs;
      } else if (theirs != 1 && theirs != mine) {
        return std::nullopt;
      }
    }
  }
  return common;
}

std::int64_t PlaceIn(const HostTensor& operand, const Sizes& sizes, std::int64_t i) {
  std::int64_t place = operand.offset;
  for (std::size_t back = 0; back < sizes.size(); ++back) {
    const std::int64_t size = sizes[sizes.size() - 1 - back];
    const std::int64_t at = i % size;
    i /= size;
    if (back >= operand.sizes.size()) continue;
    const std::size_t d = operand.sizes.size() - 1 - back;
    if (operand.sizes[d] != 1) place += at * operand.strides[d];
  }
  return place;
}

}  // namespace plumbline::suites
