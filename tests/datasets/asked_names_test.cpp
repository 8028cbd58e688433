// Tests of names with blanks among asked users.
#include "datasets/formats/asked_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace slide {
namespace {

std::string quoted(const std::string& text, Separator separator) {
  LogUsers users;
  for (const char* user : {"Ann Lee", "Bob", "Cid 7 Ray", "O'Brien \"Bob\"", "\"q\""}) users.add(user);
  users.finish();
  TextModelParts parts;
  for (const char* item : {"tea", "green tea", "Lee", "7"}) {
    parts.hashes.push_back(parts.hashes.size() + 1);
    parts.weights.push_back(1.0F);
    parts.feature_names.add(item);
    parts.label_names.add(item);
  }
  const TextModel items({}, std::move(parts));
  const TextSource source{text, "asked", nullptr};
  return std::string(AskedSources({&source, 1}, separator, users, items).sources().front().text);
}

TEST(AskedNames, KnownNamesWithBlanksAreQuoted) {
  for (const Separator separator : {Separator::kComma, Separator::kTab, Separator::kColons}) {
    EXPECT_EQ(quoted("Ann Lee\nBob\n Ann Lee \r\nCid 7 Ray", separator),
              "\"Ann Lee\"\nBob\n \"Ann Lee\" \r\n\"Cid 7 Ray\"");
    EXPECT_EQ(quoted("O'Brien \"Bob\"\n\"q\" \n\"Ann Lee\"\n", separator),
              "\"O'Brien \"\"Bob\"\"\"\n\"\"\"q\"\"\" \n\"Ann Lee\"\n");
    // A user and items with blanks between them, and what has quotes.
    for (const char* same : {"Ann 7 tea\n", "Bob tea Lee\n", "Ann  Lee\n", "\"Ann Lee\" \"green tea\"\n", "",
                             "Bob green tea\n", "Ann Lee 7\n"})
      EXPECT_EQ(quoted(same, separator), same);
  }
  EXPECT_EQ(quoted("Ann Lee,green tea,5\nBob,green tea\nBob,Ann Lee\nAnn 7,tea\n", Separator::kComma),
            "\"Ann Lee\",\"green tea\",5\nBob,\"green tea\"\nBob,Ann Lee\nAnn 7,tea\n");
  EXPECT_EQ(quoted("Ann Lee::tea\n", Separator::kColons), "\"Ann Lee\"::tea\n");
  EXPECT_EQ(quoted("Ann Lee\nBob tea\n", Separator::kBlanks), "Ann Lee\nBob tea\n");
}

}  // namespace
}  // namespace slide
