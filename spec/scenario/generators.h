// Arbitrary scenarios, to test the language itself: any shape that the printer can write, whether or not it makes
// sense. For unit tests of this folder; the suites' generators are elsewhere and make sense.
#ifndef PLUMBLINE_SPEC_SCENARIO_GENERATORS_H_
#define PLUMBLINE_SPEC_SCENARIO_GENERATORS_H_

#include <rapidcheck.h>

#include "spec/scenario/outcome.h"
#include "spec/scenario/scenario.h"

namespace plumbline::scenario {

rc::Gen<Value> AnyValue();
rc::Gen<Scenario> AnyScenario();
rc::Gen<Outcome> AnyOutcome();

}  // namespace plumbline::scenario

#endif  // PLUMBLINE_SPEC_SCENARIO_GENERATORS_H_
