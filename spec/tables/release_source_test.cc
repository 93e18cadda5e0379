#include "spec/tables/release_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plumbline::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The smallest release there is.
const std::string kSmall = R"(name = "small"
thread_include = []
thread_exclude = ["Mode"]
always_below = []
quiet_overrides = ["CPU"]
component = [ { name = "CPU", autograd = "AutogradCPU" } ]
functionality = [
  { name = "Dense", kind = "backend", prefix = "" },
  { name = "AutogradFunctionality", kind = "autograd", prefix = "Autograd" },
  { name = "Mode", kind = "mode" },
]
[[alias]]
name = "Autograd"
functionalities = ["AutogradFunctionality"]
[[autograd]]
key = "AutogradCPU"
functionalities = ["Dense"]
[synonyms]
CatchAll = "Undefined"
[fallbacks]
fallthrough = ["Mode", "AutogradCPU"]
boxed = []
)";

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  try {
    ReadRelease(text, "small.toml");
  } catch (const SourceError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReleaseSource, ReadsEveryField) {
  ReleaseSource release = ReadRelease(kSmall, "small.toml");
  EXPECT_EQ(release.name, "small");
  ASSERT_EQ(release.components.size(), 1u);
  EXPECT_EQ(release.components[0].autograd, "AutogradCPU");
  EXPECT_EQ(release.components[0].autocast, "");
  ASSERT_EQ(release.functionalities.size(), 3u);
  EXPECT_TRUE(release.functionalities[0].per_backend);
  EXPECT_EQ(release.functionalities[1].prefix, "Autograd");
  EXPECT_FALSE(release.functionalities[2].per_backend);
  EXPECT_THAT(release.thread_exclude, ElementsAre("Mode"));
  ASSERT_EQ(release.fallbacks.size(), 2u);
  EXPECT_EQ(release.fallbacks[0].key, "AutogradCPU") << "lowest first, whatever the order of the source";
}

TEST(ReleaseSource, ErrorsSayWhereAndWhat) {
  EXPECT_THAT(ErrorOf("name = "), HasSubstr("small.toml:1:"));
  EXPECT_EQ(ErrorOf(Replaced("[\"Mode\"]", "[\"Mod\"]")), "small.toml:3:19: 'Mod' is no key of this release");
  EXPECT_EQ(ErrorOf(Replaced("kind = \"mode\"", "kind = \"mood\"")),
            "small.toml:10:27: the kind is one of backend, autograd, mode; this is 'mood'");
  EXPECT_THAT(ErrorOf(Replaced("thread_include = []\n", "")), HasSubstr("the field 'thread_include' is missing"));
  EXPECT_THAT(ErrorOf(Replaced("always_below", "allways_below")), HasSubstr("unknown field 'allways_below'"));
  EXPECT_THAT(ErrorOf(Replaced("functionalities = [\"Dense\"]", "functionalities = [\"Sparse\"]")),
              HasSubstr("'Sparse' is no functionality of this release"));
  EXPECT_THAT(ErrorOf(Replaced("autograd = \"AutogradCPU\"", "autograd = \"AutogradGPU\"")),
              HasSubstr("CPU: 'AutogradGPU' is no key of this release"));
  EXPECT_THAT(ErrorOf(Replaced("CatchAll = \"Undefined\"", "CatchAll = \"Nothing\"")),
              HasSubstr("'Nothing' is neither a key nor an alias of this release"));
  EXPECT_THAT(ErrorOf(Replaced("name = \"Autograd\"", "name = \"CPU\"")), HasSubstr("the name 'CPU' is already taken"));
  EXPECT_THAT(ErrorOf(Replaced("name = \"Mode\"", "name = \"Dense\"")), HasSubstr("'Dense' is here twice"));
  EXPECT_THAT(ErrorOf(Replaced("boxed = []", "boxed = [\"Mode\"]")), HasSubstr("'Mode' has two fallbacks"));
}

TEST(ReleaseSource, RefusesWhatDoesNotFitInOneWord) {
  std::string components, functionalities;
  for (int i = 0; i < 16; ++i) components += "{ name = \"C" + std::to_string(i) + "\", autograd = \"AutogradCPU\" },";
  EXPECT_THAT(ErrorOf(Replaced("component = [", "component = [" + components)),
              HasSubstr("17 components; at most 16 fit"));
  for (int i = 0; i < 61; ++i) functionalities += "{ name = \"F" + std::to_string(i) + "\", kind = \"mode\" },";
  EXPECT_THAT(ErrorOf(Replaced("functionality = [", "functionality = [" + functionalities)),
              HasSubstr("components and functionalities need 65 bits; a key set has 64"));
}

TEST(ReleaseSource, WritesAHeader) {
  std::string header = WriteReleases({ReadRelease(kSmall, "small.toml")});
  EXPECT_THAT(header, HasSubstr("namespace small {"));
  EXPECT_THAT(header, HasSubstr("{\"AutogradFunctionality\", KeyKind::kAutograd, true, \"Autograd\"}"));
  EXPECT_THAT(header, HasSubstr("&small::kRelease"));
}

}  // namespace
}  // namespace plumbline::tables
