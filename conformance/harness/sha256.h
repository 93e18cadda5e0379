// SHA-256 of bytes and files: names the very shared object that a report is about.
//
//   Sha256("abc")  // "ba7816bf 8f01cfea ..." without blanks
//
// Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_HARNESS_SHA256_H_
#define PLUMBLINE_CONFORMANCE_HARNESS_SHA256_H_

#include <optional>
#include <string>
#include <string_view>

namespace plumbline::harness {

std::string Sha256(std::string_view bytes);

// Nothing if the file cannot be read.
std::optional<std::string> Sha256OfFile(const std::string& path);

}  // namespace plumbline::harness

#endif  // PLUMBLINE_CONFORMANCE_HARNESS_SHA256_H_
