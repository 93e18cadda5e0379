// Dispatch keys in words: what the programs share to name, fold and check them.
//
//   FoldKeys(table, keys)               // {"Dense* (but CPU)", "Sparse*", "FPGA"}: X* is that key of every backend
//   OrError<std::vector<std::string>> keys = ReadKeys("CPU,AutogradCPU", table);
//
// Pure functions; any thread.
#ifndef PLUMBLINE_CONFORMANCE_CLI_KEYS_TEXT_H_
#define PLUMBLINE_CONFORMANCE_CLI_KEYS_TEXT_H_

#include <string>
#include <vector>

#include "conformance/harness/or_error.h"
#include "spec/model/key_table.h"

namespace plumbline::cli {

// In the order of the table, with the keys of a per-backend functionality in one word where it has most of them.
std::vector<std::string> FoldKeys(const model::KeyTable& table, std::vector<model::Key> keys);

// Words joined by blanks, wrapped at about 100 columns, each new line indented.
std::string Wrapped(const std::vector<std::string>& words, int indent);

// "CPU,AutogradCPU" or "[CPU AutogradCPU]", as keys; "[]" is none. The error names the first that is no key, and what
// is near; or what is left out or said twice.
harness::OrError<std::vector<std::string>> ReadKeys(const std::string& text, const model::KeyTable& table);
harness::OrError<model::Key> ReadKey(const std::string& name, const model::KeyTable& table);

// The table of a release by name; the error lists those there are.
harness::OrError<const tables::ReleaseData*> ReadRelease(const std::string& name);

}  // namespace plumbline::cli

#endif  // PLUMBLINE_CONFORMANCE_CLI_KEYS_TEXT_H_
