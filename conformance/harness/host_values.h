// Values on the host's side of the ABI: owned, retained, and lent as pl_value.
//
//   HostValues held(adapter);                   // collects what a call returns
//   adapter.call(registry, &call);              // with call.results = held.sink()
//   Lender lender; lender.Lend(held.values());  // to pass them on
//
// A HostValue owns its text and its reference to a tensor. What a Lender returns lives as long as it and the values.
// Not thread-safe.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_HOST_VALUES_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_HOST_VALUES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/abi/abi.h"
#include "spec/scenario/scenario.h"
#include "spec/scenario/schema.h"
#include "spec/scenario/value.h"

namespace plumbline::harness {

// A counted reference to a backend's tensor.
class TensorRef {
 public:
  TensorRef() = default;
  // Takes over a handle that the host must release.
  static TensorRef Adopt(const pl_adapter& adapter, pl_tensor* tensor);
  // Retains a handle that was lent.
  static TensorRef Retain(const pl_adapter& adapter, pl_tensor* tensor);

  pl_tensor* get() const { return held_.get(); }

 private:
  std::shared_ptr<pl_tensor> held_;
};

struct HostValue {
  std::uint32_t kind = PL_NONE;
  std::int64_t integer = 0;
  double real = 0;
  std::string text{};
  TensorRef tensor{};
  std::vector<HostValue> items{};
};

HostValue Copy(const pl_adapter& adapter, const pl_value& value);

// Of a value without a tensor in it and of no list, as a scenario writes it.
HostValue PlainValue(const scenario::Value& value);

// The kind of what a kernel gives for a result of that type if its author says nothing: a zero, an empty list, no
// value; PL_TENSOR where it is for the caller to choose which.
std::uint32_t KindOfZero(const scenario::SchemaType& type);
std::string_view TextOfZero(const scenario::SchemaType& type);  // of a PL_STRING: empty, but for a Device

// As pl_open_options takes them; lent for as long as `declared` lives.
std::vector<pl_key_declaration> LendKeys(const std::vector<scenario::KeyDeclaration>& declared);

// Of a catalogue's name, "t_t"; PL_SIGNATURE_none if there is no such.
std::uint32_t SignatureId(std::string_view name);

class HostValues {
 public:
  explicit HostValues(const pl_adapter& adapter) : adapter_(adapter) {}
  pl_value_sink sink();
  const std::vector<HostValue>& values() const { return values_; }

 private:
  const pl_adapter& adapter_;
  std::vector<HostValue> values_;
};

class Lender {
 public:
  pl_value_list Lend(const std::vector<HostValue>& values);
  pl_value_list Lend(std::vector<HostValue>&&) = delete;  // would be gone before what was lent

 private:
  std::deque<std::vector<pl_value>> kept_;
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_HOST_VALUES_H_
