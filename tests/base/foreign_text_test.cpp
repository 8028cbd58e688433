#include "engine/base/foreign_text.h"

#include <gtest/gtest.h>

namespace slide {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

bool is_refused(const std::string& json) {
  return foreign_json_fault(json).has_value();
}

TEST(ForeignTextTest, CountsHowDeepJsonIsNested) {
  EXPECT_FALSE(is_refused(""));
  EXPECT_FALSE(is_refused(nested(kMaxNesting)));
  EXPECT_TRUE(is_refused(nested(kMaxNesting + 1)));
  std::string objects;
  for (std::size_t i = 0; i <= kMaxNesting; ++i) objects += "{\"a\":";
  EXPECT_TRUE(is_refused(objects));
  std::string side_by_side = "[";
  for (int i = 0; i < 1000; ++i) side_by_side += "[],{},";
  EXPECT_FALSE(is_refused(side_by_side + "[]]"));
  EXPECT_TRUE(is_refused(std::string(10, ']') + nested(kMaxNesting + 1)));
}

TEST(ForeignTextTest, SaysWhatIsWrongOfJsonAndWhere) {
  const auto nul = foreign_json_fault(std::string("{}") + '\0' + nested(kMaxNesting + 1));
  ASSERT_TRUE(nul);
  EXPECT_EQ(nul->byte, 3u);
  EXPECT_EQ(nul->what, "a NUL byte, which no JSON has; remove it");
  const auto deep = foreign_json_fault(nested(kMaxNesting + 1));
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->byte, 1u);
  EXPECT_EQ(deep->what, "nested deeper than 32 values");
}

TEST(ForeignTextTest, BracketsInStringsNestNothing) {
  const std::string brackets(100, '[');
  EXPECT_FALSE(is_refused("[\"" + brackets + "\"]"));
  EXPECT_FALSE(is_refused("[\"\\\"" + brackets + "\"]")) << "an escaped quote ends no string";
  EXPECT_TRUE(is_refused("[\"\\\\\"" + brackets)) << "an escaped backslash escapes no quote";
  EXPECT_FALSE(is_refused("[\"" + brackets)) << "a string without an end";
  EXPECT_FALSE(is_refused("[\"\\"));
}

TEST(ForeignTextTest, QuotesTheFirstEightyCharacters) {
  EXPECT_EQ(shown_part(""), "");
  EXPECT_EQ(shown_part("a b"), "a b");
  EXPECT_EQ(shown_part("a\nb\tc\x7f"), "a b c ");
  EXPECT_EQ(shown_part(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(shown_part(std::string(81, 'x')), std::string(80, 'x') + "...");
  std::string umlauts;
  for (int i = 0; i < 80; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(shown_part(umlauts), umlauts);
  EXPECT_EQ(shown_part(umlauts + "\xc3\xa4"), umlauts + "...") << "a character is never cut apart";
  EXPECT_LT(shown_part(std::string(100000, '\x80')).size(), 400u);
}

}  // namespace
}  // namespace slide
