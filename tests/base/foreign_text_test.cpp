#include "engine/base/foreign_text.h"

#include <gtest/gtest.h>

namespace slide {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ForeignTextTest, CountsHowDeepJsonIsNested) {
  EXPECT_FALSE(nests_too_deep(""));
  EXPECT_FALSE(nests_too_deep(nested(kMaxNesting)));
  EXPECT_TRUE(nests_too_deep(nested(kMaxNesting + 1)));
  std::string objects;
  for (std::size_t i = 0; i <= kMaxNesting; ++i) objects += "{\"a\":";
  EXPECT_TRUE(nests_too_deep(objects));
  std::string side_by_side = "[";
  for (int i = 0; i < 1000; ++i) side_by_side += "[],{},";
  EXPECT_FALSE(nests_too_deep(side_by_side + "[]]"));
  EXPECT_TRUE(nests_too_deep(std::string(10, ']') + nested(kMaxNesting + 1)));
}

TEST(ForeignTextTest, BracketsInStringsNestNothing) {
  const std::string brackets(100, '[');
  EXPECT_FALSE(nests_too_deep("[\"" + brackets + "\"]"));
  EXPECT_FALSE(nests_too_deep("[\"\\\"" + brackets + "\"]")) << "an escaped quote ends no string";
  EXPECT_TRUE(nests_too_deep("[\"\\\\\"" + brackets)) << "an escaped backslash escapes no quote";
  EXPECT_FALSE(nests_too_deep("[\"" + brackets)) << "a string without an end";
  EXPECT_FALSE(nests_too_deep("[\"\\"));
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
