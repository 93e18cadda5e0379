#include "spec/model/deviations.h"

namespace plumbline::model {

std::span<const DeviationInfo> AllDeviations() {
#define PLUMBLINE_DEVIATION_INFO(enumerator, name, what) {Deviation::enumerator, name, what},
  static constexpr DeviationInfo kAll[] = {PLUMBLINE_DEVIATIONS(PLUMBLINE_DEVIATION_INFO)};
#undef PLUMBLINE_DEVIATION_INFO
  return kAll;
}

std::optional<Deviation> FindDeviation(std::string_view name) {
  for (const DeviationInfo& info : AllDeviations()) {
    if (info.name == name) return info.deviation;
  }
  return std::nullopt;
}

}  // namespace plumbline::model
