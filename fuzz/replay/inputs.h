// Inputs of a fuzz target, as files: found and read, with words for what cannot be.
//
//   std::vector<std::string> files;
//   if (auto wrong = CollectInputs("corpus/schema_text", files)) return Complain(*wrong);
//   std::vector<std::uint8_t> bytes;
//   if (auto wrong = ReadInput(files.front(), bytes)) return Complain(*wrong);
//
// Nothing here throws, and nothing waits: a pipe or a device is no input. Touches the file system; any thread.
#ifndef PLUMBLINE_FUZZ_REPLAY_INPUTS_H_
#define PLUMBLINE_FUZZ_REPLAY_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumbline::fuzz {

// What is larger was made by no engine.
inline constexpr std::size_t kLargestInput = std::size_t{64} << 20;

// Adds the file, or the regular files in the folder and those below it. Why it cannot, with the path.
std::optional<std::string> CollectInputs(const std::string& path, std::vector<std::string>& files);

// All bytes of a file. Why it cannot, with the path.
std::optional<std::string> ReadInput(const std::string& file, std::vector<std::uint8_t>& bytes);

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_REPLAY_INPUTS_H_
