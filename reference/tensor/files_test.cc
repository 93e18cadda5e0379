// Tensors in files: .npy and safetensors.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>

#include "reference/keys/error.h"
#include "reference/tensor/elements.h"
#include "reference/tensor/npy.h"
#include "reference/tensor/safetensors.h"
#include "reference/tensor/whole_file.h"

namespace plumbline::reference {
namespace {

using testing::HasSubstr;
using enum ErrorClass;

const KeyTable& Table() { return *KeyTable::ForRelease("pytorch-1.13"); }

std::string Bytes(const Tensor& tensor) {
  std::string bytes(static_cast<std::size_t>(tensor.numel()) * tensor.itemsize(), '\0');
  CopyRowMajor(tensor, bytes.data());
  return bytes;
}

// Every bit pattern that the dtype allows.
Tensor Noise(IntSpan sizes, DType dtype, unsigned seed) {
  const Tensor tensor = Tensor::Empty(sizes, dtype, DeviceType::kCpu, Table());
  std::mt19937 random(seed);
  auto* const bytes = static_cast<unsigned char*>(tensor.data());
  for (std::size_t i = 0; i < tensor.storage().bytes(); ++i) {
    bytes[i] = static_cast<unsigned char>(dtype == DType::kBool ? random() % 2 : random());
  }
  return tensor;
}

void ExpectSame(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.sizes(), b.sizes());
  EXPECT_EQ(Bytes(a), Bytes(b));
}

template <class Read>
void ExpectError(ErrorClass error_class, const std::string& says, const std::string& bytes, Read read) {
  try {
    read(bytes, Table());
    ADD_FAILURE() << "was read: " << says;
  } catch (const DispatchError& error) {
    EXPECT_EQ(error.error_class(), error_class) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(says));
  }
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("plumbline_files_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Reads spoilt copies of a file: each is read or refused, and nothing else happens. Returns how many were refused.
template <class Read>
int ReadSpoilt(const std::string& file, std::size_t header_end, Read read) {
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string spoilt = file;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % (random() % 4 == 0 ? spoilt.size() : std::min(header_end, spoilt.size()));
      switch (random() % 5) {
        case 0:
          spoilt[at] = static_cast<char>(random());
          break;
        case 1:
          spoilt[at] = static_cast<char>(spoilt[at] ^ (1 << random() % 8));
          break;
        case 2:
          spoilt.resize(at + 1);
          break;
        case 3:
          spoilt.erase(at, 1 + random() % 4);
          if (spoilt.empty()) spoilt = "x";
          break;
        default:
          spoilt.insert(at, spoilt.substr(random() % spoilt.size(), 1 + random() % 8));
      }
    }
    try {
      read(spoilt, Table());
    } catch (const DispatchError& error) {
      ++refused;
      EXPECT_NE(error.error_class(), kInternal);
      EXPECT_GT(std::strlen(error.what()), 20u);
    }
  }
  return refused;
}

// ---- safetensors ----

// A file of that header, with `data` bytes behind it.
std::string Safetensors(const std::string& header, std::size_t data) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\1');
}

TEST(Safetensors, EveryDTypeIsKeptBitForBit) {
  const Folder folder;
  NamedTensors named;
  unsigned seed = 0;
  for (const DType dtype : kAllDTypes) named.tensors.emplace(Spelling(dtype), Noise({3, 5}, dtype, ++seed));
  named.tensors.emplace("scalar", Noise({}, DType::kFloat64, 40));
  named.tensors.emplace("empty", Noise({0, 1000}, DType::kInt16, 41));
  named.tensors.emplace("deep", Noise({1, 2, 1, 3, 1, 2, 1}, DType::kInt8, 42));
  named.tensors.emplace("\"quoted\"\n\xC3\xA4", Noise({2}, DType::kInt32, 43));
  named.metadata = {{"format", "pt"}, {"empty", ""}};
  SaveSafetensors(folder / "a.safetensors", named);
  const NamedTensors loaded = LoadSafetensors(folder / "a.safetensors", Table());
  EXPECT_EQ(loaded.metadata, named.metadata);
  ASSERT_EQ(loaded.tensors.size(), named.tensors.size());
  for (const auto& [name, tensor] : named.tensors) ExpectSame(loaded.tensors.at(name), tensor);
  EXPECT_EQ(WriteSafetensors(loaded), ReadWholeFile(folder / "a.safetensors"));
}

TEST(Safetensors, IsWrittenAsOthersReadIt) {
  NamedTensors named;
  const Tensor a = Tensor::Empty({2}, DType::kInt16, DeviceType::kCpu, Table());
  a.data<std::int16_t>()[0] = 1;
  a.data<std::int16_t>()[1] = -2;
  const Tensor b = Tensor::Empty({}, DType::kFloat32, DeviceType::kCpu, Table());
  b.data<float>()[0] = 1;
  named.tensors = {{"a", a}, {"b", b}};
  // The wider elements come first, and the header is filled up to a multiple of 8.
  const std::string header = R"({"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                             R"("a":{"dtype":"I16","shape":[2],"data_offsets":[4,8]}})";
  std::string filled = header;
  filled.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(WriteSafetensors(named), Safetensors(filled, 0) + std::string("\0\0\x80\x3F\1\0\xFE\xFF", 8));
  ExpectSame(ReadSafetensors(WriteSafetensors(named), Table()).tensors.at("a"), a);
  EXPECT_EQ(WriteSafetensors({}), Safetensors("{}      ", 0));
}

TEST(Safetensors, ViewsAreSavedRowMajor) {
  const Tensor whole = Noise({4, 6}, DType::kInt16, 3);
  const Tensor turned = whole.View({6, 4}, {1, 6}, 0);
  NamedTensors named;
  named.tensors.emplace("turned", turned);
  const Tensor loaded = ReadSafetensors(WriteSafetensors(named), Table()).tensors.at("turned");
  EXPECT_TRUE(loaded.is_contiguous());
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(loaded.data<std::int16_t>()[4 * i + j], whole.data<std::int16_t>()[6 * j + i]);
    }
  }
}

TEST(Safetensors, WhatBreaksTheRulesIsRefused) {
  const auto refuse = [](ErrorClass error_class, const std::string& says, const std::string& header, std::size_t data) {
    ExpectError(error_class, says, Safetensors(header, data), ReadSafetensors);
  };
  const std::string good = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  EXPECT_EQ(ReadSafetensors(Safetensors(good, 2), Table()).tensors.size(), 1u);
  refuse(kInvalidArgument, "end at byte 2 of the data, which are 3", good, 3);
  refuse(kInvalidArgument, "end at byte 2 of the data, which are 1", good, 1);
  ExpectError(kInvalidArgument, "0 bytes, fewer", "", ReadSafetensors);
  ExpectError(kInvalidArgument, "1000000 bytes long", std::string("\x40\x42\x0F\0\0\0\0\0{}", 10), ReadSafetensors);
  ExpectError(kInvalidArgument, "18446744073709551615", std::string(8, '\xFF') + "{}", ReadSafetensors);
  refuse(kInvalidArgument, "does not begin with '{'", " {}", 0);
  refuse(kInvalidArgument, "does not begin with '{'", "", 0);
  refuse(kInvalidArgument, "no JSON at byte", R"({"a":})", 0);
  refuse(kInvalidArgument, "no JSON at byte", R"({} {})", 0);
  refuse(kInvalidArgument, "no JSON at byte", "{\"\xFF\":1}", 0);
  refuse(kInvalidArgument, "'a' twice", R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}})", 0);
  refuse(kInvalidArgument, "'__metadata__' twice", R"({"__metadata__":{},"__metadata__":{}})", 0);
  refuse(kInvalidArgument, "metadata holds 'x' twice", R"({"__metadata__":{"x":"1","x":"2"}})", 0);
  refuse(kInvalidArgument, "metadata holds a number", R"({"__metadata__":{"x":1}})", 0);
  refuse(kInvalidArgument, "metadata holds a list", R"({"__metadata__":{"x":[]}})", 0);
  refuse(kInvalidArgument, "tensor 'a' lacks dtype", R"({"a":{"shape":[0],"data_offsets":[0,0]}})", 0);
  refuse(kInvalidArgument, "tensor 'a' lacks shape", R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0);
  refuse(kInvalidArgument, "tensor 'a' lacks data_offsets", R"({"a":{"dtype":"U8","shape":[0]}})", 0);
  refuse(kInvalidArgument, "a field 'strides'", R"({"a":{"strides":[1]}})", 0);
  refuse(kInvalidArgument, "the field 'shape' twice", R"({"a":{"shape":[1],"shape":[2]}})", 0);
  refuse(kInvalidArgument, "'shape' of tensor 'a' holds the negative number -1", R"({"a":{"shape":[-1]}})", 0);
  refuse(kInvalidArgument, "'shape' of tensor 'a' holds the number 1.5", R"({"a":{"shape":[1.5]}})", 0);
  refuse(kInvalidArgument, "holds a list", R"({"a":{"shape":[[1]]}})", 0);
  refuse(kInvalidArgument, "holds an object", R"({"a":{"shape":{}}})", 0);
  refuse(kInvalidArgument, "holds an object", R"({"a":{"shape":[{}]}})", 0);
  refuse(kInvalidArgument, "holds null", R"({"a":null})", 0);
  refuse(kInvalidArgument, "'dtype' of tensor 'a' holds a number", R"({"a":{"dtype":5}})", 0);
  refuse(kInvalidArgument, "not a begin and an end", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", 2);
  refuse(kInvalidArgument, "not a begin and an end", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,1,2]}})", 2);
  refuse(kInvalidArgument, "takes 3 bytes, but its data_offsets hold 2",
         R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,2]}})", 2);
  refuse(kInvalidArgument, "begin at 1, but those before it end at 0",
         R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2);
  refuse(kInvalidArgument, "'b' begin at 1, but those before it end at 2",
         R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
         3);
  refuse(kUnsupported, "type 'C64'", R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", 8);
  ExpectError(kInvalidArgument, "'a': the bool at 0 is the byte 9",
              Safetensors(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 0) + "\x09", ReadSafetensors);
  refuse(kOverflow, "64 bits", R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0);
  refuse(kOverflow, "64 bits", R"({"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0);
  refuse(kOverflow, "18446744073709551615", R"({"a":{"shape":[18446744073709551615]}})", 0);
  refuse(kOverflow, "does not fit", R"({"a":{"shape":[200000000000000000000]}})", 0);
  // As deep as it likes.
  refuse(kInvalidArgument, "holds a list", R"({"a":{"shape":)" + std::string(1000000, '['), 0);
  NamedTensors named;
  named.tensors.emplace("__metadata__", Noise({1}, DType::kInt8, 1));
  EXPECT_THROW(WriteSafetensors(named), DispatchError);
  named.tensors = {{"\xFF", Noise({1}, DType::kInt8, 1)}};
  EXPECT_THROW(WriteSafetensors(named), DispatchError);
  named.tensors = {{"a", Tensor::Empty({1}, DType::kInt8, DeviceType::kMeta, Table())}};
  EXPECT_THROW(WriteSafetensors(named), DispatchError);
}

TEST(Safetensors, SpoiltFilesAreReadOrRefused) {
  NamedTensors named;
  named.tensors.emplace("weight", Noise({3, 2}, DType::kFloat32, 1));
  named.tensors.emplace("mask", Noise({5}, DType::kBool, 2));
  named.metadata = {{"format", "pt"}};
  const std::string file = WriteSafetensors(named);
  EXPECT_GT(ReadSpoilt(file, file.size() - 29, ReadSafetensors), 10000);
}

// ---- .npy ----

// A file of version 1 with that header.
std::string Npy(const std::string& header, const std::string& data) {
  std::string bytes = std::string("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size() & 0xFF);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

TEST(Npy, EveryDTypeButBFloat16IsKeptBitForBit) {
  const Folder folder;
  unsigned seed = 0;
  for (const DType dtype : kAllDTypes) {
    for (const DimVector& sizes : {DimVector{3, 5}, DimVector{}, DimVector{7}, DimVector{0, 4}, DimVector(9, 1)}) {
      const Tensor tensor = Noise(sizes, dtype, ++seed);
      if (dtype == DType::kBFloat16) {
        try {
          SaveNpy(folder / "a.npy", tensor);
          ADD_FAILURE();
        } catch (const DispatchError& error) {
          EXPECT_EQ(error.error_class(), kUnsupported);
          EXPECT_THAT(error.what(), HasSubstr("bfloat16"));
        }
        continue;
      }
      SaveNpy(folder / "a.npy", tensor);
      ExpectSame(LoadNpy(folder / "a.npy", Table()), tensor);
      EXPECT_EQ((ReadWholeFile(folder / "a.npy").size() - tensor.storage().bytes()) % 64, 0u);
    }
  }
}

TEST(Npy, IsWrittenAsNumPyDoes) {
  const auto header_of = [](IntSpan sizes, DType dtype) {
    const std::string bytes = WriteNpy(Noise(sizes, dtype, 1));
    EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
    EXPECT_EQ(bytes[127], '\n');
    return bytes.substr(10, bytes.find_last_not_of(" \n", 127) - 9);
  };
  EXPECT_EQ(header_of({3, 5}, DType::kFloat32), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }");
  EXPECT_EQ(header_of({3}, DType::kInt64), "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(header_of({}, DType::kBool), "{'descr': '|b1', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(header_of({0}, DType::kUint8), "{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }");
  // A header beyond the two bytes for its length is version 2.
  const Tensor deep = Noise(DimVector(30000, 1), DType::kInt8, 1);
  EXPECT_EQ(WriteNpy(deep)[6], 2);
  ExpectSame(ReadNpy(WriteNpy(deep), Table()), deep);
}

TEST(Npy, OtherOrdersAreRead) {
  const Tensor a = ReadNpy(
      Npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12)),
      Table());
  EXPECT_EQ(a.strides(), IntSpan({1, 2}));
  EXPECT_EQ(Bytes(a), std::string("\1\0\3\0\5\0\2\0\4\0\6\0", 12));
  const Tensor b = ReadNpy(
      Npy("{\"shape\":(2L,),'descr':'>i4','fortran_order':False}", std::string("\0\0\0\1\1\0\0\0", 8)), Table());
  EXPECT_EQ(b.data<std::int32_t>()[0], 1);
  EXPECT_EQ(b.data<std::int32_t>()[1], 1 << 24);
}

TEST(Npy, WhatBreaksTheRulesIsRefused) {
  const auto refuse = [](ErrorClass error_class, const std::string& says, const std::string& header,
                         const std::string& data) { ExpectError(error_class, says, Npy(header, data), ReadNpy); };
  const std::string two(2, '\1');
  EXPECT_EQ(ReadNpy(Npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", two), Table()).numel(), 2);
  ExpectError(kInvalidArgument, "does not begin", "", ReadNpy);
  ExpectError(kInvalidArgument, "does not begin", "\x93NUMPY", ReadNpy);
  ExpectError(kInvalidArgument, "version is 9", "\x93NUMPY\x09\x01", ReadNpy);
  ExpectError(kInvalidArgument, "before its header", std::string("\x93NUMPY\2\0\1\0", 10), ReadNpy);
  ExpectError(kInvalidArgument, "65535 bytes long", "\x93NUMPY\1\1\xFF\xFF{}", ReadNpy);
  refuse(kInvalidArgument, "'{' at byte 0", "[]", "");
  refuse(kInvalidArgument, "lacks descr", "{}", "");
  refuse(kInvalidArgument, "lacks shape", "{'descr': '|u1', 'fortran_order': False}", "");
  refuse(kInvalidArgument, "lacks fortran_order", "{'descr': '|u1', 'shape': ()}", "");
  refuse(kInvalidArgument, "a key 'color'", "{'color': 1}", "");
  refuse(kInvalidArgument, "a key 'descr'", "{'descr': '|u1', 'descr': '|u1'}", "");
  refuse(kInvalidArgument, "a text that ends", "{'descr", "");
  refuse(kInvalidArgument, "a text at", "{'descr': 4}", "");
  refuse(kInvalidArgument, "True or False", "{'fortran_order': 0}", "");
  refuse(kInvalidArgument, "not a tuple", "{'shape': (2)}", "");
  refuse(kInvalidArgument, "a size of the shape", "{'shape': (-2,)}", "");
  refuse(kInvalidArgument, "a size of the shape", "{'shape': (2, x)}", "");
  refuse(kInvalidArgument, "nothing more", "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), } x", two);
  refuse(kInvalidArgument, "takes 3 bytes, but 2 follow", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }",
         two);
  refuse(kInvalidArgument, "takes 1 bytes, but 2 follow", "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }",
         two);
  refuse(kInvalidArgument, "neither 0 nor 1", "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\1\2");
  refuse(kUnsupported, "'<c8'", "{'descr': '<c8', 'fortran_order': False, 'shape': (0,), }", "");
  refuse(kUnsupported, "'|O'", "{'descr': '|O', 'fortran_order': False, 'shape': (0,), }", "");
  refuse(kUnsupported, "'|i4'", "{'descr': '|i4', 'fortran_order': False, 'shape': (0,), }", "");
  refuse(kUnsupported, "'<f16'", "{'descr': '<f16', 'fortran_order': False, 'shape': (0,), }", "");
  refuse(kUnsupported, "records", "{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (0,), }", "");
  refuse(kOverflow, "64 bits", "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "");
  refuse(kOverflow, "64 bits", "{'shape': (99999999999999999999,)}", "");
}

TEST(Npy, SpoiltFilesAreReadOrRefused) {
  const std::string file = WriteNpy(Noise({3, 5}, DType::kFloat16, 1));
  EXPECT_GT(ReadSpoilt(file, 128, ReadNpy), 10000);
}

// ---- files ----

TEST(Files, ErrorsNameThePath) {
  const Folder folder;
  for (const bool npy : {false, true}) {
    const auto load = [&](const std::string& path) {
      if (npy) {
        LoadNpy(path, Table());
      } else {
        LoadSafetensors(path, Table());
      }
    };
    const auto expect = [&](const std::string& path, ErrorClass error_class) {
      try {
        load(path);
        ADD_FAILURE();
      } catch (const DispatchError& error) {
        EXPECT_EQ(error.error_class(), error_class) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(path));
      }
    };
    expect(folder / "none", kNotFound);
    expect(folder / "", kInvalidArgument);  // a folder
    WriteWholeFile(folder / "bad", "xyz");
    expect(folder / "bad", kInvalidArgument);
  }
  EXPECT_THROW(SaveNpy(folder / "none/a.npy", Noise({1}, DType::kInt8, 1)), DispatchError);
}

TEST(Files, AreReplacedAsAWhole) {
  const Folder folder;
  WriteWholeFile(folder / "a", "former");
  WriteWholeFile(folder / "a", "new");
  EXPECT_EQ(ReadWholeFile(folder / "a"), "new");
  // What cannot be written leaves nothing behind.
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THROW(WriteWholeFile(folder / "taken", "x"), DispatchError);
  int files = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder / "")) ++files;
  EXPECT_EQ(files, 2);
}

}  // namespace
}  // namespace plumbline::reference
