// How a call finds its kernel: arguments, then the thread's guards, then the keys that fall through, then the highest.
//
//   Selection s = Select(keys, slot_of, arguments, thread, ...);
//   slot_of(s.key) answers.
//
// Pure functions of values; any thread.
#ifndef PLUMBLINE_SPEC_MODEL_CALL_H_
#define PLUMBLINE_SPEC_MODEL_CALL_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spec/model/key_table.h"
#include "spec/model/resolve.h"
#include "spec/model/signature.h"
#include "spec/scenario/value.h"

namespace plumbline::model {

// A thread's included and excluded keys.
struct ThreadState {
  KeySet included, excluded;
};

struct Selection {
  KeySet arguments;              // what the arguments bring
  KeySet with_thread;            // and what is left of it and of the included keys once the excluded ones are gone
  std::optional<int> component;  // whose fallthrough keys are masked
  std::vector<Key> fell_through;
  KeySet effective;  // what the kernel receives
  Key key = kUndefined;
};

// The keys that one value in a position of that type brings.
KeySet KeysOf(const KeyTable& keys, const SchemaType& type, const scenario::Value& value);

// `mask_before_thread_state` is the deviation of that name.
Selection Select(const KeyTable& keys, const std::function<Slot(Key)>& slot_of, const KeySet& arguments,
                 const ThreadState& thread, bool mask_before_thread_state);

// One call or redispatch as it happened, for `explain`.
struct CallRecord {
  std::string operator_name;
  int depth = 0;
  bool redispatch = false;  // then `selection` has the given set in `effective` only
  bool refused = false;     // before a key was chosen: no such operator, arguments that do not fit
  std::vector<KeySet> by_argument;
  ThreadState thread;
  Selection selection;
  Slot slot;
  std::vector<Trial> trials;
  bool hit = false;
  std::string error, message;  // why no kernel ran, or how it ended
};

}  // namespace plumbline::model

#endif  // PLUMBLINE_SPEC_MODEL_CALL_H_
