#include "conformance/cli/progress.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

namespace plumbline::cli {
namespace {

using std::chrono::seconds;

std::string Written(bool terminal, const auto& show) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const to = open_memstream(&text, &size);
  const Progress::Clock::time_point begin{};
  Progress progress(to, terminal, begin);
  show(progress, begin);
  std::fclose(to);
  const std::string written(text, size);
  std::free(text);
  return written;
}

TEST(Progress, ATerminalIsPaintedOver) {
  EXPECT_EQ(Written(true,
                    [](Progress& progress, auto begin) {
                      progress.Clear();
                      progress.Show(1, 3, "a", begin);
                      progress.Show(2, 3, std::string(70, 'b'), begin);
                      progress.Clear();
                      progress.Clear();
                    }),
            "[1/3] a\r\x1b[K[2/3] " + std::string(60, 'b') + "\r\x1b[K");
}

TEST(Progress, ALogIsToldNowAndThen) {
  EXPECT_EQ(Written(false,
                    [](Progress& progress, auto begin) {
                      progress.Show(1, 9, "a", begin + seconds(29));
                      progress.Show(2, 9, "b", begin + seconds(30));
                      progress.Show(3, 9, "c", begin + seconds(59));
                      progress.Show(4, 9, "d", begin + seconds(61));
                      progress.Clear();
                    }),
            "[2/9] after 30 s\n[4/9] after 61 s\n");
}

}  // namespace
}  // namespace plumbline::cli
