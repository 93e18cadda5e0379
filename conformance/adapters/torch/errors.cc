#include "conformance/adapters/torch/errors.h"

#include <c10/util/Exception.h>

#include <string>

namespace plumbline::torch_backend {
namespace {

struct ErrorText {
  std::string_view text;
  std::uint32_t error_class;
};

constexpr ErrorText kErrorTexts[] = {
    // Calls. The first two print the operator's table, so they go before any text that a table could contain.
    {"There were no tensor arguments to this function", PL_ERROR_NO_KEY},
    {"Could not run '", PL_ERROR_NO_KERNEL},
    {"fallthrough_kernel was executed but it should have been short-circuited", PL_ERROR_FELL_THROUGH},
    {"has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther",
     PL_ERROR_AMBIGUOUS},
    {"Tried to access or call an operator with a wrong signature", PL_ERROR_SCHEMA_MISMATCH},

    // The operator's own state; it prints the whole operator too.
    {"_equalsBoxedAndUnboxed(", PL_ERROR_INTERNAL},

    // Registrations.
    {"Mismatch in kernel C++ signatures", PL_ERROR_SCHEMA_MISMATCH},
    {"Inferred operator schema for a C++ kernel function doesn't match the expected function schema",
     PL_ERROR_SCHEMA_MISMATCH},
    {"with the same name and overload name multiple times", PL_ERROR_DUPLICATE},
    {"Tried to register multiple backend fallbacks for the same dispatch key", PL_ERROR_DUPLICATE},
    {"Only a single TORCH_LIBRARY can be used to register the namespace", PL_ERROR_DUPLICATE},
    {"does not match namespace of enclosing", PL_ERROR_INVALID_ARGUMENT},
    {"is inconsistent with the dispatch key of the enclosing", PL_ERROR_INVALID_ARGUMENT},
    {"Cannot define an operator inside of a", PL_ERROR_INVALID_ARGUMENT},
    {"Fallback functions which apply to only a single namespace", PL_ERROR_INVALID_ARGUMENT},
    {"with the wildcard namespace _", PL_ERROR_INVALID_ARGUMENT},
    {"dispatch_key.has_value() INTERNAL ASSERT FAILED", PL_ERROR_INVALID_ARGUMENT},    // a fallback without a key
    {"!dispatch_key_.has_value() INTERNAL ASSERT FAILED", PL_ERROR_INVALID_ARGUMENT},  // DEF or FRAGMENT with a key

    // Names.
    {"Could not find schema for", PL_ERROR_NOT_FOUND},
    {"could not parse dispatch key", PL_ERROR_NOT_FOUND},
    {"which doesn't have a schema registered yet", PL_ERROR_NOT_FOUND},
    {"Alias keys do not have runtime kernel registrations", PL_ERROR_INVALID_ARGUMENT},

    // Schema text.
    {"Tried to parse a function schema but only the operator name was given", PL_ERROR_INVALID_ARGUMENT},
    {"is not a legal overload name for aten operators", PL_ERROR_INVALID_ARGUMENT},
    {"arguments but this PyTorch build only supports", PL_ERROR_INVALID_ARGUMENT},
    {"unknown type specifier", PL_ERROR_INVALID_ARGUMENT},
    {"!seen_default_arg || arg.kwarg_only()", PL_ERROR_INVALID_ARGUMENT},  // 2.x; 1.13 crashes
    {" but found '", PL_ERROR_INVALID_ARGUMENT},  // the parser's "expected ) but found 'eof' here:"

    // A boxed call's values against the types that a kernel wants.
    {"Expected Tensor but got", PL_ERROR_SCHEMA_MISMATCH},
    {"IValue is not a Scalar", PL_ERROR_SCHEMA_MISMATCH},
    {"isInt() INTERNAL ASSERT FAILED", PL_ERROR_SCHEMA_MISMATCH},  // and isSymInt() || isInt()
    {"isDouble() INTERNAL ASSERT FAILED", PL_ERROR_SCHEMA_MISMATCH},
    {"isBool() INTERNAL ASSERT FAILED", PL_ERROR_SCHEMA_MISMATCH},
    {"isString() INTERNAL ASSERT FAILED", PL_ERROR_SCHEMA_MISMATCH},
    {"List() INTERNAL ASSERT FAILED", PL_ERROR_SCHEMA_MISMATCH},                 // isList(), isIntList(), ...
    {"please report a bug to PyTorch. expected int", PL_ERROR_SCHEMA_MISMATCH},  // 2.x
    {"please report a bug to PyTorch. expected double", PL_ERROR_SCHEMA_MISMATCH},
    {"please report a bug to PyTorch. expected bool", PL_ERROR_SCHEMA_MISMATCH},

    // Operators.
    {" not implemented for '", PL_ERROR_NO_DTYPE},
    {"operator, on a bool tensor is not supported", PL_ERROR_NO_DTYPE},
    {"Half, BFloat16, Float, Double, ComplexFloat, ComplexDouble tensor", PL_ERROR_NO_DTYPE},
    {"must match the size of tensor", PL_ERROR_INVALID_ARGUMENT},
    {"is not broadcastable with", PL_ERROR_INVALID_ARGUMENT},
    {"Boolean alpha only supported for Boolean results", PL_ERROR_INVALID_ARGUMENT},
    {"argument alpha must not be a floating point number", PL_ERROR_INVALID_ARGUMENT},
    {"operator, with two bool tensors is not supported", PL_ERROR_INVALID_ARGUMENT},
    {"operator, with a bool tensor is not supported", PL_ERROR_INVALID_ARGUMENT},
    {"Dimension out of range", PL_ERROR_INVALID_ARGUMENT},
    {"appears multiple times in the list of dims", PL_ERROR_INVALID_ARGUMENT},
    {"could not infer output dtype", PL_ERROR_INVALID_ARGUMENT},
    {"expected scalar type", PL_ERROR_INVALID_ARGUMENT},
    {"must be a matrix", PL_ERROR_INVALID_ARGUMENT},
    {"must be a 3D tensor", PL_ERROR_INVALID_ARGUMENT},
    {"shapes cannot be multiplied", PL_ERROR_INVALID_ARGUMENT},
    {"Expected size for first two dimensions of batch2 tensor", PL_ERROR_INVALID_ARGUMENT},

    // Everything else that libtorch holds to be its own fault.
    {"INTERNAL ASSERT FAILED", PL_ERROR_INTERNAL},
};

}  // namespace

std::uint32_t ClassOfText(std::string_view message) {
  for (const ErrorText& known : kErrorTexts)
    if (message.find(known.text) != std::string_view::npos) return known.error_class;
  return PL_ERROR_UNCLASSIFIED;
}

abi::Error Classify(const std::exception& exception) {
  std::string message;
  if (const auto* error = dynamic_cast<const c10::Error*>(&exception)) {
    message = error->what_without_backtrace();
  } else {
    message = exception.what();
  }
  return abi::Error(ClassOfText(message), message);
}

}  // namespace plumbline::torch_backend
