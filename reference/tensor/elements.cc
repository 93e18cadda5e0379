#include "reference/tensor/elements.h"

#include <cstring>

#include "reference/keys/error.h"

namespace plumbline::reference {

void CheckReadable(const Tensor& tensor, const std::string& wanted) {
  if (tensor.device().type == DeviceType::kCpu) return;
  Throw(ErrorClass::kUnsupported, "Only a tensor on cpu can be " + wanted + ", not one on " +
                                      tensor.device().Spelling() + "; copy it to cpu first");
}

void CopyRowMajor(const Tensor& tensor, void* bytes) {
  const std::size_t item = tensor.itemsize();
  const std::int64_t numel = tensor.numel();
  if (numel == 0) return;
  const char* const from = static_cast<const char*>(tensor.data());
  char* to = static_cast<char*>(bytes);
  if (tensor.is_contiguous()) {
    std::memcpy(to, from, static_cast<std::size_t>(numel) * item);
    return;
  }
  const IntSpan sizes = tensor.sizes(), strides = tensor.strides();
  DimVector at(sizes.size());
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < numel; ++i, to += item) {
    std::memcpy(to, from + offset * static_cast<std::int64_t>(item), item);
    for (std::size_t dim = sizes.size(); dim-- > 0;) {
      offset += strides[dim];
      if (++at[dim] < sizes[dim]) break;
      offset -= strides[dim] * sizes[dim];
      at[dim] = 0;
    }
  }
}

void CheckBools(const void* bytes, std::int64_t numel, const std::string& where) {
  const auto* const values = static_cast<const unsigned char*>(bytes);
  for (std::int64_t i = 0; i < numel; ++i) {
    if (values[i] > 1) {
      Throw(ErrorClass::kInvalidArgument, where + ": the bool at " + std::to_string(i) + " is the byte " +
                                              std::to_string(values[i]) + ", neither 0 nor 1");
    }
  }
}

}  // namespace plumbline::reference
