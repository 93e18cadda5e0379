// What the perf suite measures, the same for every backend that claims `call-many`: the backend loops over its own
// native no-op kernels, so that the cost of crossing the ABI is not in the figures.
//
//   OrError<std::unique_ptr<Bench>> bench = Bench::Open("reference");
//   for (const Workload& workload : Workloads()) (*bench)->Run(workload, 1000);
//
// A workload that the backend cannot run (an entry or kernel form that it lacks) says so in `Prepare`. One thread, but
// for Run of a kCall workload and Change, which any number of threads may do at once.
#ifndef PLUMBLINE_PERF_BENCH_WORKLOAD_H_
#define PLUMBLINE_PERF_BENCH_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/abi/abi.h"

namespace plumbline::perf {

enum class Kind {
  kCall,      // call_many
  kFind,      // find_many, by a name that has to be looked up
  kDefine,    // define and release
  kRegister,  // register_kernel and release on an operator that is defined
  kChange,    // register_kernel and release at another key of an operator, and then calls of it
};

struct Workload {
  std::string name;
  Kind kind = Kind::kCall;
  std::uint32_t call_form = PL_CALL_TYPED;
  std::uint32_t kernel_form = PL_KERNEL_NOOP;
  std::uint32_t signature = PL_SIGNATURE_tensor_tensor_int;
  std::uint32_t lifetime = PL_LIFETIME_PERMANENT;
  bool redispatch = false;  // an autograd kernel above that redispatches
  int tensors = 2;
  std::string key = "CPU";  // kRegister: where
  int calls = 0;            // kChange: after each change
};

const std::vector<Workload>& Workloads();

class Bench {
 public:
  // A name or a path, as `plumbline check --backend` takes it.
  static harness::OrError<std::unique_ptr<Bench>> Open(const std::string& backend);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  const std::string& name() const { return name_; }

  // Registers what the workload needs; says why the backend cannot run it.
  std::optional<std::string> Prepare(const Workload& workload);
  // Of the prepared workload.
  void Run(std::uint64_t times);
  void Finish();

  // Whose kernels are changed: those of the operator that is called, at a key that it is not called with, or another's.
  enum class Target { kSame, kOther };
  // Registers a kernel and releases it. Says what is wrong, where the backend cannot.
  std::optional<std::string> Change(Target target);

 private:
  Bench() = default;
  pl_call Call() const;  // of the prepared workload
  pl_error* Define(const std::string& schema, pl_registration** out);
  pl_error* Register(const std::string& operator_name, const std::string& key, std::uint32_t form,
                     pl_registration** out);

  const pl_adapter* adapter_ = nullptr;
  pl_registry* registry_ = nullptr;
  std::string name_;
  Workload workload_;
  std::string operator_name_, schema_, other_name_;
  int serial_ = 0;
  std::vector<pl_registration*> registrations_;
  pl_operator* operator_ = nullptr;
  std::vector<pl_tensor*> tensors_;
  std::vector<pl_value> arguments_;
};

}  // namespace plumbline::perf

#endif  // PLUMBLINE_PERF_BENCH_WORKLOAD_H_
