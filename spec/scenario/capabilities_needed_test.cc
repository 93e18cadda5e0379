#include "spec/scenario/capabilities_needed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/scenario/parse.h"

namespace plumbline::scenario {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Needed(const std::string& text) {
  ParseResult result = ParseFragment(text, "pytorch-1.13");
  EXPECT_TRUE(result.scenario.has_value()) << text << ": " << result.error->message;
  return CapabilityNames(CapabilitiesNeeded(*result.scenario));
}

TEST(CapabilitiesNeeded, ByStep) {
  EXPECT_THAT(Needed("define f() -> () as d\nrelease d\nfind f as h\nquery destroyed k"), ElementsAre("core"));
  EXPECT_THAT(Needed("open fresh"), ElementsAre("core", "fresh-registry"));
  EXPECT_THAT(Needed("declare mode Log after Tracer"), ElementsAre("core", "fresh-registry", "declared-keys"));
  EXPECT_THAT(Needed("library l def demo"), ElementsAre("core", "libraries"));
  EXPECT_THAT(Needed("query heard l"), ElementsAre("core", "listeners"));
  EXPECT_THAT(Needed("impl f CPU fallthrough => ok unwarned"), ElementsAre("core", "warnings"));
  EXPECT_THAT(Needed("leave g"), ElementsAre("core", "guards"));
  EXPECT_THAT(Needed("fallback CPU fallthrough"), ElementsAre("core", "fallbacks"));
  EXPECT_THAT(Needed("fallback CPU k"), ElementsAre("core", "fallbacks", "boxed"));
  EXPECT_THAT(Needed("chain CUDA served by CPU"), ElementsAre("core", "chains"));
  EXPECT_THAT(Needed("impl f CPU k"), ElementsAre("core", "boxed"));
  EXPECT_THAT(Needed("impl f CPU k typed tensor"), ElementsAre("core", "typed"));
  EXPECT_THAT(Needed("call f"), ElementsAre("core", "boxed"));
  EXPECT_THAT(Needed("call typed tensor f"), ElementsAre("core", "typed"));
  EXPECT_THAT(Needed("drain"), ElementsAre("core", "drain"));
  EXPECT_THAT(Needed("query counters f"), ElementsAre("core", "cache-counters"));
  EXPECT_THAT(Needed("flush"), ElementsAre("core", "cache-flush"));
  EXPECT_THAT(Needed("query table f"), ElementsAre("core", "introspection"));
}

TEST(CapabilitiesNeeded, ByBody) {
  EXPECT_THAT(Needed("kernel k { guard include [CPU] }"), ElementsAre("core", "guards"));
  EXPECT_THAT(Needed("kernel k { redispatch below CPU }"), ElementsAre("core", "redispatch"));
  EXPECT_THAT(Needed("kernel k { redispatch typed below CPU }"), ElementsAre("core", "redispatch", "typed"));
  EXPECT_THAT(Needed("kernel k { try call f }"), ElementsAre("core", "boxed"));
  EXPECT_THAT(Needed("kernel k { call typed tensor f }"), ElementsAre("core", "typed"));
  EXPECT_THAT(Needed("kernel k { fallback CPU fallthrough; return 1 }"), ElementsAre("core", "fallbacks"));
}

TEST(CapabilitiesNeeded, SignaturesThatDisagree) {
  EXPECT_THAT(Needed("impl f CPU k typed tensor\nimpl f CUDA k typed tensor"), ElementsAre("core", "typed"));
  EXPECT_THAT(Needed("impl f CPU k typed tensor\nimpl f CUDA k typed tensor_int"),
              ElementsAre("core", "typed", "signature-check"));
  EXPECT_THAT(Needed("impl f CPU k typed tensor\nfind f as h\ncall typed tensor_int @h"),
              ElementsAre("core", "typed", "signature-check"));
}

}  // namespace
}  // namespace plumbline::scenario
