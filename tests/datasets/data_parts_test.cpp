// Tests of data sets in several files: the files of a path, and equality with a single file.
#include "datasets/rows/data_parts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "datasets/cache.h"
#include "datasets/formats/npz.h"
#include "datasets/join_rows.h"
#include "datasets/reader.h"
#include "datasets/rows/read_report.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

class DataPartsTest : public ::testing::Test {
 protected:
  // Writes the parts of a set and the whole set.
  std::string parts(const std::string& end, std::string_view one, std::string_view two) {
    return path_of_parts({folder_.write("one" + end, one), folder_.write("two" + end, two)});
  }
  std::string whole(const std::string& end, std::string_view text) {
    return folder_.write("whole" + end, text);
  }
  // Both read equally with any number of threads.
  void expect_same(const std::string& parts, const std::string& whole, ReadOptions options = {}) {
    for (const int threads : {1, 2, 3}) {
      options.threads = threads;
      const Dataset joined = read_dataset(parts, options), expected = read_dataset(whole, options);
      EXPECT_EQ(show(joined), show(expected));
      EXPECT_EQ(joined.feature_count(), expected.feature_count());
      EXPECT_EQ(joined.label_count(), expected.label_count());
      EXPECT_TRUE(std::ranges::equal(joined.weights(), expected.weights()));
    }
  }

  TemporaryFolder folder_;
};

TEST_F(DataPartsTest, PatternsAreTheFilesInTheOrderOfTheirNames) {
  for (const char* name : {"b.txt", "a10.txt", "a9.txt", "B.txt", "c.svm", "a9.txt.slidecache"})
    folder_.write(name, "");
  const std::vector<std::string> sorted = {folder_.path("B.txt"), folder_.path("a10.txt"),
                                           folder_.path("a9.txt"), folder_.path("b.txt")};
  EXPECT_EQ(parts_of(folder_.path("*.txt")), sorted);
  EXPECT_EQ(parts_of(folder_.path("*.txt*")), sorted) << "caches are no data";
  EXPECT_EQ(parts_of(folder_.path("a[0-9].txt")), std::vector{folder_.path("a9.txt")});
  EXPECT_EQ(parts_of(path_of_parts({folder_.path("c.svm"), folder_.path("?.txt")})),
            (std::vector{folder_.path("c.svm"), folder_.path("B.txt"), folder_.path("b.txt")}));
  EXPECT_EQ(expanded(folder_.path("c.*")), folder_.path("c.svm"));
  EXPECT_EQ(parts_of(folder_.path("*.none")), std::vector{folder_.path("*.none")});
  EXPECT_EQ(parts_of(""), std::vector{std::string()});
}

TEST_F(DataPartsTest, AFileOfTheVeryNameIsThatFile) {
  folder_.write("ab.txt", "1 1:1\n");
  const std::string literal = folder_.write("a*.txt", "2 2:1\n");
  EXPECT_FALSE(is_pattern(literal));
  EXPECT_EQ(parts_of(literal), std::vector{literal});
  EXPECT_EQ(show(read_dataset(literal)), Rows{"2|2:1"});
  const std::string two_lines = folder_.write("x\ny", "3 3:1\n");
  EXPECT_EQ(show(read_dataset(two_lines)), Rows{"3|3:1"});
}

TEST_F(DataPartsTest, SeveralAreShownByTheFirst) {
  EXPECT_EQ(shown_path("a.txt"), "a.txt");
  EXPECT_EQ(shown_path("a.txt\nb.txt\nc.txt"), "a.txt and 2 more");
}

TEST_F(DataPartsTest, XmcTextHasTheSizesOfTheLargest) {
  expect_same(parts(".txt", "2 4 9\n0 0:1 3:2\n8 1:1\n", "3 7 3\n2 6:1 5:3\n\n1 2:1\n"),
              whole(".txt", "5 7 9\n0 0:1 3:2\n8 1:1\n2 6:1 5:3\n\n1 2:1\n"));
}

TEST_F(DataPartsTest, LibsvmAndPackedFiles) {
  const std::string one = "3 1:1 1:2\n# c\n1 2:1\n", two = "2 7:1\n4,1 1:0.5\n";
  expect_same(parts(".svm", one, two), whole(".svm", one + two));
  expect_same(parts(".gz", gzip(one), gzip(two)), whole(".svm", one + two));
}

TEST_F(DataPartsTest, PatternsAreReadLikeLists) {
  parts(".svm", "3 1:1\n", "2 7:1\n");
  expect_same(folder_.path("???.svm"), whole(".txt", "3 1:1\n2 7:1\n"));
  expect_same(folder_.path("tw*"), folder_.path("two.svm"));
}

TEST_F(DataPartsTest, OfTextTheWordsOfAllPartsCount) {
  const std::string one = "x\tred green\ny\tred\n", two = "z,x\tgreen blue red\nx\tblue\n";
  const std::string several = parts(".tsv", one, two), all = whole(".tsv", one + two);
  for (const int threads : {1, 2, 3}) {
    ReadOptions options;
    options.threads = threads;
    TextOptions text;
    text.word_ngrams = 1;
    options.text = learn_text_file(several, options, text);
    ASSERT_NE(options.text, nullptr);
    EXPECT_EQ(options.text->to_bytes(), learn_text_file(all, options, text)->to_bytes());
    expect_same(several, all, options);
  }
  EXPECT_TRUE(holds_text(several, {}));
}

TEST_F(DataPartsTest, EachTableHasColumnsOfItsOwn) {
  const std::string several =
      parts(".csv", "label,text,w\nx,red green,1\ny,red,2\n", "text,w,label\n\"green\nred\",3,x\n");
  const std::string all = whole(".csv", "label,text,w\nx,red green,1\ny,red,2\nx,\"green\nred\",3\n");
  ReadOptions options;
  options.columns = {"text", "label", ",", "w"};
  TextOptions text;
  text.min_count = 1;
  options.text = learn_text_file(several, options, text);
  EXPECT_EQ(options.text->to_bytes(), learn_text_file(all, options, text)->to_bytes());
  expect_same(several, all, options);
  const std::string lacks = parts(".csv", "label,text,w\nx,red,1\n", "label,words,w\nx,red,1\n");
  EXPECT_TRUE(contains(input_error([&] { learn_text_file(lacks, options, text); }), "two.csv"));
}

TEST_F(DataPartsTest, UsersOfSeveralLogsAreOne) {
  const std::string one = "userId,itemId\nu,a\nv,b\n", two = "userId,itemId\nw,a\nu,c\nv,a\n";
  const std::string several = parts(".csv", one, two), all = whole(".csv", one + two.substr(14));
  ReadOptions options;
  options.format = DataFormat::kInteractions;
  TextOptions text;
  text.min_count = 1;
  options.text = learn_text_file(several, options, text);
  EXPECT_EQ(options.text->to_bytes(), learn_text_file(all, options, text)->to_bytes());
  expect_same(several, all, options);
  EXPECT_EQ(read_dataset(several, options).size(), 3U);
  const std::string faulty = parts(".csv", "u,a,1\nu,b,2\n", "userId,itemId,rating\nw,a,1\nu,c,x\n");
  EXPECT_EQ(input_error([&] { read_dataset(faulty, options); }).find(folder_.path("two.csv:3:")), 0U)
      << input_error([&] { read_dataset(faulty, options); });
}

// No single part reveals weights, but all parts together do.
TEST_F(DataPartsTest, TheShapeOfALogIsThatOfAllParts) {
  const std::string one = "u 5 2\nv 6 3\n", two = "u 7 1\n";
  ReadOptions options;
  options.format = DataFormat::kInteractions;
  TextOptions text;
  text.min_count = 1;
  const std::string several = parts(".txt", one, two), all = whole(".txt", one + two);
  options.text = learn_text_file(several, options, text);
  EXPECT_EQ(options.text->to_bytes(), learn_text_file(all, options, text)->to_bytes());
  EXPECT_EQ(options.text->label_count(), 3U);
  expect_same(several, all, options);
}

TEST_F(DataPartsTest, PairsAreJoined) {
  const auto write = [&](const std::string& end, const std::string& text) {
    ReadOptions options;
    options.normalize = false;
    const Dataset data = read_dataset(folder_.write("rows.svm", text), options);
    write_npz(data, {folder_.path("X." + end), folder_.path("Y." + end)});
    return folder_.path("X." + end);
  };
  const std::string one = "3 1:1 4:2\n1 2:1\n", two = "0,2 7:1\n";
  expect_same(path_of_parts({write("a.npz", one), write("b.npz", two)}), whole(".svm", one + two));
  expect_same(folder_.path("X.?.npz"), whole(".svm", one + two));
}

TEST_F(DataPartsTest, FaultsNameTheirPart) {
  const std::string bad = parts(".svm", "1 1:1\n", "1 1:1\n2 x:1\n");
  EXPECT_EQ(input_error([&] { read_dataset(bad); }).find(folder_.path("two.svm:2:")), 0U);
  ReadReport report;
  ReadOptions options;
  options.skip_bad = true;
  options.report = &report;
  const std::string both = parts(".svm", "1 1:1\n2 x:1\n3 x:1\n", "1 1:1\n2 x:1\n");
  EXPECT_EQ(read_dataset(both, options).size(), 2U);
  EXPECT_EQ(report.bad_rows, 3U);
  ASSERT_EQ(report.first.size(), 3U);
  EXPECT_EQ(report.first[1].find(folder_.path("one.svm:3:")), 0U);
  EXPECT_EQ(report.first[2].find(folder_.path("two.svm:2:")), 0U);
}

TEST_F(DataPartsTest, WhatCannotBeJoinedIsRefused) {
  const auto refused = [&](const std::string& path) { return input_error([&] { read_dataset(path); }); };
  const std::string mixed = parts(".txt", "2 4 9\n0 0:1\n8 1:1\n", "1 1:1\n");
  EXPECT_EQ(refused(mixed), folder_.path("two.txt") + ": this is libsvm text, but " +
                                folder_.path("one.txt") +
                                " is XMC text; several files must be of one format");
  const std::string svm = folder_.write("a.svm", "1 1:1\n");
  EXPECT_EQ(refused(path_of_parts({svm, folder_.path("X.npy")})).find(folder_.path("X.npy: dense")), 0U);
  EXPECT_EQ(refused(path_of_parts({svm, folder_.path("gone")})).find(folder_.path("gone: no such file")), 0U);
  EXPECT_EQ(refused(path_of_parts({svm, "/dev/null"})).find("/dev/null: a pipe"), 0U);
  EXPECT_TRUE(contains(refused(path_of_parts({svm, folder_.root()})), "is a folder"));
  EXPECT_EQ(
      refused(folder_.path("*.none")),
      folder_.path("*.none") + ": no such file, and the pattern matches none; check the path of the data");
}

TEST_F(DataPartsTest, OneCacheHoldsAllParts) {
  const std::string several = parts(".txt", "2 4 9\n0 0:1 3:2\n8 1:1\n", "1 7 3\n2 6:1 5:3\n");
  const Rows rows = show(read_dataset(several));
  const auto read = [&](CacheOutcome outcome, const std::string& path) {
    const CachedDataset cached = read_dataset_cached(path);
    EXPECT_EQ(cached.outcome, outcome) << cached.reason;
    EXPECT_EQ(show(cached.data), show(read_dataset(path)));
    EXPECT_EQ(cached.data.feature_count(), 7U);
    EXPECT_EQ(cached.data.label_count(), 9U);
  };
  EXPECT_EQ(cache_path(several), folder_.path("one.txt+1.slidecache"));
  read(CacheOutcome::kWritten, several);
  read(CacheOutcome::kUsed, several);
  EXPECT_EQ(folder_.files(), 3U) << "one cache, and nothing else beside the parts";
  folder_.write("two.txt", "1 7 3\n2 6:1 5:4\n");
  read(CacheOutcome::kWritten, several);
  read(CacheOutcome::kUsed, several);
  folder_.write("zwei.txt", "1 7 3\n1 6:1\n");
  read(CacheOutcome::kWritten, path_of_parts({folder_.path("one.txt"), folder_.path("zwei.txt")}));
  fs::create_directories(folder_.path("three.txt+1.slidecache/full"));
  folder_.write("three.txt", "1 7 9\n1 6:1\n");
  read(CacheOutcome::kNone, path_of_parts({folder_.path("three.txt"), folder_.path("two.txt")}));
}

TEST_F(DataPartsTest, LimitsHoldForAllParts) {
  ReadOptions options;
  options.feature_limit = 9;
  options.label_limit = 5;
  const std::string several = parts(".svm", "1 1:1\n", "2 7:1\n");
  const Dataset data = read_dataset(several, options);
  EXPECT_EQ(data.feature_count(), 9U);
  EXPECT_EQ(data.label_count(), 5U);
  options.feature_limit = 7;
  EXPECT_EQ(input_error([&] { read_dataset(several, options); }).find(folder_.path("two.svm:1:")), 0U);
}

TEST_F(DataPartsTest, SlicesAreJoinedAsTheyAre) {
  const Dataset data = read_dataset(folder_.write("a.svm", "1 1:1\n2 2:1 3:1\n0,3 1:1\n"));
  const Rows rows = show(data);
  EXPECT_EQ(show(joined_rows({data.slice(1, 2), data.slice(0, 1)}, 2)), (Rows{rows[1], rows[2], rows[0]}));
}

}  // namespace
}  // namespace slide
