// A scenario out of bytes: the language of the fuzz targets that run steps.
//
//   scenario::Scenario scenario = StepsFromBytes(bytes, {"pytorch-1.13", "pytorch-2.x"});
//
// Total: every string of bytes is a valid scenario, which prints and parses back equal. Compact: a step takes two to
// six bytes. Few operators, keys and kernels, so that registrations meet; names are mostly those that earlier steps
// made, and sometimes ones that are gone or never were. All steps are main's: targets that want threads give the steps
// away themselves. Pure functions; any thread.
#ifndef PLUMBLINE_FUZZ_INPUT_STEPS_FROM_BYTES_H_
#define PLUMBLINE_FUZZ_INPUT_STEPS_FROM_BYTES_H_

#include <string>
#include <vector>

#include "fuzz/input/byte_reader.h"
#include "spec/scenario/scenario.h"

namespace plumbline::fuzz {

inline constexpr std::size_t kMostSteps = 48;

// The first byte chooses the release among `releases`, of which there is at least one.
scenario::Scenario StepsFromBytes(ByteReader& bytes, const std::vector<std::string>& releases);

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_STEPS_FROM_BYTES_H_
