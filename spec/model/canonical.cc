#include "spec/model/canonical.h"

#include <optional>
#include <string>
#include <vector>

namespace plumbline::model {

scenario::Canonical CanonicalBy(const KeyTable& keys) {
  return [&keys](const std::vector<std::string>& names) {
    std::string unknown;
    const std::optional<KeySet> set = keys.SetOf(names, &unknown);
    return set ? keys.Names(*set) : names;
  };
}

}  // namespace plumbline::model
