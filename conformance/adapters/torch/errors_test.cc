// Classes of libtorch's errors: each text of the list as libtorch gives it, provoked here.
#include "conformance/adapters/torch/errors.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/adapters/torch/torch_version.h"

namespace plumbline::torch_backend {
namespace {

c10::Dispatcher& Dispatcher() { return c10::Dispatcher::singleton(); }

c10::RegistrationHandleRAII Define(const std::string& schema) {
  return Dispatcher().registerDef(torch::jit::parseSchema(schema), "errors_test");
}

class Kernel final : public c10::OperatorKernel {
 public:
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*) {}
};
torch::CppFunction Function() { return torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>()); }

torch::Library Open(torch::Library::Kind kind, const char* name_space, Optional<c10::DispatchKey> key = kNullopt) {
  return torch::Library(kind, name_space, key, "errors_test", 1);
}

std::string ClassOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& exception) {
    const abi::Error error = Classify(exception);
    return std::string(abi::ErrorClassSpelling(error.error_class()));
  }
  return "no error";
}

TEST(TorchErrorsTest, SchemaText) {
  for (const char* text : {"", "te::f", "te::f(Tensor a", "te::f(Nonsense a) -> Tensor",
                           "te::f(Tensor a) -> Tensor x y", "te::f.default(Tensor a) -> Tensor"})
    EXPECT_EQ(ClassOf([&] { Define(text); }), "invalid-argument") << text;
  std::string many = "te::f(";
  for (int i = 0; i < 65; ++i) many += "Tensor a" + std::to_string(i) + (i < 64 ? ", " : ") -> Tensor");
  EXPECT_EQ(ClassOf([&] { Define(many); }), "invalid-argument");
}

TEST(TorchErrorsTest, Definitions) {
  const auto def = Define("te::f(Tensor a) -> Tensor");
  EXPECT_EQ(ClassOf([] { Define("te::f(int a) -> int"); }), "duplicate");
  EXPECT_EQ(ClassOf([] { Dispatcher().findSchemaOrThrow("te::g", ""); }), "not-found");
  EXPECT_EQ(ClassOf([] { c10::parseDispatchKey("nonsense"); }), "not-found");
  EXPECT_EQ(ClassOf([] {
              Dispatcher().findSchemaOrThrow("te::f", "").hasComputedKernelForDispatchKey(c10::DispatchKey::Autograd);
            }),
            "invalid-argument");
}

TEST(TorchErrorsTest, Libraries) {
  const auto def = Open(torch::Library::DEF, "te");
  torch::Library fragment = Open(torch::Library::FRAGMENT, "te");
  torch::Library cpu = Open(torch::Library::IMPL, "te", c10::DispatchKey::CPU);
  torch::Library wildcard = Open(torch::Library::IMPL, "_");
  EXPECT_EQ(ClassOf([] { Open(torch::Library::DEF, "te"); }), "duplicate");
  EXPECT_EQ(ClassOf([] { Open(torch::Library::FRAGMENT, "_"); }), "invalid-argument");
  EXPECT_EQ(ClassOf([] { Open(torch::Library::FRAGMENT, "te", c10::DispatchKey::CPU); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { fragment.def("other::f(Tensor a) -> Tensor"); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { cpu.def("f(Tensor a) -> Tensor"); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { cpu.impl("other::f", Function()); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { cpu.impl("f", torch::dispatch(c10::DispatchKey::CUDA, Function())); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { cpu.fallback(Function()); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { fragment.fallback(Function()); }), "invalid-argument");
  EXPECT_EQ(ClassOf([&] { wildcard.fallback(Function()); }), "invalid-argument");
  const auto fallback = [&] { wildcard.fallback(torch::dispatch(c10::DispatchKey::PrivateUse2, Function())); };
  EXPECT_EQ(ClassOf(fallback), "no error");
  EXPECT_EQ(ClassOf(fallback), "duplicate");
}

// Calls `kernel`, for the type in `schema`, with a value of another.
template <class Kernel>
std::string ClassOfWrongValue(const char* type, const Kernel& kernel, const c10::IValue& value) {
  const auto def = Define(std::string("te::f(") + type + " a) -> ()");
  torch::Library library = Open(torch::Library::FRAGMENT, "te");
  library.impl("f", torch::CppFunction(Kernel(kernel)));
  return ClassOf([&] {
    torch::jit::Stack stack{value};
    Dispatcher().findSchemaOrThrow("te::f", "").callBoxed(stack);
  });
}

TEST(TorchErrorsTest, ValuesOfAnotherKind) {
  const c10::IValue integer(std::int64_t{3}), text("3"), none;
  EXPECT_EQ(ClassOfWrongValue(
                "Tensor", [](const at::Tensor&) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "Tensor", [](const at::Tensor&) {}, none),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "Tensor?", [](const Optional<at::Tensor>&) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "int", [](std::int64_t) {}, c10::IValue(1.5)),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "SymInt", [](c10::SymInt) {}, c10::IValue(1.5)),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "float", [](double) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "bool", [](bool) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "str", [](StringView) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "Scalar", [](const at::Scalar&) {}, text),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "int[]", [](at::IntArrayRef) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "SymInt[]", [](c10::SymIntArrayRef) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "float[]", [](at::ArrayRef<double>) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "bool[]", [](const c10::List<bool>&) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "Tensor[]", [](at::TensorList) {}, integer),
            "schema-mismatch");
  EXPECT_EQ(ClassOfWrongValue(
                "Tensor?[]", [](const c10::List<Optional<at::Tensor>>&) {}, integer),
            "schema-mismatch");
}

TEST(TorchErrorsTest, StaleSlotIsInternal) {
  const auto def = Define("te::f(Tensor a) -> Tensor");
  torch::Library library = Open(torch::Library::FRAGMENT, "te");
  library.impl("f", torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, Function()));
  library.impl("f", torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd, Function()));
  EXPECT_EQ(ClassOf([] { Dispatcher().checkInvariants(); }), "internal");
}

TEST(TorchErrorsTest, TheRestIsUnclassified) {
  EXPECT_EQ(ClassOf([] { throw std::runtime_error("something else"); }), "unclassified");
  EXPECT_EQ(ClassOf([] { TORCH_INTERNAL_ASSERT(false, "something else"); }), "internal");
}

}  // namespace
}  // namespace plumbline::torch_backend
