// Lists of sizes and strides: what one passes, and what one builds.
//
//   void F(IntSpan sizes);   F({2, 3});   F(vector);   F(tensor.sizes());
//   DimVector sizes = {2, 3};   sizes.push_back(4);          // up to 5 dimensions: no allocation
//
// An IntSpan made of braces lives as long as the call that it is passed to. Plain values; any thread.
#ifndef PLUMBLINE_REFERENCE_TENSOR_DIMS_H_
#define PLUMBLINE_REFERENCE_TENSOR_DIMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace plumbline::reference {

inline constexpr int kInlineDims = 5;

class DimVector {
 public:
  using value_type = std::int64_t;

  DimVector() = default;
  explicit DimVector(std::size_t size, std::int64_t value = 0) {
    Reserve(size);
    size_ = size;
    std::fill(begin(), end(), value);
  }
  DimVector(std::initializer_list<std::int64_t> values) : DimVector(std::span(values.begin(), values.size())) {}
  DimVector(std::span<const std::int64_t> values) {
    Reserve(values.size());
    size_ = values.size();
    std::copy(values.begin(), values.end(), begin());
  }
  DimVector(const DimVector& other) : DimVector(std::span<const std::int64_t>(other.data(), other.size_)) {}
  DimVector(DimVector&& other) noexcept { Take(other); }
  DimVector& operator=(const DimVector& other) {
    if (this != &other) *this = DimVector(other);
    return *this;
  }
  DimVector& operator=(DimVector&& other) noexcept {
    if (this != &other) Take(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return heap_ != nullptr ? heap_.get() : inline_; }
  const std::int64_t* data() const { return heap_ != nullptr ? heap_.get() : inline_; }
  std::int64_t* begin() { return data(); }
  std::int64_t* end() { return data() + size_; }
  const std::int64_t* begin() const { return data(); }
  const std::int64_t* end() const { return data() + size_; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  std::int64_t& back() { return data()[size_ - 1]; }
  std::int64_t back() const { return data()[size_ - 1]; }

  void push_back(std::int64_t value) {
    if (size_ == capacity_) Reserve(2 * capacity_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void insert(std::size_t at, std::int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  void resize(std::size_t size, std::int64_t value = 0) {
    Reserve(size);
    if (size > size_) std::fill(begin() + size_, begin() + size, value);
    size_ = size;
  }
  void clear() { size_ = 0; }

  friend bool operator==(const DimVector& a, const DimVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void Reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto larger = std::make_unique_for_overwrite<std::int64_t[]>(capacity);
    std::copy(begin(), end(), larger.get());
    heap_ = std::move(larger);
    capacity_ = capacity;
  }
  void Take(DimVector& other) {
    heap_ = std::move(other.heap_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInlineDims);
    if (heap_ == nullptr) std::copy(other.inline_, other.inline_ + size_, inline_);
  }

  std::size_t size_ = 0, capacity_ = kInlineDims;
  std::unique_ptr<std::int64_t[]> heap_;
  std::int64_t inline_[kInlineDims];
};

class IntSpan : public std::span<const std::int64_t> {
 public:
  constexpr IntSpan() = default;
  constexpr IntSpan(std::span<const std::int64_t> values) : span(values) {}
  constexpr IntSpan(std::initializer_list<std::int64_t> values) : span(values.begin(), values.size()) {}
  IntSpan(const DimVector& values) : span(values.data(), values.size()) {}
  IntSpan(const std::vector<std::int64_t>& values) : span(values.data(), values.size()) {}

  friend bool operator==(IntSpan a, IntSpan b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }
};

std::string Print(IntSpan sizes);  // "[2, 3]"

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_TENSOR_DIMS_H_
