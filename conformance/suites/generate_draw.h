// Random choices for a generator that writes a scenario step by step: RapidCheck's generators, one after another.
//
//   Draw draw(random, size);
//   if (draw.OneIn(4)) Use(draw.Of(keys));
//   for (int i = draw.Count(1, 12); i > 0; --i) ...   // more as RapidCheck's size grows
//
// The same random state and size give the same choices. They do not shrink; whole scenarios do, see generate_shrink.h.
// Belongs to one thread.
#ifndef PLUMBLINE_CONFORMANCE_SUITES_GENERATE_DRAW_H_
#define PLUMBLINE_CONFORMANCE_SUITES_GENERATE_DRAW_H_

#include <rapidcheck/Random.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace plumbline::suites {

class Draw {
 public:
  Draw(const rc::Random& random, int size);

  // Evenly from [0, limit).
  int Below(int limit);
  int Between(int least, int most) { return least + Below(most - least + 1); }
  bool OneIn(int n) { return Below(n) == 0; }
  bool Coin() { return Below(2) == 0; }

  // Between `least` and a limit that grows with the size, up to `most`.
  int Count(int least, int most);

  template <class T>
  const T& Of(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(Below(static_cast<int>(from.size())))];
  }

  // By weight; there is one above 0.
  template <class T>
  const T& Weighted(const std::vector<std::pair<T, int>>& from) {
    int total = 0;
    for (const auto& [value, weight] : from) total += weight;
    int at = Below(total);
    for (const auto& [value, weight] : from) {
      if (at < weight) return value;
      at -= weight;
    }
    return from.back().first;
  }

  // `count` of them, all different, in random order; all if there are fewer.
  template <class T>
  std::vector<T> Some(std::vector<T> from, int count) {
    std::vector<T> taken;
    while (count-- > 0 && !from.empty()) {
      const auto at = from.begin() + Below(static_cast<int>(from.size()));
      taken.push_back(std::move(*at));
      from.erase(at);
    }
    return taken;
  }
  template <class T>
  std::vector<T> Shuffled(std::vector<T> list) {
    const int count = static_cast<int>(list.size());
    return Some(std::move(list), count);
  }

 private:
  rc::Random random_;
  const int size_;
};

}  // namespace plumbline::suites

#endif  // PLUMBLINE_CONFORMANCE_SUITES_GENERATE_DRAW_H_
