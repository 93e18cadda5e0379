// A short list that lies in its owner: the first N elements need no allocation.
//
//   InlineVector<Edge, 2> edges;
//   edges.push_back(edge);   for (Edge& edge : edges) ...
//
// Moves its elements when it grows or is moved; not copied. Plain value.
#ifndef PLUMBLINE_REFERENCE_AUTOGRAD_INLINE_VECTOR_H_
#define PLUMBLINE_REFERENCE_AUTOGRAD_INLINE_VECTOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace plumbline::reference {

template <class T, std::uint32_t N>
class InlineVector {
 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t size) { resize(size); }
  InlineVector(InlineVector&& other) noexcept { Take(other); }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    clear();
    Take(other);
    return *this;
  }
  ~InlineVector() { clear(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return heap_ != nullptr ? heap_ : reinterpret_cast<T*>(inline_); }
  const T* data() const { return heap_ != nullptr ? heap_ : reinterpret_cast<const T*>(inline_); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }

  template <class... A>
  T& emplace_back(A&&... arguments) {
    if (size_ == capacity_) Grow(2 * capacity_);
    return *new (data() + size_++) T(std::forward<A>(arguments)...);
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void resize(std::size_t size) {
    while (size_ > size) data()[--size_].~T();
    if (size > capacity_) Grow(static_cast<std::uint32_t>(size));
    while (size_ < size) new (data() + size_++) T();
  }
  void clear() {
    std::destroy(begin(), end());
    if (heap_ != nullptr) ::operator delete(heap_, std::align_val_t(alignof(T)));
    heap_ = nullptr;
    size_ = 0;
    capacity_ = N;
  }

 private:
  void Grow(std::uint32_t capacity) {
    T* const grown = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t(alignof(T))));
    std::uninitialized_move(begin(), end(), grown);
    const std::uint32_t size = size_;
    clear();
    heap_ = grown;
    size_ = size;
    capacity_ = capacity;
  }
  void Take(InlineVector& other) {
    if (other.heap_ != nullptr) {
      heap_ = std::exchange(other.heap_, nullptr);
      size_ = std::exchange(other.size_, 0u);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    std::uninitialized_move(other.begin(), other.end(), reinterpret_cast<T*>(inline_));
    size_ = other.size_;
    other.clear();
  }

  T* heap_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = N;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_AUTOGRAD_INLINE_VECTOR_H_
