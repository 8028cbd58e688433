// Tests of libsvm text: accepted forms, and the reported position of each error.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/reader.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

const ReadOptions kRaw = {.format = DataFormat::kLibsvm, .normalize = false};
const ReadOptions kOneBased = {.format = DataFormat::kLibsvm, .one_based = true, .normalize = false};

TEST(Libsvm, ReadsSamplesAndFindsSizes) {
  const Dataset data = parse_dataset("1,3 0:1 5:2\n0 7:0.5\n 2:1\n4:1\n", "data", kRaw);
  EXPECT_EQ(show(data), (Rows{"1,3|0:1 5:2", "0|7:0.5", "|2:1", "|4:1"}));
  EXPECT_EQ(data.feature_count(), 8U);
  EXPECT_EQ(data.label_count(), 4U);
}

TEST(Libsvm, ReadsOneBasedIds) {
  const Dataset data = parse_dataset("1 1:1 6:2\n", "data", kOneBased);
  EXPECT_EQ(show(data), Rows{"1|0:1 5:2"});
  EXPECT_EQ(data.feature_count(), 6U);
}

TEST(Libsvm, AcceptsCommentsBlankLinesAndLabelForms) {
  const std::string text =
      "# a comment\n\n+3 1:1 # note: 1:2\r\n3.0 2:1#x\n \t\n2,+4.,7.00 1:1\n   # only a comment\n5\n\n";
  EXPECT_EQ(show(parse_dataset(text, "data", kRaw)), (Rows{"3|1:1", "3|2:1", "2,4,7|1:1", "5|"}));
}

TEST(Libsvm, LimitsSetSizes) {
  ReadOptions options = kRaw;
  options.feature_limit = 30;
  options.label_limit = 20;
  const Dataset data = parse_dataset("1 1:1 6:2\n", "data", options);
  EXPECT_EQ(data.feature_count(), 30U);
  EXPECT_EQ(data.label_count(), 20U);
  EXPECT_TRUE(input_error([&] {
                parse_dataset("1 1:1 30:2\n", "data", options);
              }).starts_with("data:1:7: feature 30"));
  EXPECT_TRUE(
      input_error([&] { parse_dataset("20 1:1\n", "data", options); }).starts_with("data:1:1: label 20"));
}

TEST(Libsvm, FaultsNameFileLineAndColumn) {
  struct Fault {
    std::string text, place, words;
    bool one_based = false;
  };
  const std::vector<Fault> faults = {
      {"1 1:1\n-1 1:1\n", "2:1", "of two classes -1 and +1 write 0 and 1"},
      {"1 1:1\n2.5 1:1\n", "2:1", "'2.5' is no label"},
      {"1 1:1\n1 qid:3 1:1\n", "2:3", "query id"},
      {"1 1:1\nqid:3 1:1\n", "2:1", "query id"},
      {"1 1:1\n# c\n1 0:1\n", "3:3", "feature 0 in a file whose ids count from 1", true},
      {"1 1:1\n1 4294967296:1\n", "2:3", "out of range"},
      {"1 1:1\n1 -4:1\n", "2:3", "count from 1", true},
      {"1 1:1\n1 4:# comment\n", "2:5", "cut off"},
      {"", "1:1", "empty"},
      {"# nothing\n\n", "1:1", "empty"},
  };
  for (const Fault& fault : faults) {
    const ReadOptions& options = fault.one_based ? kOneBased : kRaw;
    const std::string message = input_error([&] { parse_dataset(fault.text, "data", options); });
    EXPECT_TRUE(message.starts_with("data:" + fault.place + ": ")) << fault.text << message;
    EXPECT_TRUE(contains(message, fault.words)) << fault.text;
  }
}

}  // namespace
}  // namespace slide
