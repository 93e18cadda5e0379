// Makes a generator of scenarios out of a function that writes one, with shrinks that fit scenarios: without a run of
// steps, without a kernel's body or an item of it, without a key of a tensor or of a guard.
//
//   rc::Gen<Scenario> generator = Scenarios([](Draw& draw) { ... return scenario; });
//
// Every smaller scenario is still a scenario: a step whose maker is gone has an outcome like any other. The function is
// kept by the generator and called from the thread that generates.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_GENERATE_SHRINK_H_
#define PLUMBLINE_CONFORMANCE_SUITES_GENERATE_SHRINK_H_

#include <rapidcheck/Gen.h>
#include <rapidcheck/Seq.h>

#include <functional>

#include "conformance/suites/generate_draw.h"
#include "spec/scenario/scenario.h"

namespace plumbline::suites {

rc::Gen<scenario::Scenario> Scenarios(std::function<scenario::Scenario(Draw&)> write);

// The next smaller scenarios, large cuts first; made one by one as they are asked for.
rc::Seq<scenario::Scenario> Smaller(const scenario::Scenario& scenario);

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_GENERATE_SHRINK_H_
