// Tests of the usual names of columns.
#include "datasets/text/column_names.h"

#include <gtest/gtest.h>

namespace slide {
namespace {

TEST(ColumnNames, AreOfLabelsTextsAndIds) {
  for (const char* name : {"label", "Labels", "TAGS", "class", "classes", "categories", "y", "label_id"})
    EXPECT_EQ(usual_use(name), ColumnUse::kLabels) << name;
  for (const char* name : {"text", "Titles", "doc", "review", "answers"})
    EXPECT_EQ(usual_use(name), ColumnUse::kText) << name;
  for (const char* name : {"id", "doc_id", "User_ID", "pmid"})
    EXPECT_EQ(usual_use(name), ColumnUse::kId) << name;
  for (const char* name : {"", "s", "clas", "price", "labelled"})
    EXPECT_EQ(usual_use(name), std::nullopt) << name;
}

TEST(ColumnNames, ArePartsOfTheNamesOfTablesNotOfLogs) {
  for (const char* name : {"reviewtext", "categorie", "descriptor", "classid", "subtitle"})
    EXPECT_TRUE(has_part_of_table(name)) << name;
  for (const char* name : {"reviewerid", "docid", "productcode", "timestamp", "userid", ""})
    EXPECT_FALSE(has_part_of_table(name)) << name;
}

}  // namespace
}  // namespace slide
