// A registry with all kernels, for tests that call operators by name.
//
//   TEST_F(OperatorTest, Adds) {
//     EXPECT_THAT(List(Call("add.Tensor", {Value(Floats({1}, {1})), Value(Floats({1}, {2})), Value(1)})),
//     ElementsAre(3));
//   }
//
// One thread.
#ifndef PLUMBLINE_KERNELS_TESTING_OPERATOR_TEST_H_
#define PLUMBLINE_KERNELS_TESTING_OPERATOR_TEST_H_

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/register.h"
#include "reference/dispatch/operator.h"

namespace plumbline::kernels {

using namespace reference;  // NOLINT: whole tests are about it

class OperatorTest : public testing::Test {
 protected:
  OperatorTest() : registry_(KeyTable::ForRelease("pytorch-1.13")), made_(RegisterKernels(registry_)) {}

  const KeyTable& keys() const { return registry_.keys(); }

  template <class T>
  Tensor Make(IntSpan sizes, std::vector<T> values, Device device = DeviceType::kCpu) {
    const Tensor t = Tensor::Empty(sizes, DTypeOf<T>, device, keys());
    if (device.type == DeviceType::kCpu) std::copy(values.begin(), values.end(), t.data<T>());
    return t;
  }
  Tensor Floats(IntSpan sizes, std::vector<float> values) { return Make<float>(sizes, std::move(values)); }
  Tensor Meta(const Tensor& t) {
    return Tensor::EmptyStrided(t.sizes(), t.strides(), t.dtype(), DeviceType::kMeta, keys());
  }

  std::vector<Value> CallAll(const char* name, std::vector<Value> arguments) {
    const Operator op = Operator::Find(registry_, std::string("aten::") + name);
    Stack stack;
    const std::size_t count = arguments.size();
    for (Value& value : arguments) stack.Push(std::move(value));
    op.CallBoxed(stack, count);
    std::vector<Value> results(stack.size());
    for (std::size_t i = results.size(); i-- > 0;) results[i] = stack.Pop();
    return results;
  }
  Tensor Call(const char* name, std::vector<Value> arguments) {
    return std::move(CallAll(name, std::move(arguments)).front()).ToTensor();
  }
  std::string ErrorOf(const char* name, std::vector<Value> arguments, ErrorClass expected) {
    try {
      CallAll(name, std::move(arguments));
    } catch (const DispatchError& error) {
      EXPECT_EQ(error.error_class(), expected) << error.what();
      return error.what();
    }
    ADD_FAILURE() << name << " raised nothing";
    return "";
  }
  // As doubles, row-major.
  std::vector<double> List(const Tensor& t) {
    const Tensor wide =
        Call("_to_copy", {Value(t), Value(7), Value::None(), Value::None(), Value::None(), Value(false), Value(0)});
    return std::vector<double>(wide.data<double>(), wide.data<double>() + wide.numel());
  }
  static Value Ints(std::vector<int> items) {
    std::vector<Value> list;
    for (const int item : items) list.push_back(Value(item));
    return Value(std::move(list));
  }

  Registry registry_;
  std::vector<Registration> made_;
};

}  // namespace plumbline::kernels

#endif  // PLUMBLINE_KERNELS_TESTING_OPERATOR_TEST_H_
