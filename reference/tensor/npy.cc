#include "reference/tensor/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "reference/keys/error.h"
#include "reference/tensor/elements.h"
#include "reference/tensor/whole_file.h"

namespace plumbline::reference {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written as they lie here, and say '<'");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the data, by padding the header

[[noreturn]] void Refuse(const std::string& why) {
  Throw(ErrorClass::kInvalidArgument, "This is no .npy file: " + why);
}

// NumPy's letter of the kind, and the bytes of one element: "f4".
std::string KindOf(DType dtype) {
  const char letter = dtype == DType::kBool ? 'b' : IsFloating(dtype) ? 'f' : IsSigned(dtype) ? 'i' : 'u';
  return letter + std::to_string(SizeOf(dtype));
}

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

// A Python dict with the three keys, as NumPy writes it: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Header Read() {
    Header header;
    Expect('{');
    while (!Take('}')) {
      const std::string key = Text();
      Expect(':');
      if (key == "descr" && !header.descr) {
        header.descr = Text();
      } else if (key == "fortran_order" && !header.fortran_order) {
        header.fortran_order = Truth();
      } else if (key == "shape" && !header.shape) {
        header.shape = Numbers();
      } else {
        Refuse("its header has a key '" + key + "' too many; there are descr, fortran_order and shape");
      }
      if (Take(',')) continue;
      Expect('}');
      break;
    }
    SkipSpace();
    if (at_ != text_.size()) Fail("nothing more");
    if (!header.descr || !header.fortran_order || !header.shape) {
      Refuse(std::string("its header lacks ") + (!header.descr ? "descr" : !header.shape ? "shape" : "fortran_order"));
    }
    return header;
  }

 private:
  [[noreturn]] void Fail(const std::string& expected) const {
    Refuse("its header has something else than " + expected + " at byte " + std::to_string(at_));
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool Take(char one) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != one) return false;
    ++at_;
    return true;
  }
  void Expect(char one) {
    if (!Take(one)) Fail(std::string("'") + one + "'");
  }
  std::string Text() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[') {
      Throw(ErrorClass::kUnsupported, "This .npy file has records as elements, for which there is no dtype");
    }
    if (quote != '\'' && quote != '"') Fail("a text");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) Fail("a text that ends");
    std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }
  bool Truth() {
    SkipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    Fail("True or False");
  }
  std::vector<std::int64_t> Numbers() {
    std::vector<std::int64_t> numbers;
    Expect('(');
    while (!Take(')')) {
      SkipSpace();
      std::int64_t number = 0;
      const char* const first = text_.data() + at_;
      const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), number);
      if (error == std::errc::result_out_of_range) {
        Throw(ErrorClass::kOverflow, "The shape of this .npy file holds a size that does not fit into 64 bits");
      }
      if (error != std::errc() || number < 0) Fail("a size of the shape");
      numbers.push_back(number);
      at_ += static_cast<std::size_t>(end - first);
      Take('L');  // of Python 2
      if (Take(',')) continue;
      Expect(')');
      if (numbers.size() == 1) Refuse("its shape is a number in brackets, not a tuple");
      break;
    }
    return numbers;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

DType DTypeOfKind(const std::string& descr) {
  if (descr.size() > 1 && (descr[0] == '<' || descr[0] == '>' || descr[0] == '|' || descr[0] == '=')) {
    for (const DType dtype : kAllDTypes) {
      // '|': one byte has no order.
      if (dtype != DType::kBFloat16 && descr.substr(1) == KindOf(dtype) && (descr[0] != '|' || SizeOf(dtype) == 1)) {
        return dtype;
      }
    }
  }
  Throw(ErrorClass::kUnsupported, "This .npy file has elements of type '" + descr + "', for which there is no dtype");
}

void TurnRound(char* bytes, std::size_t count, std::size_t item) {
  for (std::size_t i = 0; i < count; ++i) std::reverse(bytes + i * item, bytes + (i + 1) * item);
}

}  // namespace

std::string WriteNpy(const Tensor& tensor) {
  CheckReadable(tensor, "saved");
  const DType dtype = tensor.dtype();
  if (dtype == DType::kBFloat16) {
    Throw(ErrorClass::kUnsupported,
          "A .npy file cannot hold bfloat16, which NumPy does not have; convert to float32, or save as safetensors");
  }
  std::string shape = "(";
  for (const std::int64_t size : tensor.sizes()) shape += std::to_string(size) + (tensor.dim() == 1 ? "," : ", ");
  if (tensor.dim() > 1) shape.resize(shape.size() - 2);
  std::string header = std::string("{'descr': '") + (SizeOf(dtype) == 1 ? '|' : '<') + KindOf(dtype) +
                       "', 'fortran_order': False, 'shape': " + shape + "), }";
  // Version 1 has two bytes for the header's length, version 2 four.
  const auto padded = [&](std::size_t before) {
    return (before + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - before;
  };
  const bool long_header = padded(10) > UINT16_MAX;
  const std::size_t length_bytes = long_header ? 4 : 2, before = kMagic.size() + 2 + length_bytes;
  const std::size_t length = padded(before);
  header.resize(length - 1, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += long_header ? '\2' : '\1';
  bytes += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  bytes += header;
  const std::size_t start = bytes.size();
  bytes.resize(start + static_cast<std::size_t>(tensor.numel()) * tensor.itemsize());
  CopyRowMajor(tensor, bytes.data() + start);
  return bytes;
}

Tensor ReadNpy(std::string_view bytes, const KeyTable& table) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < kMagic.size() + 2) {
    Refuse("it does not begin with \\x93NUMPY and a version");
  }
  const int major = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (major < 1 || major > 3) Refuse("its version is " + std::to_string(major) + "; known are 1, 2 and 3");
  const std::size_t length_bytes = major == 1 ? 2 : 4, before = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < before) Refuse("it ends before its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[kMagic.size() + 2 + i])) << (8 * i);
  }
  if (length > bytes.size() - before) {
    Refuse("its header would be " + std::to_string(length) + " bytes long, but " +
           std::to_string(bytes.size() - before) + " follow");
  }
  const Header header = HeaderReader(bytes.substr(before, length)).Read();
  const std::string_view data = bytes.substr(before + length);
  const DType dtype = DTypeOfKind(*header.descr);
  const std::int64_t size = CheckedBytes(*header.shape, dtype);
  if (static_cast<std::uint64_t>(size) != data.size()) {
    Refuse("shape " + Print(*header.shape) + " of '" + *header.descr + "' takes " + std::to_string(size) +
           " bytes, but " + std::to_string(data.size()) + " follow");
  }
  DimVector strides = ContiguousStrides(*header.shape);
  if (*header.fortran_order) {
    strides = ContiguousStrides(std::vector<std::int64_t>(header.shape->rbegin(), header.shape->rend()));
    std::reverse(strides.begin(), strides.end());
  }
  const Tensor tensor = Tensor::EmptyStrided(*header.shape, strides, dtype, DeviceType::kCpu, table);
  if (dtype == DType::kBool) CheckBools(data.data(), tensor.numel(), "This .npy file");
  if (!data.empty()) std::memcpy(tensor.data(), data.data(), data.size());
  if ((*header.descr)[0] == '>') {
    TurnRound(static_cast<char*>(tensor.data()), static_cast<std::size_t>(tensor.numel()), SizeOf(dtype));
  }
  return tensor;
}

void SaveNpy(const std::string& path, const Tensor& tensor) { WriteWholeFile(path, WriteNpy(tensor)); }

Tensor LoadNpy(const std::string& path, const KeyTable& table) {
  const std::string bytes = ReadWholeFile(path);
  try {
    return ReadNpy(bytes, table);
  } catch (const DispatchError& error) {
    Throw(error.error_class(), path + ": " + error.what());
  }
}

}  // namespace plumbline::reference
