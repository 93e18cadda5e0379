// A value, or the text of what is wrong with the input that it should have come from.
//
//   OrError<Backend> backend = FindBackend(name);
//   if (!backend.ok()) return Complain(backend.error());
//   Use(*backend);
//
// The text names what, where, and what to do; a program prints it and leaves with exit status 2. Value type; no thread
// rules.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_OR_ERROR_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_OR_ERROR_H_

#include <string>
#include <utility>
#include <variant>

namespace plumbline::harness {

struct InputError {
  std::string message;
};

template <class T>
class OrError {
 public:
  OrError(T value) : held_(std::in_place_index<0>, std::move(value)) {}           // NOLINT: meant to be implicit
  OrError(InputError error) : held_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return held_.index() == 0; }
  const std::string& error() const { return std::get<1>(held_).message; }
  T& operator*() { return std::get<0>(held_); }
  const T& operator*() const { return std::get<0>(held_); }
  T* operator->() { return &std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }

 private:
  std::variant<T, InputError> held_;
};

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_OR_ERROR_H_
