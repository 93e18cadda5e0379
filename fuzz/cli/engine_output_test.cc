#include "fuzz/cli/engine_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plumbline::fuzz {
namespace {

TEST(EngineOutput, ReadsProgress) {
  EngineOutput output;
  output.Read("INFO: Seed: 67554027");
  output.Read("#2349\tNEW    cov: 6883 ft: 9817 corp: 152/707b lim: 6 exec/s: 234 rss: 402Mb L: 6/6 MS: 1 ChangeBit-");
  EXPECT_EQ(output.executions, 2349u);
  EXPECT_EQ(output.coverage, 6883u);
  EXPECT_EQ(output.features, 9817u);
  EXPECT_EQ(output.corpus, 152u);
  output.Read("stat::number_of_executed_units: 2400");
  EXPECT_EQ(output.executions, 2400u);
  EXPECT_TRUE(output.findings.empty());
}

TEST(EngineOutput, KeepsWhatALineDoesNotTell) {
  EngineOutput output;
  output.Read("#2349\tNEW    cov: 6883 ft: 9817 corp: 152/707b lim: 6 exec/s: 234 rss: 402Mb");
  output.Read("#2400\tpulse  cov: ? exec/s: 234");
  EXPECT_EQ(output.executions, 2400u);
  EXPECT_EQ(output.coverage, 6883u);
  EXPECT_EQ(output.features, 9817u);
  EXPECT_EQ(output.corpus, 152u);
  // A target's own words are no progress.
  output.Read("the case #7 has cov: 1 ft: 2 corp: 3");
  EXPECT_EQ(output.executions, 2400u);
  EXPECT_EQ(output.coverage, 6883u);
}

TEST(EngineOutput, KnowsWhoeverSaysWhatIsWrong) {
  for (const std::string wrong : {"property broken: x", "ERROR: AddressSanitizer: x", "runtime error: x",
                                  "ERROR: libFuzzer: x", "ERROR: LeakSanitizer: x"}) {
    EngineOutput output;
    output.Read("a.cc:3:4: " + wrong);
    EXPECT_EQ(output.broken, wrong.starts_with("ERROR: ") ? wrong.substr(7) : wrong);
  }
}

TEST(EngineOutput, ReadsAFinding) {
  EngineOutput output;
  output.Read("property broken: a schema prints in two ways");
  output.Read("==7== ERROR: libFuzzer: deadly signal");
  output.Read("artifact_prefix='out/'; Test unit written to out/crash-12");
  EXPECT_THAT(output.findings, ::testing::ElementsAre("out/crash-12"));
  EXPECT_EQ(output.broken, "property broken: a schema prints in two ways");
}

TEST(EngineOutput, ASanitizersWordsComeBeforeTheEngines) {
  EngineOutput output;
  output.Read("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1");
  output.Read("==7== ERROR: libFuzzer: deadly signal");
  EXPECT_EQ(output.broken, "AddressSanitizer: heap-use-after-free on address 0x1");
}

}  // namespace
}  // namespace plumbline::fuzz
