// Tests of the whole page: its content, and that data cannot break out of the script element.
#include "engine/report/page.h"

#include <gtest/gtest.h>

#include "tests/expect.h"

namespace slide::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">";

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Json data_of(const std::string& page) {
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Page, HoldsAllItNeeds) {
  for (const PageKind kind : {PageKind::kRuns, PageKind::kSearch, PageKind::kEvaluation}) {
    const std::string page = make_page(kind, {{"runs", Json::array()}});
    EXPECT_TRUE(is_page(page.substr(0, 1024)));
    EXPECT_FALSE(contains(page, "<!--slide:"));
    EXPECT_TRUE(contains(page, "Chart.js v3"));
    EXPECT_TRUE(contains(page, "Permission is hereby granted"));
    for (const char* outside : {" src=\"", "url(", "@import", "fetch(", "XMLHttpRequest"}) {
      EXPECT_FALSE(contains(page, outside));
    }
  }
  EXPECT_FALSE(is_page("<!DOCTYPE html><title>mine</title>"));
}

TEST(Page, DataStayInTheirPlace) {
  const std::string hostile = "</script><script>alert(1)</script><!--<!--slide:library-->\xe2\x80\xa8\"'&";
  const Json data = {{"runs", Json::array({{{"name", hostile}}})}};
  const std::string page = make_page(PageKind::kRuns, data),
                    plain = make_page(PageKind::kRuns, {{"runs", Json::array()}});
  EXPECT_EQ(data_of(page), data);
  for (const char* tag : {"<script", "</script", "<!--"})
    EXPECT_EQ(count(page, tag), count(plain, tag)) << tag;
}

TEST(Page, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(data_of(make_page(PageKind::kRuns, {{"name", "a\xff"}}))["name"], "a\xef\xbf\xbd");
}

}  // namespace
}  // namespace slide::report
