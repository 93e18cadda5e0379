#include "kernels/cpu/level.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace plumbline::kernels::cpu {
namespace base {
const LevelTable& Table();
}
namespace v3 {
const LevelTable& Table();
}

const LevelTable* BaseLevel() {
  static const LevelTable& table = base::Table();
  return &table;
}

const LevelTable* V3Level() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    return nullptr;
  }
  static const LevelTable& table = v3::Table();
  return &table;
}

namespace {

std::atomic<const LevelTable*> chosen{nullptr};

const LevelTable& Choose() {
  const LevelTable* best = V3Level();
  const char* const wish = std::getenv("PLUMBLINE_CPU_LEVEL");
  const std::string_view level = wish != nullptr ? wish : "";
  if (level == "base" || (level.empty() && best == nullptr)) {
    best = BaseLevel();
  } else if ((!level.empty() && level != "v3") || best == nullptr) {
    std::fprintf(stderr, "PLUMBLINE_CPU_LEVEL=%s: %s; give base or v3, or unset it\n", wish,
                 level == "v3" ? "this processor lacks AVX2, FMA or F16C" : "there is no such level");
    std::exit(2);
  }
  chosen.store(best, std::memory_order_release);
  return *best;
}

}  // namespace

const LevelTable& Level() {
  const LevelTable* const level = chosen.load(std::memory_order_acquire);
  return level != nullptr ? *level : Choose();
}

void SetLevel(const LevelTable& level) { chosen.store(&level, std::memory_order_release); }

}  // namespace plumbline::kernels::cpu
