#include "reports/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(html, HasSubstr("<td class=\"fail\">fail</td><td class=\"fail\">fail</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"vacuous\">vacuous</td><td class=\"not-run\">not run</td>"));
}

TEST(Html, ShowsAFailureWithScenarioAndRerunLine) {
  const std::string html = ToHtml({SampleRun()});
  EXPECT_THAT(html, HasSubstr("call a::f [CPU] =&gt; k2"));
  EXPECT_THAT(html, HasSubstr("plumbline check --backend toy --case resolution/b"));
  EXPECT_THAT(html, HasSubstr("Blocked by those above"));
  EXPECT_THAT(html, HasSubstr("spec/model/resolve.cc:40"));
}

TEST(Html, IsSelfContained) {
  const std::string html = ToHtml({SampleRun()});
  for (const char* outside : {"http:", "https:", "<script", "src="}) EXPECT_THAT(html, Not(HasSubstr(outside)));
}

}  // namespace
}  // namespace plumbline::reports
