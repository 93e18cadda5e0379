// The class of an error of libtorch, told from its text.
//
//   abi::Error error = Classify(exception);   // error.error_class() == PL_ERROR_NO_KERNEL, ...
//
// libtorch raises a handful of C++ types for everything, so the text decides: kErrorTexts is one list for all releases
// that the adapter builds against, the first entry whose text occurs in the message wins. errors_test.cc provokes each
// one, so that a release that words an error anew is noticed there. Pure; any thread.
#ifndef PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_ERRORS_H_
#define PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_ERRORS_H_

#include <cstdint>
#include <exception>
#include <string_view>

#include "spec/abi/error.h"

namespace plumbline::torch_backend {

std::uint32_t ClassOfText(std::string_view message);  // PL_ERROR_UNCLASSIFIED if no text is known

abi::Error Classify(const std::exception& exception);

}  // namespace plumbline::torch_backend

#endif  // PLUMBLINE_CONFORMANCE_ADAPTERS_TORCH_ERRORS_H_
