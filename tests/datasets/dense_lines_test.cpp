// Tests of JSON lines with a column of dense features.
#include <gtest/gtest.h>

#include <cmath>

#include "datasets/reader.h"
#include "datasets/row_stream.h"
#include "datasets/rows/json_record.h"
#include "datasets/text/vector_columns.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

constexpr const char* kLines =
    "{\"text\": \"one\", \"vector\": [3, 4.0], \"tags\": [\"a\"]}\n"
    "\n"
    "{\"vector\": [0.1, -2.5e-3], \"text\": \"two\", \"tags\": [\"b\"], \"z\": [[1.5], 2]}\n"
    "{\"vector\": [1, 2, 3], \"text\": \"one two\", \"tags\": \"a,b\", \"vector\": [0, 0]}\n";

ReadOptions options_for(const std::string& path, bool normalize) {
  ReadOptions options;
  options.columns = {"text", "tags", ",", ""};
  options.columns.dense = "vector";
  options.normalize = normalize;
  TextOptions text;
  text.min_count = 1;
  options.text = learn_text_file(path, options, text, false, nullptr);
  return options;
}

std::vector<float> dense_of(const Dataset& data) {
  std::vector<float> values(data.size() * data.dense_count());
  for (std::size_t i = 0; i < data.size(); ++i)
    data.dense().copy_row(i, values.data() + i * data.dense_count());
  return values;
}

TEST(DenseLines, AreTheLastFeatures) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", kLines);
  const Dataset raw = read_dataset(path, options_for(path, false));
  EXPECT_EQ(raw.size(), 3U);
  EXPECT_EQ(raw.dense_count(), 2U);
  EXPECT_EQ(raw.sparse_count(), 3U);  // one, two, one_two
  EXPECT_EQ(dense_of(raw), (std::vector<float>{3, 4, 0.1F, -2.5e-3F, 0, 0}));
  EXPECT_EQ(raw.features(2).ids.size(), 3U);
  const std::vector<float> scaled = dense_of(read_dataset(path, options_for(path, true)));
  EXPECT_FLOAT_EQ(scaled[0], 0.6F);
  EXPECT_FLOAT_EQ(scaled[1], 0.8F);
  EXPECT_FLOAT_EQ(std::hypot(scaled[2], scaled[3]), 1.0F);
  EXPECT_EQ(scaled[4], 0.0F);
}

TEST(DenseLines, OfSeveralFilesAreJoined) {
  const TemporaryFolder folder;
  const std::string text = kLines, path = folder.write("a.jsonl", text);
  const std::size_t cut = text.find("\n\n") + 1;
  folder.write("p1.jsonl", text.substr(0, cut));
  folder.write("p2.jsonl", text.substr(cut));
  const std::string parts = folder.path("p*.jsonl");
  for (const bool normalize : {false, true}) {
    const Dataset one = read_dataset(path, options_for(path, normalize));
    const Dataset two = read_dataset(parts, options_for(parts, normalize));
    EXPECT_EQ(dense_of(two), dense_of(one));
  }
}

TEST(DenseLines, ComeInPartsOfAStream) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", kLines);
  ReadOptions options = options_for(path, false);
  options.format = DataFormat::kJsonl;
  options.dense_columns = 2;
  RowStream stream("s", options);
  EXPECT_EQ(dense_of(stream.read("{\"text\": \"one\", \"vector\": [1, 2.5]}\n\n").rows),
            (std::vector<float>{1, 2.5F, 0, 0}));
  const RowPart bad =
      stream.read("{\"text\": \"one\", \"vector\": [1]}\n{\"text\": \"x\", \"vector\": [7, 8]}\n");
  EXPECT_EQ(bad.bad, std::vector<std::uint64_t>{0});
  EXPECT_TRUE(bad.faults.at(0).starts_with("s:3:1: the column 'vector' has 1 numbers")) << bad.faults.at(0);
  EXPECT_EQ(dense_of(bad.rows), (std::vector<float>{0, 0, 7, 8}));
}

TEST(DenseLines, HaveTheLengthOfMost) {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.jsonl", "{\"text\": \"a\", \"tags\": \"b\", \"vector\": [1.5]}\n" + std::string(kLines));
  EXPECT_TRUE(input_error([&] { options_for(path, true); })
                  .ends_with("a.jsonl:1:1: the column 'vector' has 1 numbers, but 2 are needed; give every "
                             "sample as many, or leave the column out by data.dense=none"));
}

// The column that is found, or the warning.
std::string found_in(const std::string& lines) {
  TableColumns columns = {"text", "tags", ",", ""};
  const VectorColumns result = find_vector_columns(lines, columns);
  return result.found.empty() ? result.warning : result.found;
}

TEST(DenseLines, AreFoundWhereOneColumnCanBeThem) {
  EXPECT_EQ(found_in("{\"text\": [1.5, 2], \"tags\": [1.5, 2], \"v\": [1.5, 2], \"ids\": [3, 4]}\n"), "v");
  EXPECT_EQ(found_in("{\"v\": [1, 2]}\n{\"v\": [1, 2.5]}\n{\"v\": [1, "), "v");
  EXPECT_EQ(found_in("{\"v\": [1, 2]}\n"), "");                    // ids
  EXPECT_EQ(found_in("{\"v\": [1.5]}\n"), "");                     // one number
  EXPECT_EQ(found_in("{\"v\": [1.5, \"x\"], \"w\": 1.5}\n"), "");  // not numbers alone
  EXPECT_EQ(found_in("{\"v\": [[1.5, 2], [1.5, 2]], \"w\": {\"v\": [1.5, 2]}}\n"), "");
  EXPECT_EQ(found_in("{\"v\": [1.5, 2]}\n{\"v\": [1.5, 2, 3]}\n{\"v\": [1.5]}\n"), "");  // of any length
  EXPECT_TRUE(found_in("{\"v\": [1.5, 2]}\n{\"v\": [1.5, 2]}\n{\"x\": 1}\n")
                  .starts_with("the column 'v' is a list of 2 numbers in 2 of the first 3 lines"));
  EXPECT_TRUE(
      found_in("{\"v\": [1.5, 2], \"w\": [1.5, 2]}\n").starts_with("the columns 'v' and 'w' are lists"));
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += "{\"v\": [1.5, 2]}\n";
  EXPECT_EQ(found_in(lines + "{\"v\": [1.5]}\n"), "v");  // whose line is refused
}

TEST(DenseLines, ListsOfNumbersEndWithTheirColumn) {
  const std::vector<JsonVector> all =
      json_vectors("{\"a\": [1, 2.5], \"b\": \"x\", \"c\": [], \"d\": [1, null], \"e\": [7, 8, 9]}");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].length, 2U);
  EXPECT_FALSE(all[0].whole);
  EXPECT_EQ(all[1].length, 0U);
  EXPECT_EQ(all[2].name, "e");
  EXPECT_TRUE(all[2].whole);
  EXPECT_TRUE(json_vectors("{\"a\": [1, 2.5]").empty());
}

}  // namespace
}  // namespace slide
