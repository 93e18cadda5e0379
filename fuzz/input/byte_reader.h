// Takes small decisions from bytes, front to back; when they are used up every decision is the first one.
//
//   ByteReader bytes(data, size);
//   switch (bytes.Below(3)) ...
//
// So every string of bytes means something, its start means the same whatever follows, and a byte less is a decision
// less: what engines need to mutate and to cut. A reader belongs to one thread and borrows the bytes.
#ifndef PLUMBLINE_FUZZ_INPUT_BYTE_READER_H_
#define PLUMBLINE_FUZZ_INPUT_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plumbline::fuzz {

class ByteReader {
 public:
  ByteReader(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  bool done() const { return at_ == end_; }
  std::uint8_t Byte() { return done() ? 0 : *at_++; }

  // 0 .. count-1; `count` is 1 to 256.
  int Below(int count) { return Byte() % count; }
  bool OneIn(int count) { return Below(count) == count - 1; }
  template <class List>
  const auto& Of(const List& list) {
    return list[static_cast<std::size_t>(Below(static_cast<int>(list.size())))];
  }
  std::uint64_t Number(int bytes) {
    std::uint64_t number = 0;
    for (int i = 0; i < bytes; ++i) number = number << 8 | Byte();
    return number;
  }
  // Its length comes first, one byte.
  std::string_view Text() {
    const std::size_t length = Byte();
    const std::size_t left = static_cast<std::size_t>(end_ - at_);
    const std::string_view text(reinterpret_cast<const char*>(at_), length < left ? length : left);
    at_ += text.size();
    return text;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace plumbline::fuzz

#endif  // PLUMBLINE_FUZZ_INPUT_BYTE_READER_H_
