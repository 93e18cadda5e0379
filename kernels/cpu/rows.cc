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
  if (reduced_.empty() || length_ == 0) return;
  cut_ = reduced_.size() - 1;
  while (cut_ > 0 && block_ * reduced_[cut_].size <= kGrain) block_ *= reduced_[cut_--].size;
  run_ = std::clamp<std::int64_t>(kGrain / block_, 1, reduced_[cut_].size);
  cuts_ = (reduced_[cut_].size + run_ - 1) / run_;
  for (std::size_t d = 0; d < cut_; ++d) outer_ *= reduced_[d].size;
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

Rows::Piece Rows::PieceOf(std::int64_t index, std::int64_t piece, std::vector<char>& buffer) const {
  const char* from = RowAt(index);
  const Step cut = reduced_.empty() ? Step{1, 0} : reduced_[cut_];
  const std::int64_t begin = piece % cuts_ * run_, run = std::min(run_, cut.size - begin);
  const std::int64_t first = (piece / cuts_ * cut.size + begin) * block_;
  from += begin * cut.stride;
  std::int64_t rest = piece / cuts_;
  for (std::size_t d = cut_; d-- > 0;) {
    from += rest % reduced_[d].size * reduced_[d].stride;
    rest /= reduced_[d].size;
  }
  if (direct_) return {from, run * block_, first};
  std::int64_t sizes[kMaxDims], strides[kMaxDims], into[kMaxDims];
  std::size_t dims = 0;
  sizes[dims] = run;
  strides[dims++] = cut.stride;
  for (std::size_t d = cut_ + 1; d < reduced_.size(); ++d) {
    sizes[dims] = reduced_[d].size;
    strides[dims++] = reduced_[d].stride;
  }
  std::int64_t step = static_cast<std::int64_t>(SizeOf(wanted_));
  buffer.resize(static_cast<std::size_t>(step * run * block_));
  for (std::size_t d = dims; d-- > 0;) {
    into[d] = step;
    step *= sizes[d];
  }
  Copy({sizes, dims}, {buffer.data(), into, wanted_, wanted_}, {const_cast<char*>(from), strides, type_, type_});
  return {buffer.data(), run * block_, first};
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
