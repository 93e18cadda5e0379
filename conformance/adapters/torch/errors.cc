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
    {"can't be cast to the desired output type", PL_ERROR_INVALID_ARGUMENT},
    {"doesn't match the broadcast shape", PL_ERROR_INVALID_ARGUMENT},
    {"written-to tensor refer", PL_ERROR_INVALID_ARGUMENT},
    {"ZeroDivisionError", PL_ERROR_INVALID_ARGUMENT},
    {"Integers to negative integer powers are not allowed", PL_ERROR_INVALID_ARGUMENT},
    {"At least one of 'min' or 'max' must not be None", PL_ERROR_INVALID_ARGUMENT},
    {"expected rounding_mode to be one of", PL_ERROR_INVALID_ARGUMENT},
    {"approximate argument must be either none or tanh", PL_ERROR_INVALID_ARGUMENT},
    {"to have non-zero size", PL_ERROR_INVALID_ARGUMENT},
    {"Expected reduction dim to be specified for input.numel() == 0", PL_ERROR_INVALID_ARGUMENT},
    {"on tensor with no elements", PL_ERROR_INVALID_ARGUMENT},
    {"std and var only support floating point", PL_ERROR_INVALID_ARGUMENT},
    {"a floating point or complex tensor as input", PL_ERROR_INVALID_ARGUMENT},
    {"input dtype should be either floating point or complex", PL_ERROR_INVALID_ARGUMENT},
    {"1D tensors expected", PL_ERROR_INVALID_ARGUMENT},
    {"inconsistent tensor size", PL_ERROR_INVALID_ARGUMENT},
    {"to be at least 1D", PL_ERROR_INVALID_ARGUMENT},
    {"size mismatch", PL_ERROR_INVALID_ARGUMENT},
    {"The expanded size of the tensor", PL_ERROR_INVALID_ARGUMENT},
    {"must be greater or equal to the number of dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"is invalid for input of size", PL_ERROR_INVALID_ARGUMENT},
    {"view size is not compatible with input tensor's size and stride", PL_ERROR_INVALID_ARGUMENT},
    {"only one dimension can be inferred", PL_ERROR_INVALID_ARGUMENT},
    {"invalid shape dimension", PL_ERROR_INVALID_ARGUMENT},
    {"out of bounds for storage of size", PL_ERROR_INVALID_ARGUMENT},
    {"mismatch in length of strides and shape", PL_ERROR_INVALID_ARGUMENT},
    {"don't match in permute", PL_ERROR_INVALID_ARGUMENT},
    {"do not match in the desired ordering of dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"repeated dim in permute", PL_ERROR_INVALID_ARGUMENT},
    {"select(): index", PL_ERROR_INVALID_ARGUMENT},
    {"cannot be applied to a 0-dim tensor", PL_ERROR_INVALID_ARGUMENT},
    {"slice step must be positive", PL_ERROR_INVALID_ARGUMENT},
    {"expects a tensor with <= 2 dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"start_dim cannot come after end_dim", PL_ERROR_INVALID_ARGUMENT},
    {"diagonal dimensions cannot be identical", PL_ERROR_INVALID_ARGUMENT},
    {"non-empty list of Tensors", PL_ERROR_INVALID_ARGUMENT},
    {"cannot be concatenated", PL_ERROR_INVALID_ARGUMENT},
    {"Sizes of tensors must match except in dimension", PL_ERROR_INVALID_ARGUMENT},
    {"same number of dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"expects each tensor to be equal size", PL_ERROR_INVALID_ARGUMENT},
    {"expects a non-empty TensorList", PL_ERROR_INVALID_ARGUMENT},
    {"expects at least a 1-dimensional tensor", PL_ERROR_INVALID_ARGUMENT},
    {"expects split_size be non-negative", PL_ERROR_INVALID_ARGUMENT},
    {"expects `chunks` to be greater than 0", PL_ERROR_INVALID_ARGUMENT},
    {"split_size can only be 0", PL_ERROR_INVALID_ARGUMENT},
    {"Number of dimensions of repeat dims can not be smaller", PL_ERROR_INVALID_ARGUMENT},
    {"index out of range in self", PL_ERROR_INVALID_ARGUMENT},
    {"is out of bounds for dimension", PL_ERROR_INVALID_ARGUMENT},
    {"is out of bounds: 0 <= tmp_idx", PL_ERROR_INVALID_ARGUMENT},
    {"Index is supposed to be a vector", PL_ERROR_INVALID_ARGUMENT},
    {"to be smaller than self", PL_ERROR_INVALID_ARGUMENT},
    {"Expected self.dtype to be equal to src.dtype", PL_ERROR_INVALID_ARGUMENT},
    {"only supports boolean masks", PL_ERROR_INVALID_ARGUMENT},
    {"expected BoolTensor", PL_ERROR_INVALID_ARGUMENT},
    {"tensors used as indices must be", PL_ERROR_INVALID_ARGUMENT},
    {"indexing tensors could not be broadcast together", PL_ERROR_INVALID_ARGUMENT},
    {"shape mismatch: ", PL_ERROR_INVALID_ARGUMENT},
    {"too many indices for tensor", PL_ERROR_INVALID_ARGUMENT},
    {"Index put requires the source and destination dtypes match", PL_ERROR_INVALID_ARGUMENT},
    {"out of range for dimension", PL_ERROR_INVALID_ARGUMENT},
    {"must have at least 2 dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"negative dimension", PL_ERROR_INVALID_ARGUMENT},
    {"n must be greater or equal to 0", PL_ERROR_INVALID_ARGUMENT},
    {"m must be greater or equal to 0", PL_ERROR_INVALID_ARGUMENT},
    {"must be nonzero", PL_ERROR_INVALID_ARGUMENT},
    {"upper bound and larger bound inconsistent with step sign", PL_ERROR_INVALID_ARGUMENT},
    {"number of steps must be non-negative", PL_ERROR_INVALID_ARGUMENT},
    {"Given groups=", PL_ERROR_INVALID_ARGUMENT},
    {"Given transposed=", PL_ERROR_INVALID_ARGUMENT},
    {"Kernel size can't be greater than actual input size", PL_ERROR_INVALID_ARGUMENT},
    {"pad should be", PL_ERROR_INVALID_ARGUMENT},
    {"Output size is too small", PL_ERROR_INVALID_ARGUMENT},
    {"divisor must be not zero", PL_ERROR_INVALID_ARGUMENT},
    {"device type at start of device string", PL_ERROR_INVALID_ARGUMENT},
    {"Invalid device string", PL_ERROR_INVALID_ARGUMENT},
    {"Device string must not be empty", PL_ERROR_INVALID_ARGUMENT},
    {"tensor to use channels_last", PL_ERROR_INVALID_ARGUMENT},
    {"Negative strides are not supported", PL_ERROR_INVALID_ARGUMENT},
    {"cannot reshape tensor of 0 elements into shape", PL_ERROR_INVALID_ARGUMENT},
    {"numel: integer multiplication overflow", PL_ERROR_OVERFLOW},
    {"Storage size calculation overflowed", PL_ERROR_OVERFLOW},
    {"does not support negative values for beta", PL_ERROR_INVALID_ARGUMENT},
    {"all elements of input should be between 0 and 1", PL_ERROR_INVALID_ARGUMENT},
    {"is different to the input size", PL_ERROR_INVALID_ARGUMENT},
    {"must be the same as input size", PL_ERROR_INVALID_ARGUMENT},
    {"cannot be converted to Scalar", PL_ERROR_INVALID_ARGUMENT},
    {"Expected all tensors to be on the same device", PL_ERROR_INVALID_ARGUMENT},
    {"Expected out tensor to have device", PL_ERROR_INVALID_ARGUMENT},
    {"self and mat2 must have the same dtype", PL_ERROR_INVALID_ARGUMENT},
    {"expected both vectors to have same dtype", PL_ERROR_INVALID_ARGUMENT},
    {"Given normalized_shape=", PL_ERROR_INVALID_ARGUMENT},
    {"to be of same shape as normalized_shape", PL_ERROR_INVALID_ARGUMENT},
    {"running_mean should contain", PL_ERROR_INVALID_ARGUMENT},
    {"self indexing axis dim should be positive", PL_ERROR_INVALID_ARGUMENT},
    {" is out of bounds.", PL_ERROR_INVALID_ARGUMENT},  // a target of nll_loss
    {"The shape of the mask [", PL_ERROR_INVALID_ARGUMENT},
    {"Expected dtype int64 for index", PL_ERROR_INVALID_ARGUMENT},
    {"Expected dtype int32 or int64 for index", PL_ERROR_INVALID_ARGUMENT},
    {"Expected tensor for argument #1 'indices' to have one of the following scalar types", PL_ERROR_INVALID_ARGUMENT},
    {"selected index k out of range", PL_ERROR_INVALID_ARGUMENT},
    {"but tensor has no dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"does not match the length of the desired ordering of dimensions", PL_ERROR_INVALID_ARGUMENT},
    {"permute(): duplicate dims are not allowed", PL_ERROR_INVALID_ARGUMENT},
    {"unsupported range: ", PL_ERROR_INVALID_ARGUMENT},
    {"random_ expects 'from' to be less than 'to'", PL_ERROR_INVALID_ARGUMENT},
    {"bernoulli_ expects p to be in [0, 1]", PL_ERROR_INVALID_ARGUMENT},
    {"normal expects std >= 0", PL_ERROR_INVALID_ARGUMENT},
    {"uniform_ expects to return a [from, to) range", PL_ERROR_INVALID_ARGUMENT},
    {"dropout probability has to be between 0 and 1", PL_ERROR_INVALID_ARGUMENT},
    {"but expected ", PL_ERROR_INVALID_ARGUMENT},  // "Found dtype Half but expected Byte"
    {"Bad in-place call: ", PL_ERROR_INVALID_ARGUMENT},
    {"Integer division with addcdiv is no longer supported", PL_ERROR_INVALID_ARGUMENT},
    {"Expected out tensor to have dtype", PL_ERROR_INVALID_ARGUMENT},
    {"Boolean inputs not supported for relu", PL_ERROR_NO_DTYPE},
    {"softmax with half to float conversion is not supported", PL_ERROR_INVALID_ARGUMENT},
    {"tensor for result, got", PL_ERROR_INVALID_ARGUMENT},
    {"must match dimensionality of strides", PL_ERROR_INVALID_ARGUMENT},
    {"without overflow", PL_ERROR_INVALID_ARGUMENT},  // a Scalar that the dtype cannot hold
    {"must have the same scalar type", PL_ERROR_INVALID_ARGUMENT},
    {"exceeds dimension size", PL_ERROR_INVALID_ARGUMENT},
    {", expected bias to be ", PL_ERROR_INVALID_ARGUMENT},
    {"ignore_index is not supported for floating point target", PL_ERROR_INVALID_ARGUMENT},
    {"is out of DATA bounds", PL_ERROR_INVALID_ARGUMENT},
    {"resulted in a negative output size", PL_ERROR_INVALID_ARGUMENT},
    {"Expected floating point type for result tensor", PL_ERROR_INVALID_ARGUMENT},
    {"mat1 and mat2 must have the same dtype", PL_ERROR_INVALID_ARGUMENT},
    {"Expected a proper Tensor but got None", PL_ERROR_INVALID_ARGUMENT},

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
