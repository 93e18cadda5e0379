// A backend, loaded and run in processes of its own.
//
//   OrError<std::unique_ptr<Executor>> executor = Executor::Start({.path = "/.../reference.so"});
//   const BackendFacts& facts = (*executor)->facts();
//   Observation seen = (*executor)->Run(scenario);
//   (*executor)->Renew();               // each case gets a fresh one; after a failure the next is fresh by itself
//
// This process never loads the backend. Scenarios travel as text, outcomes as JSON. Start it before this process has
// other threads; an Executor belongs to one thread at a time and owns its processes.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_EXECUTOR_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_EXECUTOR_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/harness/backend_facts.h"
#include "conformance/harness/isolation.h"
#include "conformance/harness/observation.h"
#include "conformance/harness/or_error.h"
#include "conformance/harness/registry_view.h"
#include "spec/scenario/scenario.h"

namespace plumbline::harness {

struct ExecutorConfig {
  std::string path;                                            // of the backend's shared object
  std::string release;                                         // empty: the backend's own
  std::vector<std::string> load;                               // user libraries, loaded before a registry is opened
  std::string fault;                                           // empty: none
  std::chrono::milliseconds limit = std::chrono::seconds(10);  // for one scenario; loading has 12 times as much
  // Answers Ask, in an executor, with the loaded backend.
  std::function<std::string(const pl_adapter& adapter, const BackendFacts& facts, const std::string& request,
                            Progress& progress)>
      service{};
};

class Executor {
 public:
  static OrError<std::unique_ptr<Executor>> Start(const ExecutorConfig& config);

  const BackendFacts& facts() const { return facts_; }
  const ExecutorConfig& config() const { return config_; }

  Observation Run(const scenario::Scenario& scenario);
  Reply Ask(const std::string& request, std::chrono::milliseconds limit);  // the service of the configuration
  void Renew() { isolation_->Renew(); }
  void set_limit(std::chrono::milliseconds limit) { limit_ = limit; }
  std::chrono::milliseconds limit() const { return limit_; }

  // What the backend writes to standard output and error is copied there after each scenario.
  void CopyOutputTo(int file_descriptor) { isolation_->CopyOutputTo(file_descriptor); }

  // The backend's faults, each as fault_list of the ABI says; an error where it does not claim any.
  OrError<std::vector<std::string>> Faults();

  // Of its release's keys and its own, those that it interns, lowest first, alias keys last; an error where it cannot.
  OrError<std::vector<std::string>> KnownKeys();

  // What is in the process-wide registry; an error where the backend does not claim introspection.
  OrError<OperatorView> View(const std::string& operator_name);
  OrError<OperatorNames> Names();

 private:
  Executor() = default;
  void AskForUnknownKeys();
  OrError<std::string> Introspect(const std::string& request);
  OrError<std::string> Ask(const std::string& request, const char* what);  // what: "what is registered"

  std::unique_ptr<Isolation> isolation_;
  ExecutorConfig config_;
  BackendFacts facts_;
  std::chrono::milliseconds limit_{};
};

// "there is no fault 'x'; did you mean 'y'?", and how to see them all.
std::string NoSuchFault(const std::string& name, const std::vector<std::string>& names);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_EXECUTOR_H_
