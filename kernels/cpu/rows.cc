#include "kernels/cpu/rows.h"

namespace plumbline::kernels::cpu {
namespace {

void Add(std::vector<Rows::Step>& steps, std::int64_t size, std::int64_t stride) {
  if (size == 1) return;
  if (!steps.empty() && steps.back().stride == stride * size) {
    steps.back().size *= size;
    steps.back().stride = stride;
  } else {
    steps.push_back({size, stride});
  }
}

}  // namespace

Rows::Rows(const StridedInput& in, std::span<const bool> reduced, Type wanted)
    : data_(static_cast<const char*>(in.data)), type_(in.type), wanted_(wanted) {
  for (std::size_t d = 0; d < in.sizes.size(); ++d) {
    (reduced[d] ? length_ : count_) *= in.sizes[d];
    Add(reduced[d] ? reduced_ : kept_, in.sizes[d], in.strides[d]);
  }
  const auto item = static_cast<std::int64_t>(SizeOf(type_));
  direct_ = type_ == wanted_ && (reduced_.empty() || (reduced_.size() == 1 && reduced_[0].stride == item));
}

const char* Rows::RowAt(std::int64_t index) const {
  const char* at = data_;
  for (std::size_t d = kept_.size(); d-- > 0;) {
    if (d == 0) return at + index * kept_[0].stride;
    at += index % kept_[d].size * kept_[d].stride;
    index /= kept_[d].size;
  }
  return at;
}

void Rows::Gather(void* to, std::int64_t index, std::int64_t n) const {
  std::int64_t sizes[kMaxDims], from[kMaxDims], into[kMaxDims];
  std::size_t dims = 0;
  sizes[dims] = n;
  from[dims++] = kept_.empty() ? 0 : kept_.back().stride;
  for (const Step& step : reduced_) {
    sizes[dims] = step.size;
    from[dims++] = step.stride;
  }
  std::int64_t step = static_cast<std::int64_t>(SizeOf(wanted_));
  for (std::size_t d = dims; d-- > 0;) {
    into[d] = step;
    step *= sizes[d];
  }
  Copy({sizes, dims}, {to, into, wanted_, wanted_}, {const_cast<char*>(RowAt(index)), from, type_, type_});
}

}  // namespace plumbline::kernels::cpu
