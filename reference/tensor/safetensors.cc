#include "reference/tensor/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "reference/keys/error.h"
#include "reference/tensor/elements.h"
#include "reference/tensor/whole_file.h"

namespace plumbline::reference {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian, and written as it lies here");

constexpr std::size_t kPrefix = 8;                  // the header's length
constexpr std::uint64_t kMostHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

std::string_view NameOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "BOOL";
    case DType::kUint8:
      return "U8";
    case DType::kInt8:
      return "I8";
    case DType::kInt16:
      return "I16";
    case DType::kInt32:
      return "I32";
    case DType::kInt64:
      return "I64";
    case DType::kFloat16:
      return "F16";
    case DType::kBFloat16:
      return "BF16";
    case DType::kFloat32:
      return "F32";
    case DType::kFloat64:
      break;
  }
  return "F64";
}

struct Entry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<std::int64_t>> shape;
  std::optional<std::vector<std::int64_t>> offsets;  // begin and end of the tensor's bytes
};

[[noreturn]] void Refuse(const std::string& why) {
  Throw(ErrorClass::kInvalidArgument, "This is no safetensors file: " + why);
}

// Takes the header apart as it is read, so that nothing but what it may hold is ever built, however deep it is nested.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;

  bool start_object(std::size_t) override {
    if (depth_ > 1 || list_ != nullptr) Unexpected("an object");
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    in_metadata_ = in_metadata_ && depth_ > 1;
    return true;
  }
  bool key(std::string& key) override {
    if (depth_ == 1) {
      in_metadata_ = key == kMetadata;
      if (in_metadata_ ? std::exchange(seen_metadata_, true) : !names_.emplace(key, true).second) {
        Refuse("the header holds '" + key + "' twice");
      }
      if (!in_metadata_) entries.push_back({key, {}, {}, {}});
    } else if (!in_metadata_) {
      const Entry& entry = entries.back();
      if (key != "dtype" && key != "shape" && key != "data_offsets") {
        Refuse("tensor '" + entry.name + "' has a field '" + key + "'; there are dtype, shape and data_offsets");
      }
      if (key == "dtype"   ? entry.dtype.has_value()
          : key == "shape" ? entry.shape.has_value()
                           : entry.offsets.has_value()) {
        Refuse("tensor '" + entry.name + "' has the field '" + key + "' twice");
      }
    } else if (metadata.contains(key)) {
      Refuse("the metadata holds '" + key + "' twice");
    }
    key_ = key;
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ != 2 || list_ != nullptr || (!in_metadata_ && key_ != "dtype")) Unexpected("a text");
    if (in_metadata_) {
      metadata[key_] = text;
    } else {
      entries.back().dtype = text;
    }
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || list_ != nullptr || in_metadata_ || key_ == "dtype") Unexpected("a list");
    auto& list = key_ == "shape" ? entries.back().shape : entries.back().offsets;
    list_ = &list.emplace();
    return true;
  }
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (list_ == nullptr) Unexpected("a number");
    if (number > INT64_MAX) TooLarge(std::to_string(number));
    list_->push_back(static_cast<std::int64_t>(number));
    return true;
  }
  bool number_integer(std::int64_t number) override { Unexpected("the negative number " + std::to_string(number)); }
  bool number_float(double number, const std::string& text) override {
    if (number > static_cast<double>(INT64_MAX)) TooLarge(text);
    Unexpected("the number " + text);
  }
  bool null() override { Unexpected("null"); }
  bool boolean(bool) override { Unexpected("true or false"); }
  bool binary(nlohmann::json::binary_t&) override { Unexpected("binary data"); }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception& error) override {
    Refuse("its header is no JSON at byte " + std::to_string(at + kPrefix) + ": " + error.what());
  }

 private:
  std::string Where() const {
    if (depth_ == 0) return "the header";
    if (in_metadata_) return "the metadata";
    return depth_ == 1 ? "'" + key_ + "'" : "'" + key_ + "' of tensor '" + entries.back().name + "'";
  }
  [[noreturn]] void TooLarge(const std::string& number) const {
    Throw(ErrorClass::kOverflow, Where() + " holds " + number + ", which does not fit into 64 bits");
  }
  [[noreturn]] void Unexpected(const std::string& what) const { Refuse(Where() + " holds " + what); }

  int depth_ = 0;
  bool in_metadata_ = false, seen_metadata_ = false;
  std::string key_;
  std::map<std::string, bool> names_;
  std::vector<std::int64_t>* list_ = nullptr;
};

DType DTypeOfName(const Entry& entry) {
  for (const DType dtype : kAllDTypes) {
    if (NameOf(dtype) == *entry.dtype) return dtype;
  }
  Throw(ErrorClass::kUnsupported,
        "Tensor '" + entry.name + "' has elements of type '" + *entry.dtype + "', for which there is no dtype");
}

Tensor ReadEntry(const Entry& entry, std::string_view data, const KeyTable& table) {
  const std::string where = "Tensor '" + entry.name + "'";
  const DType dtype = DTypeOfName(entry);
  const std::int64_t bytes = CheckedBytes(*entry.shape, dtype);
  const std::int64_t begin = (*entry.offsets)[0], end = (*entry.offsets)[1];
  if (end - begin != bytes) {
    Throw(ErrorClass::kInvalidArgument, where + " of shape " + Print(*entry.shape) + " and type " + *entry.dtype +
                                            " takes " + std::to_string(bytes) + " bytes, but its data_offsets hold " +
                                            std::to_string(end - begin));
  }
  const char* const from = data.data() + begin;
  Tensor tensor = Tensor::Empty(*entry.shape, dtype, DeviceType::kCpu, table);
  if (dtype == DType::kBool) CheckBools(from, tensor.numel(), where);
  if (bytes > 0) std::memcpy(tensor.data(), from, static_cast<std::size_t>(bytes));
  return tensor;
}

}  // namespace

std::string WriteSafetensors(const NamedTensors& named) {
  using One = std::pair<const std::string, Tensor>;
  std::vector<const One*> order;
  for (const One& one : named.tensors) {
    if (one.first == kMetadata) Throw(ErrorClass::kInvalidArgument, "A tensor cannot be called __metadata__");
    CheckReadable(one.second, "saved");
    order.push_back(&one);
  }
  // Wide elements first, so that each tensor is aligned to its own.
  std::stable_sort(order.begin(), order.end(),
                   [](const One* a, const One* b) { return a->second.itemsize() > b->second.itemsize(); });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!named.metadata.empty()) header[std::string(kMetadata)] = named.metadata;
  std::size_t at = 0;
  for (const One* one : order) {
    const std::size_t bytes = static_cast<std::size_t>(one->second.numel()) * one->second.itemsize();
    const IntSpan sizes = one->second.sizes();
    header[one->first] = {{"dtype", NameOf(one->second.dtype())},
                          {"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())},
                          {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    Throw(ErrorClass::kInvalidArgument, std::string("A name or metadata is not UTF-8: ") + error.what());
  }
  text.resize((text.size() + kPrefix - 1) / kPrefix * kPrefix, ' ');
  const std::uint64_t length = text.size();
  std::string bytes(kPrefix + text.size() + at, '\0');
  std::memcpy(bytes.data(), &length, kPrefix);
  std::memcpy(bytes.data() + kPrefix, text.data(), text.size());
  char* to = bytes.data() + kPrefix + text.size();
  for (const One* one : order) {
    CopyRowMajor(one->second, to);
    to += static_cast<std::size_t>(one->second.numel()) * one->second.itemsize();
  }
  return bytes;
}

NamedTensors ReadSafetensors(std::string_view bytes, const KeyTable& table) {
  std::uint64_t length = 0;
  if (bytes.size() < kPrefix)
    Refuse("it has " + std::to_string(bytes.size()) + " bytes, fewer than the header's length takes");
  std::memcpy(&length, bytes.data(), kPrefix);
  if (length > kMostHeader || length > bytes.size() - kPrefix) {
    Refuse("its header would be " + std::to_string(length) + " bytes long, but " +
           std::to_string(bytes.size() - kPrefix) + " follow, and at most " + std::to_string(kMostHeader) +
           " are allowed");
  }
  const std::string_view header = bytes.substr(kPrefix, length), data = bytes.substr(kPrefix + length);
  if (header.empty() || header[0] != '{') Refuse("its header does not begin with '{'");
  HeaderReader reader;
  nlohmann::json::sax_parse(header.begin(), header.end(), &reader);

  std::vector<Entry>& entries = reader.entries;
  for (const Entry& entry : entries) {
    if (!entry.dtype || !entry.shape || !entry.offsets) {
      Refuse("tensor '" + entry.name + "' lacks " + (!entry.dtype ? "dtype" : !entry.shape ? "shape" : "data_offsets"));
    }
    if (entry.offsets->size() != 2 || (*entry.offsets)[0] > (*entry.offsets)[1]) {
      Refuse("the data_offsets of tensor '" + entry.name + "' are not a begin and an end");
    }
  }
  // The tensors' bytes follow each other without gaps and are all that there is.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return *a.offsets < *b.offsets; });
  std::int64_t at = 0;
  for (const Entry& entry : entries) {
    if ((*entry.offsets)[0] != at) {
      Refuse("the bytes of tensor '" + entry.name + "' begin at " + std::to_string((*entry.offsets)[0]) +
             ", but those before it end at " + std::to_string(at));
    }
    at = (*entry.offsets)[1];
  }
  if (static_cast<std::uint64_t>(at) != data.size()) {
    Refuse("its tensors end at byte " + std::to_string(at) + " of the data, which are " + std::to_string(data.size()));
  }
  NamedTensors named;
  named.metadata = std::move(reader.metadata);
  for (const Entry& entry : entries) named.tensors.emplace(entry.name, ReadEntry(entry, data, table));
  return named;
}

void SaveSafetensors(const std::string& path, const NamedTensors& named) {
  WriteWholeFile(path, WriteSafetensors(named));
}

NamedTensors LoadSafetensors(const std::string& path, const KeyTable& table) {
  const std::string bytes = ReadWholeFile(path);
  try {
    return ReadSafetensors(bytes, table);
  } catch (const DispatchError& error) {
    Throw(error.error_class(), path + ": " + error.what());
  }
}

}  // namespace plumbline::reference
