// A set of dispatch keys: one 64-bit word, laid out so that the call path needs two bit scans and no table of its own.
//
//   bits  0..46  functionalities, the highest priority at the lowest bit, so that a trailing-zero count finds it
//   bits 47..62  backend components, likewise
//   bit  63      always set: a scan never sees an empty word. A functionality scan of a set without functionalities
//                ends at bit 47 or above, a component scan of a set without components at 16.
//
// What a bit means is said by a KeyTable (key_table.h); a set is only meaningful with the table that made it. A set is
// a cross product: a per-backend key is a functionality bit and a component bit, so that {CPU, AutogradCUDA} also holds
// CUDA and AutogradCPU.
//
//   KeySet below = received & table.Below(key);      // what a redispatching kernel passes on
//
// Plain value; any thread.
#ifndef PLUMBLINE_REFERENCE_KEYS_KEY_SET_H_
#define PLUMBLINE_REFERENCE_KEYS_KEY_SET_H_

#include <cstdint>

namespace plumbline::reference {

// The position of the lowest set bit of a word that is not 0. In assembly where that saves the sign extension that the
// builtin's int result costs on the call path.
inline std::uint64_t LowestBit(std::uint64_t word) {
#if defined(__x86_64__)
  std::uint64_t position;
  asm("rep bsfq %1, %0" : "=r"(position) : "r"(word) : "cc");
  return position;
#else
  return static_cast<std::uint64_t>(__builtin_ctzll(word));
#endif
}

class KeySet {
 public:
  static constexpr int kFunctionalities = 47;
  static constexpr int kComponents = 16;
  static constexpr int kComponentShift = kFunctionalities;
  static constexpr std::uint64_t kAlways = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kFunctionalityBits = (std::uint64_t{1} << kFunctionalities) - 1;
  static constexpr std::uint64_t kComponentBits = ((std::uint64_t{1} << kComponents) - 1) << kComponentShift;

  constexpr KeySet() = default;
  static constexpr KeySet FromBits(std::uint64_t bits) {
    KeySet set;
    set.bits_ = bits | kAlways;
    return set;
  }
  // The word of another set, or computed from such.
  static constexpr KeySet FromWord(std::uint64_t bits) {
    KeySet set;
    set.bits_ = bits;
    return set;
  }
  constexpr std::uint64_t bits() const { return bits_; }

  constexpr bool empty() const { return bits_ == kAlways; }
  constexpr bool has_functionality() const { return (bits_ & kFunctionalityBits) != 0; }
  constexpr bool contains(KeySet other) const { return (bits_ & other.bits_) == other.bits_; }

  friend constexpr KeySet operator|(KeySet a, KeySet b) { return FromWord(a.bits_ | b.bits_); }
  friend constexpr KeySet operator&(KeySet a, KeySet b) { return FromWord(a.bits_ & b.bits_); }
  // Only functionalities are taken away: component bits stay, so that the other keys of a backend keep theirs.
  friend constexpr KeySet operator-(KeySet a, KeySet b) { return FromBits(a.bits_ & ~(b.bits_ & kFunctionalityBits)); }
  friend constexpr bool operator==(KeySet, KeySet) = default;

  // 0..46: the position of the highest functionality; 47 and above: there is none.
  std::uint64_t functionality_position() const { return LowestBit(bits_); }
  // 0..15: the position of the highest component; 16: there is none.
  std::uint64_t component_position() const { return LowestBit(bits_ >> kComponentShift); }

 private:
  std::uint64_t bits_ = kAlways;
};

static_assert(sizeof(KeySet) == 8);

}  // namespace plumbline::reference

#endif  // PLUMBLINE_REFERENCE_KEYS_KEY_SET_H_
