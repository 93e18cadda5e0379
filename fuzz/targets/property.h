// What a fuzz target says when an input breaks its property: the words, then the process ends as a crash, which every
// fuzzing engine notices and keeps.
//
//   Require(again == text, "the printed schema does not print alike when it is read again", text, again);
//
// Any thread. The process does not survive a broken property.
#ifndef PLUMBLINE_FUZZ_TARGETS_PROPERTY_H_
#define PLUMBLINE_FUZZ_TARGETS_PROPERTY_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace plumbline::fuzz {

inline std::string_view Text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// `first` and `second` are shown, each on lines of its own.
[[noreturn]] inline void Broken(std::string_view what, std::string_view first = {}, std::string_view second = {}) {
  std::fprintf(stderr, "\nproperty broken: %.*s\n", static_cast<int>(what.size()), what.data());
  for (const std::string_view part : {first, second}) {
    if (!part.empty()) std::fprintf(stderr, "---\n%.*s\n", static_cast<int>(part.size()), part.data());
  }
  std::abort();
}

inline void Require(bool holds, std::string_view what, std::string_view first = {}, std::string_view second = {}) {
  if (!holds) Broken(what, first, second);
}

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_TARGETS_PROPERTY_H_
