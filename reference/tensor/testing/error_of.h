// What a statement throws, for tests:
//
//   EXPECT_THAT(ErrorOf([&] { CheckedNumel({2, -1}); }), Is(ErrorClass::kInvalidArgument, "negative -1"));
#ifndef PLUMBLINE_REFERENCE_TENSOR_TESTING_ERROR_OF_H_
#define PLUMBLINE_REFERENCE_TENSOR_TESTING_ERROR_OF_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "reference/keys/error.h"

namespace plumbline::reference {

template <class F>
std::pair<ErrorClass, std::string> ErrorOf(F f) {
  try {
    f();
  } catch (const DispatchError& error) {
    return {error.error_class(), error.what()};
  }
  ADD_FAILURE() << "no error";
  return {ErrorClass::kInternal, ""};
}

MATCHER_P2(Is, error_class, text, "") { return arg.first == error_class && arg.second.find(text) != std::string::npos; }

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_TESTING_ERROR_OF_H_
