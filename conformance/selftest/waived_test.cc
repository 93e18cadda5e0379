// Waivers in a run: what they accept, and what they are told when they do not fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "conformance/selftest/sample_suite.h"

namespace plumbline::selftest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WaivedTest : public ::testing::Test {
 protected:
  // The whole suite, so that what is not needed is noticed: here it is the sample corpus and no property.
  Ran Check(const std::string& misbehave, const std::string& waiver) {
    const std::string file = suite_.folder().Write("waivers.toml", waiver);
    return suite_.Check(misbehave, "--waivers " + file + " --no-color");
  }
  static std::string Waiver(const std::string& more) {
    return "[[waiver]]\nid = \"w\"\nclause = \"DEMO-003\"\ncause = \"bug\"\nreference = \"here\"\nowner = \"me\"\n"
           "expires = \"2999-01-01\"\ncases = [\"demo/DEMO-003-newest\"]\n" +
           more;
  }
  SampleSuite suite_;
};

TEST_F(WaivedTest, AcceptsWhatItDescribes) { EXPECT_EQ(Check("oldest", Waiver("outcome = \"k1\"\n")).status, 0); }

TEST_F(WaivedTest, ThatItIsUnusedIsSeenInAPartOfTheSuiteToo) {
  const std::string file = suite_.folder().Write("waivers.toml", Waiver("outcome = \"k1\"\n"));
  const auto check = [&](const std::string& id) {
    return RunTool("check --no-color --backend " + Misbehaving() + " --case demo/" + id + " --waivers " + file,
                   suite_.Environment(""));
  };
  const Ran unused = check("DEMO-003-newest");
  EXPECT_EQ(unused.status, 2) << unused.out << unused.err;
  EXPECT_THAT(unused.out, HasSubstr("waiver w: unused"));
  EXPECT_EQ(check("DEMO-001-good").status, 0) << "its case was not tried";
}

TEST_F(WaivedTest, AnotherOutcomeStillFails) {
  const Ran ran = Check("oldest", Waiver("outcome = \"error no-kernel\"\n"));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("failed otherwise than the waiver says"));
}

TEST_F(WaivedTest, AnotherCaseStillFails) {
  std::string waiver = Waiver("outcome = \"crash\"\n");
  EXPECT_EQ(Check("segfault", waiver).status, 1);
  waiver.replace(waiver.find("DEMO-003-newest"), 15, "DEMO-002-bad");
  EXPECT_EQ(Check("segfault", waiver).status, 2) << "of a clause that is not the case's";
  waiver.replace(waiver.find("DEMO-003"), 8, "DEMO-002");
  EXPECT_EQ(Check("segfault", waiver).status, 0);
}

TEST_F(WaivedTest, UnstableAdmitsWhatItLists) {
  EXPECT_EQ(Check("oldest", Waiver("unstable = true\nadmits = [\"fail\", \"pass\"]\n")).status, 0);
  EXPECT_EQ(Check("", Waiver("unstable = true\nadmits = [\"fail\", \"pass\"]\n")).status, 0);
  EXPECT_EQ(Check("oldest", Waiver("unstable = true\nadmits = [\"crash\"]\n")).status, 1);
}

TEST_F(WaivedTest, UnstableFromAStepOn) {
  const std::string unstable = "unstable = true\nadmits = [\"fail\"]\nfrom = ";
  EXPECT_EQ(Check("oldest", Waiver(unstable + "\"call demo::f *\"\n")).status, 0);
  EXPECT_EQ(Check("oldest", Waiver(unstable + "\"impl demo::f *\"\n")).status, 0) << "a step before";
  EXPECT_EQ(Check("oldest", Waiver(unstable + "\"release *\"\n")).status, 1) << "no such step";
  EXPECT_THAT(Check("oldest", Waiver("outcome = \"k1\"\nfrom = \"call *\"\n")).err,
              HasSubstr("'from' belongs to what is unstable"));
}

TEST_F(WaivedTest, SeveralClauses) {
  std::string waiver = Waiver("outcome = \"k1\"\n");
  waiver.replace(waiver.find("\"DEMO-003\""), 10, "[\"DEMO-003\", \"DEMO-001\"]");
  EXPECT_THAT(Check("oldest", waiver).out, HasSubstr("none of its cases is evidence for DEMO-001"));
  waiver.replace(waiver.find("[\"demo/DEMO-003-newest\""), 23, "[\"demo/DEMO-003-newest\", \"demo/DEMO-001-good\"");
  EXPECT_EQ(Check("oldest", waiver).status, 0);
  waiver.replace(waiver.find("DEMO-001"), 8, "DEMO-009");
  EXPECT_THAT(Check("oldest", waiver).out, HasSubstr("there is no clause 'DEMO-009'"));
}

// Waivers beside the backend, under its name and release.
class ShippedWaiversTest : public WaivedTest {
 protected:
  ShippedWaiversTest() : backend_(suite_.folder().path() + "/misbehaving.so") {
    std::filesystem::copy_file(Misbehaving(), backend_);
    Ship(Waiver("outcome = \"k1\"\n"));
  }
  void Ship(const std::string& waivers) const {
    suite_.folder().Write("misbehaving.pytorch-1.13.waivers.toml", waivers);
  }
  Ran CheckShipped(const std::string& misbehave, const std::string& arguments = "") const {
    return RunTool("check --backend " + backend_ + " --filter demo --no-color --out " + suite_.folder().path() +
                       "/out " + arguments,
                   suite_.Environment(misbehave));
  }

 private:
  const std::string backend_;
};

TEST_F(ShippedWaiversTest, AreInForceUnlessOthersAreGiven) {
  Ran ran = CheckShipped("oldest");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("waivers    from misbehaving.pytorch-1.13.waivers.toml"),
                             HasSubstr("waived: 1 failed just as a waiver says")));
  EXPECT_THAT(CheckShipped("oldest", "-v").err, HasSubstr("waived        demo/DEMO-003-newest  by w\n"));
  ran = CheckShipped("oldest", "--waivers none");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, Not(HasSubstr("waivers  ")));
  const std::string other = suite_.folder().Write("other.toml", "# nothing is waived\n");
  EXPECT_EQ(CheckShipped("oldest", "--waivers " + other).status, 1);
  ran = CheckShipped("oldest", "--waivers none --waivers " + other);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--waivers none stands alone"));
}

TEST_F(ShippedWaiversTest, AreReadAsAnyOthers) {
  Ship("[[waiver]]\nid = \"w\"\n");
  const Ran ran = CheckShipped("oldest");
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("misbehaving.pytorch-1.13.waivers.toml:1"));
}

TEST_F(WaivedTest, ProblemsAreErrors) {
  std::string waiver = Waiver("outcome = \"k1\"\n");
  waiver.replace(waiver.find("2999"), 4, "1999");
  Ran ran = Check("oldest", waiver);
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.out, HasSubstr("expired on 1999-01-01"));

  waiver = Waiver("outcome = \"k1\"\n");
  waiver.replace(waiver.find("2999-01-01"), 10, "0.9");
  EXPECT_THAT(Check("oldest", waiver).out, HasSubstr("expired with version 0.9"));

  waiver = Waiver("outcome = \"k1\"\n");
  waiver.replace(waiver.find("clause = \"DEMO-003\""), 19, "clause = \"DEMO-009\"");
  EXPECT_THAT(Check("oldest", waiver).out, HasSubstr("there is no clause 'DEMO-009'"));

  waiver = Waiver("outcome = \"k1\"\n");
  waiver.replace(waiver.find("DEMO-003-newest"), 15, "DEMO-003-oldest");
  EXPECT_THAT(Check("", waiver).out, HasSubstr("there is no case 'demo/DEMO-003-oldest'"));
}

}  // namespace
}  // namespace plumbline::selftest
