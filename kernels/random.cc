#include "kernels/random.h"

#include <atomic>
#include <cmath>

namespace plumbline::kernels {
namespace {

std::atomic<std::uint64_t> current_seed{0}, next_number{0};

std::uint64_t Bits64(const Random128& r, int half) {
  return static_cast<std::uint64_t>(r.word[2 * half]) << 32 | r.word[2 * half + 1];
}

}  // namespace

void SetSeed(std::uint64_t seed) {
  current_seed.store(seed);
  next_number.store(0);
}
std::uint64_t Seed() { return current_seed.load(); }
std::uint64_t TakeNumbers(std::uint64_t count) { return next_number.fetch_add(count); }

Random128 Philox(std::uint64_t seed, std::uint64_t counter) {
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  Random128 x = {{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x.word[0], b = std::uint64_t{0xCD9E8D57} * x.word[2];
    x = {{static_cast<std::uint32_t>(b >> 32) ^ x.word[1] ^ key0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ x.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

double Uniform(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(Bits64(Philox(seed, counter), 0) >> 11) * 0x1p-53;
}

double Normal(std::uint64_t seed, std::uint64_t counter) {
  const Random128 r = Philox(seed, counter);
  const double u = (static_cast<double>(Bits64(r, 0) >> 11) + 1) * 0x1p-53;  // (0, 1]
  const double v = static_cast<double>(Bits64(r, 1) >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586477 * v);
}

}  // namespace plumbline::kernels
