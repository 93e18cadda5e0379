// Key sets as outcomes spell them, by a table of keys.
//
//   scenario::Mismatch(expected, outcome, CanonicalBy(machine.keys()));
//
// Names that the table does not have are left as they are. Borrows the table; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_CANONICAL_H_
#define PLUMBLINE_SPEC_MODEL_CANONICAL_H_

#include "spec/model/key_table.h"
#include "spec/scenario/matches.h"

namespace plumbline::model {

scenario::Canonical CanonicalBy(const KeyTable& keys);

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_CANONICAL_H_
