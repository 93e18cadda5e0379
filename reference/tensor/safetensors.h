// Named tensors in a file, bit-exact, in the safetensors format.
//
//   SaveSafetensors("model.safetensors", {{{"weight", w}, {"bias", b}}, {{"step", "7"}}});
//   NamedTensors loaded = LoadSafetensors("model.safetensors", table);      // loaded.tensors.at("weight")
//
// Only tensors on cpu are saved, row-major whatever their strides were; what is loaded is on cpu. A file that breaks
// the format's rules is kInvalidArgument (or kOverflow, for sizes that do not fit) with what is wrong and in which
// tensor; an element type that is none of ours kUnsupported. Nothing is believed: sizes are checked against the bytes
// that are there before memory is asked for. Any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_SAFETENSORS_H_
#define PLUMBLINE_REFERENCE_TENSOR_SAFETENSORS_H_

#include <map>
#include <string>
#include <string_view>

#include "reference/tensor/tensor.h"

namespace plumbline::reference {

struct NamedTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;
};

void SaveSafetensors(const std::string& path, const NamedTensors& named);
NamedTensors LoadSafetensors(const std::string& path, const KeyTable& table);

// The same in memory.
std::string WriteSafetensors(const NamedTensors& named);
NamedTensors ReadSafetensors(std::string_view bytes, const KeyTable& table);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_SAFETENSORS_H_
