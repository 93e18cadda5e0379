// An operator of a backend as a scenario, so that the model can explain a call of it.
//
//   OrError<OperatorView> view = ViewOperator(*executor, "demo::f");
//   OrError<Registered> registered = AsScenario("demo::f", *view, facts, keys);
//   registered->scenario.steps.push_back({.action = *CallWith(registered->schema, {{"CPU"}})});
//
// The steps are made up: a definition, and a kernel for each key that has one, named by its place. Belongs to one
// thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_REGISTERED_H_
#define PLUMBLINE_CONFORMANCE_CLI_REGISTERED_H_

#include <string>
#include <vector>

#include "conformance/harness/executor.h"
#include "conformance/harness/or_error.h"
#include "spec/model/key_table.h"
#include "spec/model/machine.h"
#include "spec/scenario/scenario.h"
#include "spec/scenario/schema.h"

namespace plumbline::cli {

// As Executor::View; an operator that is not there is an error with the nearest names.
harness::OrError<harness::OperatorView> ViewOperator(harness::Executor& executor, const std::string& name);

// "there is no operator 'demo::ff'; near: demo::f", or its overloads where the name has some.
std::string NoSuchOperator(const std::string& name, const std::vector<std::string>& known);

// A backend's own lines, "KEY: kernel, place": those that say the same of several keys, or several times, in one.
std::vector<std::string> FoldRegistrations(const std::vector<std::string>& lines);

struct Registered {
  scenario::Scenario scenario;
  scenario::Schema schema;
  // What the backend says its fallbacks are.
  std::vector<model::StartingFallback> fallbacks;
  std::vector<std::string> unsure;  // in words: what introspection does not tell, and was taken to be so
};
harness::OrError<Registered> AsScenario(const std::string& name, const harness::OperatorView& view,
                                        const harness::BackendFacts& facts, const model::KeyTable& keys);

// A call whose tensors carry these sets: one for each Tensor position in order, the only one for all, none for those
// that are left. Other positions hold a zero.
scenario::Call CallWith(const std::string& name, const scenario::Schema& schema,
                        const std::vector<std::vector<std::string>>& key_sets);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_REGISTERED_H_
