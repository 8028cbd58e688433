// Tests of XMC text: accepted forms, and the reported position of each error.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "datasets/reader.h"
#include "datasets/rows/text_parser.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

const ReadOptions kRaw = {.format = DataFormat::kXmc, .normalize = false};

Rows parsed(const std::string& text) {
  return show(parse_dataset(text, "data", kRaw));
}

TEST(Xmc, ReadsLabelsAndFeatures) {
  const Dataset data = parse_dataset("2 10 5\n0,3 1:0.5 7:2\n4 9:1.25\n", "data", kRaw);
  EXPECT_EQ(data.feature_count(), 10U);
  EXPECT_EQ(data.label_count(), 5U);
  EXPECT_EQ(data.feature_entries(), 3U);
  EXPECT_EQ(data.label_entries(), 3U);
  EXPECT_EQ(show(data), (Rows{"0,3|1:0.5 7:2", "4|9:1.25"}));
}

TEST(Xmc, AcceptsEveryTolerance) {
  EXPECT_EQ(parsed("1 10 5\n1 7:2 3:1 5:4\n"), Rows{"1|3:1 5:4 7:2"}) << "unsorted";
  EXPECT_EQ(parsed("1 10 5\n1 7 3:2 5"), Rows{"1|3:2 5:1 7:1"}) << "implicit values, no last line end";
  EXPECT_EQ(parsed("1 10 5 \r\n1 7:2 \t \r\n"), Rows{"1|7:2"}) << "CRLF and trailing blanks";
  EXPECT_EQ(parsed("1\t10\t5\n1\t7:2\t\t8:3\n"), Rows{"1|7:2 8:3"}) << "tabs";
  EXPECT_EQ(parsed("1 10 5\n7:2 8:3\n"), Rows{"|7:2 8:3"}) << "no labels, no blank";
  EXPECT_EQ(parsed("1 10 5\n 7:2 8\n"), Rows{"|7:2 8:1"}) << "no labels, blank";
  EXPECT_EQ(parsed("1 10 5\n3\n"), Rows{"3|"}) << "no features";
  EXPECT_EQ(parsed("1 10 5\n3,1,3,1 2:1\n"), Rows{"1,3|2:1"}) << "repeated labels";
  EXPECT_EQ(parsed("1 10 5\n1 2:1 0:4 2:0.5\n"), Rows{"1|0:4 2:1.5"}) << "repeated features";
  EXPECT_EQ(parsed("0 10 5\n"), Rows{});
}

TEST(Xmc, BlankLinesAreSamplesOnlyAsFarAsTheHeaderSays) {
  EXPECT_EQ(parsed("3 10 5\n1 2:1\n\n2 3:1\n"), (Rows{"1|2:1", "|", "2|3:1"}));
  EXPECT_EQ(parsed("2 10 5\n1 2:1\n2 3:1\n\n \r\n\n"), (Rows{"1|2:1", "2|3:1"}));
  EXPECT_EQ(parsed("4 10 5\n1 2:1\n2 3:1\n\n\n\n"), (Rows{"1|2:1", "2|3:1", "|", "|"}));
}

TEST(Xmc, ReadsNumbersInEveryForm) {
  EXPECT_EQ(parsed("1 20 5\n1 0:+2 1:-0.5 2:.5 3:5. 4:1e-3 5:2E+2 6:12345678 7:123456789.5 8:0.00000001\n"),
            Rows{"1|0:2 1:-0.5 2:0.5 3:5 4:0.001 5:200 6:12345678 7:123456790 8:1e-08"});
  EXPECT_EQ(
      parsed("1 20 5\n1 0:0.12345678901234567890123 1:16777217 2:1e-60 3:0e99999 4:3.4e38 5:000000001.5\n"),
      Rows{"1|0:0.12345679 1:16777216 2:0 3:0 4:3.4e+38 5:1.5"});
  EXPECT_EQ(parsed("1 4294967295 4294967295\n4294967294 4294967294:1\n"), Rows{"4294967294|4294967294:1"});
}

TEST(Xmc, NormalizesToUnitLength) {
  ReadOptions options = kRaw;
  options.normalize = true;
  const auto rows = show(parse_dataset("3 10 5\n1 2:3 4:-4\n1 2:0\n1 5:0.001\n", "data", options));
  EXPECT_EQ(rows, (Rows{"1|2:0.6 4:-0.8", "1|2:0", "1|5:1"}));
}

TEST(Xmc, LimitsBoundIdsAndSetSizes) {
  ReadOptions options = kRaw;
  options.feature_limit = 20;
  options.label_limit = 7;
  const Dataset data = parse_dataset("1 10 5\n4 9:1\n", "data", options);
  EXPECT_EQ(data.feature_count(), 20U);
  EXPECT_EQ(data.label_count(), 7U);
  options.feature_limit = 5;
  EXPECT_EQ(
      input_error([&] { parse_dataset("1 10 5\n4 9:1\n", "data", options); }),
      "data:2:3: feature 9 is out of range; ids must be below 5: correct the id or the number of features");
}

struct Fault {
  std::string text;   // after the header `2 100 50`
  std::string place;  // line:column
  std::string words;
};

TEST(Xmc, FaultsNameFileLineAndColumn) {
  const std::vector<Fault> faults = {
      {"1 2:1\n1 3:nan\n", "3:5", "not finite"},
      {"1 2:1\n1 3:-Inf\n", "3:5", "not finite"},
      {"1 2:1\n1 3:1e39\n", "3:5", "too large"},
      {"1 2:1\n1 3:1" + std::string(60, '0') + "\n", "3:5", "too large"},
      {"1 2:1 3:3e38 2:1\n1 2:3e38 2:3e38\n", "3:1", "sum"},
      {"1 2:1\n1 -3:1\n", "3:3", "feature -3 is negative"},
      {"-1 2:1\n1 3:1\n", "2:1", "label -1 is negative"},
      {"1,-2 2:1\n1 3:1\n", "2:3", "label -2 is negative"},
      {"1 99:1 100:1\n1 3:1\n", "2:8", "feature 100 is out of range"},
      {"1 99999999999999999999999:1\n1 3:1\n", "2:3", "out of range"},
      {"1,50 99:1\n1 3:1\n", "2:3", "label 50 is out of range"},
      {"1 2:1\n1 3:1\n1 4:1\n", "4:1", "header says 2 samples, but the file has 3"},
      {"1 2:1\n", "3:1", "ends after 1 samples, but its header says 2"},
      {"1 2:1\n1 3:1 12:", "3:10", "cut off"},
      {"1 2:1\n1 3:1 12: 4:1\n", "3:10", "cut off"},
      {"1 2:1\n1,", "3:3", "cut off"},
      {"1 2:1\n1, 3:1\n", "3:3", "cut off"},
      {"1,,2 2:1\n1 3:1\n", "2:3", "no label"},
      {"1 2:1\n1 x:1\n", "3:3", "'x:1' is no feature"},
      {"1 2:1\n1 3:x\n", "3:5", "'x' is no number"},
      {"1 2:1\n1 3:1x\n", "3:5", "'1x' is no number"},
      {"1 2:1\n1 3:1:2\n", "3:5", "'1:2' is no number"},
      {"1 2:1\n1 3;1\n", "3:3", "'3;1' is no feature"},
      {"1 2:1\n1 3:1\r 4:1\n", "3:5", "no number"},
      {"1.5 2:1\n1 3:1\n", "2:1", "'1.5' is no label"},
      {"abc 2:1\n1 3:1\n", "2:1", "'abc' is no label"},
      {"1 2:1\n1 :1\n", "3:3", "no feature"},
      {"1,2:1\n1 3:1\n", "2:1", "no feature"},
      {std::string("1 2:1\n1 3:1 \0\n", 14), "3:7", "no feature"},
      {"1 2:1\n1 3:1 # note\n", "3:7", "no feature"},
      {"1 2:1\n1 3:-\n", "3:5", "no number"},
      {"1 2:1\n1 3:.\n", "3:5", "no number"},
  };
  for (const Fault& fault : faults) {
    const std::string message =
        input_error([&] { parse_dataset("2 100 50\n" + fault.text, "some/file", kRaw); });
    EXPECT_TRUE(message.starts_with("some/file:" + fault.place + ": ")) << fault.text << message;
    EXPECT_TRUE(contains(message, fault.words)) << fault.text;
    EXPECT_NE(message.find(';'), std::string::npos) << "no advice: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Xmc, HeaderFaults) {
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "data:1:1: the file is empty"},
      {"\n", "data:1:1: no header"},
      {"1 2:1\n", "data:1:3: no header"},
      {"10 20\n", "data:2:1: the file ends after 0 samples"},
      {"10 20\n1 2:1\n", "data:1:6: no header"},
      {"10 20 30 40\n", "data:1:10: no header"},
      {"10 x 30\n", "data:1:4: no header"},
      {"-1 20 30\n", "data:1:1: no header"},
      {"10 20 4294967296\n", "data:1:7: a number of the header is too large"},
      {"10 99999999999999999999 5\n", "data:1:4: a number of the header is too large"},
  };
  for (const auto& [text, start] : faults) {
    const std::string message = input_error([&, &content = text] { parse_dataset(content, "data", kRaw); });
    EXPECT_TRUE(message.starts_with(start)) << text << message;
  }
}

// The second error is in an earlier chunk than the first, for any scheduling of threads.
TEST(Xmc, ReportsTheFirstFaultWhateverTheThreads) {
  std::string text = "400 100 50\n";
  for (int i = 0; i < 400; ++i)
    text += i == 150 ? "1 5:bad\n" : i > 150 && i % 7 == 0 ? "1 -5:1\n" : "1 5:1\n";
  for (const int threads : {1, 4}) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{64}, std::size_t{1} << 20}) {
      ReadOptions options = kRaw;
      options.threads = threads;
      EXPECT_EQ(input_error([&] { parse_text(text, "data", options, chunk); }),
                "data:152:5: the value 'bad' is no number; write id:value");
    }
  }
}

TEST(Xmc, SurplusSamplesAndFaultsAreReportedInFileOrder) {
  EXPECT_TRUE(
      input_error([] { parse_dataset("1 9 9\n1 2:x\n1 2:1\n", "data", kRaw); }).starts_with("data:2:5"));
  EXPECT_TRUE(
      input_error([] { parse_dataset("1 9 9\n1 2:1\n1 2:x\n", "data", kRaw); }).starts_with("data:3:1"));
}

}  // namespace
}  // namespace slide
