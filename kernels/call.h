// What a kernel is given: the arguments of its operator and the places for its results, the same for the functional,
// the in-place and the out= variant, and for every device.
//
//   void Neg(Call& call) {
//     const Tensor self = call.tensor(0);
//     call.CheckDType(self.dtype());
//     const Tensor out = call.Result(0, self.sizes(), self.dtype());   // plan: checks, and a tensor to write to
//     if (call.meta()) return;                                         // meta tensors have no elements
//     ...                                                              // compute
//   }
//
// Arguments are counted as in the functional schema. A kernel reads all that it needs and asks for all its results
// before it computes. Errors are DispatchErrors whose text names operator, argument, what was expected and what came.
// One call, one thread.
#ifndef PLUMBLINE_KERNELS_CALL_H_
#define PLUMBLINE_KERNELS_CALL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shapes/promotion.h"
#include "reference/boxing/kernel.h"
#include "reference/boxing/schema.h"
#include "reference/registry/registry.h"
#include "reference/tensor/tensor.h"
#include "spec/tables/operator_table.h"

namespace plumbline::kernels {

using reference::Device;
using reference::DeviceType;
using reference::DimVector;
using reference::DType;
using reference::ErrorClass;
using reference::IntSpan;
using reference::IsFloating;
using reference::MemoryFormat;
using reference::Scalar;
using reference::SizeOf;
using reference::Stack;
using reference::Tensor;
using reference::Value;

class Call;

// How a result that was made apart gets to the place that was given for it: all elements, broadcast and converted.
using CopyFunction = void (*)(const Call& call, const Tensor& out, const Tensor& from);

// What is known of an operator when it is registered.
struct OperatorInfo {
  const tables::OperatorData* data;
  reference::Registry* registry;
  std::string family;                  // the functional operator's name without overload, such as "add"
  std::vector<std::string> arguments;  // names
  int results;
  bool any_devices;  // its tensors may be on several: a copy between them
  bool any_overlap;  // what it writes may overlap itself: no element depends on another one
  bool cpu_only;     // it computes in memory of the CPU: a call on another device but meta is kNoKernel
  CopyFunction copy;
};

class Call {
 public:
  // kInvalidArgument unless all tensors are on one device. A CPU tensor of no dimensions is like a Scalar: it may meet
  // tensors of any device.
  Call(const OperatorInfo& info, Stack& stack);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const OperatorInfo& info() const { return info_; }
  const reference::KeyTable& keys() const { return info_.registry->keys(); }
  tables::Variant variant() const { return info_.data->variant; }

  // ---- arguments ----
  const Tensor& tensor(int i) const;  // with elements: kInvalidArgument otherwise
  std::optional<Tensor> maybe_tensor(int i) const;
  std::vector<Tensor> tensors(int i) const;
  bool has(int i) const { return !at(i).is_none(); }
  Scalar scalar(int i) const { return reference::Box<Scalar>::To(const_cast<Value&>(at(i))); }
  std::int64_t integer(int i) const { return at(i).ToInt(); }
  double real(int i) const;
  bool boolean(int i) const { return at(i).ToBool(); }
  std::string_view text(int i) const { return at(i).ToString(); }
  DimVector ints(int i) const;
  std::optional<DType> dtype(int i) const;
  const Value& at(int i) const { return arguments_[static_cast<std::size_t>(i)]; }

  // ---- errors ----
  [[noreturn]] void Fail(const std::string& why) const { Fail(ErrorClass::kInvalidArgument, why); }
  [[noreturn]] void Fail(ErrorClass error_class, const std::string& why) const;
  // kNoDtype unless the table says that the operator takes it; then the trace tells that it is chosen.
  // A size that was computed from arguments, and may be larger than any size: then it is kOverflow. One below 0 comes
  // back as -1.
  std::int64_t SizeFrom(__int128 size) const;
  void CheckDType(DType dtype) const;
  void CheckSameDType(int a, int b) const;
  // That a tensor of this dtype can hold the Scalar; a negative integer wraps in uint8.
  void CheckHolds(int i, DType dtype) const;
  std::string Name(int i) const { return "'" + info_.arguments[static_cast<std::size_t>(i)] + "'"; }
  std::int64_t WrapDim(int i, std::int64_t dims) const { return WrapDimValue(integer(i), dims, i); }
  std::int64_t WrapDimValue(std::int64_t dim, std::int64_t dims, int i) const;

  // ---- results ----
  Device device() const { return device_; }
  void SetDevice(Device device);
  bool meta() const { return device().type == DeviceType::kMeta; }

  // Where result `which` goes, of these sizes; a result that is given (in-place, out=) may have another dtype, to which
  // it is converted, and any strides. An input may be the same tensor, element for element.
  Tensor Result(int which, IntSpan sizes, DType dtype, IntSpan strides = {});
  // The same, but row-major, of just this dtype, and apart from all arguments: copied to its place at the end.
  Tensor PackedResult(int which, IntSpan sizes, DType dtype);
  // A result that is one already: a view, or what another operator gave.
  void Return(int which, Tensor result);
  void ReturnList(std::vector<Tensor> results);
  void ReturnValue(Value value) { value_ = std::move(value); }

  // Calls another operator: the way of composites.
  Tensor Invoke(std::string_view name, std::vector<Value> arguments) const;
  std::vector<Value> InvokeAll(std::string_view name, std::vector<Value> arguments) const;

  // Copies what has to be, and leaves the results on the stack.
  void Finish();

 private:
  struct Place {
    Tensor given;    // what the caller sees; undefined: functional, not made yet
    Tensor written;  // what the kernel writes
    bool has_given = false, returned = false;
  };
  void FindDevice();
  void CheckDevice() const;
  Tensor Given(int which) const;
  void CheckGiven(const Tensor& given, IntSpan sizes, DType dtype) const;
  // kInvalidArgument if it overlaps an input in part; kTooHard if that could not be told of one.
  reference::OverlapKind CheckInputs(const Tensor& given) const;

  const OperatorInfo& info_;
  Stack& stack_;
  std::span<Value> arguments_;
  Device device_;
  std::vector<Place> places_;
  std::optional<std::vector<Tensor>> list_;
  std::optional<Value> value_;
};

using KernelFunction = void (*)(Call& call);

// ---- operands ----

// An operand of an elementwise operator: a tensor, or a Scalar, that is read with the result's sizes.
class In {
 public:
  In(const Tensor& tensor) : tensor_(&tensor) {}  // NOLINT: converts
  In(const Scalar& scalar) : scalar_(scalar) {}   // NOLINT
  const Tensor* tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  const Tensor* tensor_ = nullptr;
  Scalar scalar_;
};

double AsReal(const Scalar& scalar);
std::int64_t AsInteger(const Scalar& scalar);

// Sizes of all that broadcast; kInvalidArgument names the operator.
DimVector BroadcastOf(const Call& call, std::span<const In> inputs);
// The strides of an elementwise result: those of its inputs, if they agree on an order.
DimVector StridesOfResult(IntSpan sizes, std::span<const In> inputs);
// Strides with which a tensor is read with `sizes`, aligned at the right, each times `item`: 0 where it is repeated.
void BroadcastStrides(const Tensor& tensor, IntSpan sizes, std::int64_t item, std::int64_t* strides);

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_CALL_H_
