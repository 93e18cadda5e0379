#include "conformance/suites/operators/program_run.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/harness/host_values.h"
#include "conformance/suites/operators/program_capsules.h"
#include "spec/abi/error.h"
#include "spec/abi/host.h"

namespace plumbline::suites {
namespace {

using Failed = OperatorSession::Failed;
using harness::HostValue;
using harness::HostValues;
using harness::TensorRef;

// The results as they are named: of a list each item.
void Flatten(const HostValue& value, std::vector<HostValue>& flat) {
  if (value.kind != PL_LIST) return flat.push_back(value);
  for (const HostValue& item : value.items) Flatten(item, flat);
}

class ProgramRun {
 public:
  ProgramRun(OperatorSession& session, const TensorProgram& program, const std::string& device)
      : session_(session), adapter_(session.adapter()), device_(device), named_(program.names.size()) {
    const auto asks = [](const Statement& statement) { return statement.kind == Statement::Kind::kHolders; };
    records_ = std::any_of(program.statements.begin(), program.statements.end(), asks) && CanRecord();
    if (records_) Record(1);
  }
  ~ProgramRun() {
    if (records_) Record(0);
    for (auto& [name, capsule] : capsules_) capsule.Drop();
  }
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;

  Moment Do(const Statement& statement) {
    Moment moment;
    try {
      Dispatch(statement, moment);
    } catch (const Failed& failed) {
      moment.error_class = failed.error_class;
      moment.message = failed.message;
    }
    try {
      LookAtAll(moment);
    } catch (const Failed& failed) {
      moment.message += " (and a tensor cannot be read: " + failed.message + ")";
      if (moment.error_class == PL_ERROR_NONE) moment.error_class = failed.error_class;
    }
    return moment;
  }

 private:
  // One that is there: the host's own, or one of the backend's that nobody has taken.
  struct Capsule {
    HostCapsule* own = nullptr;
    DLManagedTensor* handed_out = nullptr;

    DLManagedTensor* managed() const { return own != nullptr ? own->managed() : handed_out; }
    void Drop() {
      DLManagedTensor* const gone = std::exchange(handed_out, nullptr);
      if (gone != nullptr && gone->deleter != nullptr) gone->deleter(gone);
    }
  };

  void Dispatch(const Statement& statement, Moment& moment) {
    switch (statement.kind) {
      case Statement::Kind::kMake:
        return Make(statement);
      case Statement::Kind::kCall:
        return Call(statement, moment);
      case Statement::Kind::kDrop:
        return Drop(statement.names[0]);
      case Statement::Kind::kMemory: {
        pl_memory_figures now{};
        now.struct_size = sizeof now;
        Needs(PL_CAPABILITY(MEMORY));
        OperatorSession::Check(adapter_.memory_figures(session_.registry(), DeviceOf(statement), &now));
        moment.memory = {now.live_bytes, now.peak_bytes, now.kept_bytes, now.live_blocks};
        return;
      }
      case Statement::Kind::kHolders:
        return ReadHolders(statement, moment);
      case Statement::Kind::kResetPeak:
        Needs(PL_CAPABILITY(MEMORY));
        return OperatorSession::Check(adapter_.memory_reset_peak(session_.registry(), DeviceOf(statement)));
      case Statement::Kind::kEmptyCache:
        Needs(PL_CAPABILITY(MEMORY));
        return OperatorSession::Check(adapter_.memory_empty_cache(session_.registry(), DeviceOf(statement)));
      case Statement::Kind::kToDlpack:
        return ToDlpack(statement);
      case Statement::Kind::kFromDlpack:
        return FromDlpack(statement);
      case Statement::Kind::kCapsule:
        Needs(PL_CAPABILITY(DLPACK));
        capsules_[statement.names[0]].own = &HostCapsule::Make(statement);
        return;
      case Statement::Kind::kExpect:
      case Statement::Kind::kExpectMemory:
      case Statement::Kind::kExpectHolders:
      case Statement::Kind::kExpectCapsule:
        return;
    }
  }

  void Make(const Statement& statement) {
    HostValue tensor{.kind = PL_TENSOR};
    if (statement.made.dtype == PL_DTYPE_NONE) {
      pl_tensor* made = nullptr;
      OperatorSession::Check(adapter_.tensor_make_undefined(session_.registry(), &made));
      tensor.tensor = TensorRef::Adopt(adapter_, made);
      undefined_.insert(statement.names[0]);
    } else {
      tensor.tensor = session_.MakeTensor(statement.made, device_);
    }
    if (!statement.names.empty()) Named(statement.names[0]) = std::move(tensor);
  }

  void Call(const Statement& statement, Moment& moment) {
    const auto read_result = [&](const HostValue& result) {
      Argument out{.kind = result.kind, .integer = result.integer, .real = result.real, .text = result.text};
      if (result.kind == PL_TENSOR) {
        out.integer = static_cast<std::int64_t>(moment.returned.size());
        moment.returned.push_back(session_.StateOf(result.tensor.get()));
      }
      return out;
    };
    std::vector<HostValue> arguments;
    for (const Argument& argument : statement.arguments) arguments.push_back(ValueOf(argument, named_, device_));
    HostValues results(adapter_);
    session_.Call(statement.op, arguments, results);
    std::vector<HostValue> flat;
    for (const HostValue& result : results.values()) {
      Flatten(result, flat);
      Argument read = result.kind == PL_LIST ? Argument::List({}) : read_result(result);
      for (const HostValue& item : result.items) read.items.push_back(read_result(item));
      moment.results.push_back(std::move(read));
    }
    for (std::size_t i = 0; i < statement.names.size() && i < flat.size(); ++i) Named(statement.names[i]) = flat[i];
  }

  void Drop(int name) {
    if (const auto capsule = capsules_.find(name); capsule != capsules_.end()) {
      capsule->second.Drop();
      capsules_.erase(capsule);
    }
    Named(name) = {};
    undefined_.erase(name);
  }

  void ReadHolders(const Statement& statement, Moment& moment) {
    Needs(PL_CAPABILITY(MEMORY));
    if (!CanRecord()) throw Failed{PL_ERROR_UNSUPPORTED, "the backend does not tell who holds memory"};
    moment.holders.emplace();
    const auto push = [](void* context, const pl_memory_holder* holder) {
      HeldStorage held{holder->storage, holder->bytes, holder->foreign != 0, {}};
      for (std::uint64_t i = 0; i < holder->tensor_count; ++i) {
        const pl_held_tensor& tensor = holder->tensors[i];
        held.tensors.emplace_back(tensor.dtype, Sizes(tensor.sizes, tensor.sizes + tensor.dim));
      }
      static_cast<std::vector<HeldStorage>*>(context)->push_back(std::move(held));
    };
    OperatorSession::Check(adapter_.memory_holders(session_.registry(), DeviceOf(statement), &*moment.holders, push));
  }

  void ToDlpack(const Statement& statement) {
    Needs(PL_CAPABILITY(DLPACK));
    DLManagedTensor* managed = nullptr;
    OperatorSession::Check(
        adapter_.tensor_to_dlpack(session_.registry(), Named(statement.other).tensor.get(), &managed));
    Capsule out{.handed_out = managed};
    if (statement.names.empty()) return out.Drop();
    capsules_[statement.names[0]] = out;
  }

  void FromDlpack(const Statement& statement) {
    Needs(PL_CAPABILITY(DLPACK));
    const auto capsule = capsules_.find(statement.other);
    pl_tensor* taken = nullptr;
    OperatorSession::Check(adapter_.tensor_from_dlpack(session_.registry(), capsule->second.managed(), &taken));
    HostValue tensor{.kind = PL_TENSOR};
    tensor.tensor = TensorRef::Adopt(adapter_, taken);
    if (capsule->second.own == nullptr) capsules_.erase(capsule);
    if (!statement.names.empty()) Named(statement.names[0]) = std::move(tensor);
  }

  void LookAtAll(Moment& moment) {
    for (std::size_t i = 0; i < named_.size(); ++i) {
      const int name = static_cast<int>(i);
      const HostValue& value = named_[i];
      if (undefined_.contains(name) || value.kind == PL_NONE) continue;
      if (value.kind == PL_TENSOR) {
        moment.states.emplace(name, session_.StateOf(value.tensor.get()));
      } else {
        moment.values.emplace(
            name, Argument{.kind = value.kind, .integer = value.integer, .real = value.real, .text = value.text});
      }
    }
    for (const auto& [name, capsule] : capsules_) {
      moment.capsules.emplace(name, capsule.own != nullptr ? capsule.own->state() : LookAt(*capsule.handed_out));
    }
  }

  void Needs(std::uint64_t capability) const {
    if (session_.Claims(capability)) return;
    throw Failed{PL_ERROR_UNSUPPORTED, "the backend does not claim " + abi::CapabilitySpellings(capability).front()};
  }
  bool CanRecord() const {
    return session_.Claims(PL_CAPABILITY(MEMORY)) && PL_HAS(&adapter_, memory_record) &&
           PL_HAS(&adapter_, memory_holders);
  }
  void Record(std::uint32_t on) { const abi::PlError ignored(adapter_.memory_record(session_.registry(), on)); }
  pl_string DeviceOf(const Statement& statement) const {
    return abi::Borrow(statement.device.empty() ? device_ : statement.device);
  }
  HostValue& Named(int name) { return named_[static_cast<std::size_t>(name)]; }

  OperatorSession& session_;
  const pl_adapter& adapter_;
  const std::string& device_;
  std::map<int, Capsule> capsules_;
  std::vector<HostValue> named_;
  std::set<int> undefined_;  // of which nothing can be read
  bool records_ = false;
};

}  // namespace

ProgramTrace RunProgram(OperatorSession& session, const TensorProgram& program, const std::string& device,
                        harness::Progress& progress) {
  ProgramTrace trace;
  ProgramRun run(session, program, device);
  for (const Statement& statement : program.statements) {
    progress.step = static_cast<int>(trace.moments.size());
    trace.moments.push_back(run.Do(statement));
    if ((trace.moments.back().error_class != PL_ERROR_NONE) != statement.error_class.has_value()) break;
  }
  return trace;
}

}  // namespace plumbline::suites
