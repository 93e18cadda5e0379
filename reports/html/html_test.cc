#include "reports/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "reports/html/escape.h"
#include "reports/result/sample.h"

namespace plumbline::reports {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Escape, SpecialAndControlCharacters) {
  EXPECT_EQ(Escape("<a href='x'>\"&\x01\n"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\\x01\n");
  EXPECT_EQ(Escape("\xff\x1b<"), "\\xff\\x1b&lt;") << "XML holds neither";
}

TEST(Html, ShowsTheMatrixForEveryBackend) {
  reports::Run other = SampleRun();
  other.backend.name = "other";
  other.clauses.clear();
  const std::string html = ToHtml({SampleRun(), other});
  EXPECT_THAT(html, HasSubstr("<th>toy 1.0</th><th>other 1.0</th>"));
  EXPECT_THAT(html, HasSubstr("<tr id=\"RES-001\">"));
  EXPECT_THAT(html, HasSubstr("<td class=\"fail\"><a href=\"#run1-resolution/b\">fail</a></td>"
                              "<td class=\"fail\"><a href=\"#run2-resolution/b\">fail</a></td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"vacuous\">vacuous</td><td class=\"not-run\">not run</td>"));
}

TEST(Html, TellsOfKeysThatABackendDoesNotKnow) {
  reports::Run run = SampleRun();
  run.backend.key_count = 114;
  run.backend.unknown_keys = {"<HIP>"};
  EXPECT_THAT(ToHtml({run}), HasSubstr("<p>toy 1.0 knows 113 of 114 keys and alias keys of pytorch-1.13; unknown: "
                                       "&lt;HIP&gt;.</p>"));
}

TEST(Html, ShowsAFailureWithScenarioAndRerunLine) {
  const std::string html = ToHtml({SampleRun()});
  EXPECT_THAT(html, HasSubstr("call a::f [CPU] =&gt; k2"));
  EXPECT_THAT(html, HasSubstr("plumbline check --backend toy --case resolution/b"));
  EXPECT_THAT(html, HasSubstr("Blocked by those above"));
  EXPECT_THAT(html, HasSubstr("spec/model/resolve.cc:40"));
}

// All values of an attribute, in order.
std::vector<std::string> Values(const std::string& html, const std::string& attribute) {
  std::vector<std::string> values;
  const std::regex pattern("<[^<>]* " + attribute + "=\"([^\"]*)\"");
  for (auto at = std::sregex_iterator(html.begin(), html.end(), pattern); at != std::sregex_iterator(); ++at) {
    values.push_back((*at)[1]);
  }
  return values;
}

TEST(Html, EveryLinkLeadsToOnePlaceOfThePage) {
  reports::Run odd = SampleRun();
  odd.cases[0].id = "resolution/b \"<&~ x";  // an id is any text
  odd.cases[2].blocked_by = odd.cases[0].id;
  odd.cases[4].blocked_by = "resolution/a";  // which passed, so that the page does not show it
  reports::Run bare = SampleRun();
  bare.clauses.clear();
  for (const std::vector<reports::Run>& runs :
       {std::vector<reports::Run>{SampleRun()}, {SampleRun(), odd, bare}, {bare}, {}}) {
    const std::string html = ToHtml(runs);
    const std::vector<std::string> ids = Values(html, "id");
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size()) << "an id stands twice";
    for (const std::string& id : ids) EXPECT_EQ(id.find_first_of(" \t\n%"), std::string::npos) << id;
    for (const std::string& link : Values(html, "href")) {
      EXPECT_TRUE(link.starts_with("#") && std::count(ids.begin(), ids.end(), link.substr(1)) == 1) << link;
    }
  }
}

TEST(Html, ClausesAndFailuresLeadToEachOther) {
  const std::vector<std::string> links = Values(ToHtml({SampleRun()}), "href");
  for (const char* link : {"#RES-001", "#run1-resolution/b", "#run1-resolution/c", "#run1-", "#clauses"}) {
    EXPECT_THAT(links, testing::Contains(link));
  }
  EXPECT_THAT(links, Not(testing::Contains("#TLS-001"))) << "no clause of the page";
}

TEST(Html, IsSelfContained) {
  const std::string html = ToHtml({SampleRun()});
  for (const char* outside : {"http:", "https:", "<script", "src="}) EXPECT_THAT(html, Not(HasSubstr(outside)));
}

}  // namespace
}  // namespace plumbline::reports
