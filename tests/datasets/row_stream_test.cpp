// A stream of rows gives equal rows, errors and line numbers for any division of its lines, equal to reading
// all at once.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/reader.h"
#include "datasets/row_stream.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

struct Streamed {
  std::string rows;
  std::vector<std::uint64_t> bad;
  std::vector<std::string> faults;
};

// Streams `text` in parts of up to `lines` lines.
Streamed stream(const std::string& text, std::size_t lines, DataFormat format) {
  ReadOptions options;
  options.format = format;
  options.normalize = false;
  options.feature_limit = 50;
  options.threads = 2;
  RowStream rows("t", options);
  Streamed result;
  std::uint64_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    for (std::size_t i = 0; i < lines && end < text.size(); ++i)
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    const RowPart part = rows.read(std::string_view(text).substr(at, end - at));
    for (std::size_t i = 0; i < part.rows.size(); ++i) {
      for (const std::uint32_t id : part.rows.features(i).ids) result.rows += std::to_string(id) + " ";
      result.rows += "\n";
    }
    for (const std::uint64_t row : part.bad) result.bad.push_back(before + row);
    result.faults.insert(result.faults.end(), part.faults.begin(), part.faults.end());
    before += part.rows.size();
    at = end;
  }
  rows.finish();
  return result;
}

TEST(RowStream, PartsDoNotMatter) {
  const std::string rows = "1 3:1 4:1\n\n 7:2\n2 x\n3,1 9:1 2:4\r\n4 60:1\n \n5 1:1";
  for (const DataFormat format : {DataFormat::kLibsvm, DataFormat::kXmc}) {
    const bool xmc = format == DataFormat::kXmc;
    const std::string text = (xmc ? "8 50 10\n" : "") + rows;
    for (const std::size_t lines : {1, 2, 3, 100}) {
      const Streamed got = stream(text, lines, format);
      EXPECT_EQ(got.rows, "3 4 \n\n7 \n\n2 9 \n\n\n1 \n") << lines;
      EXPECT_EQ(got.bad, (std::vector<std::uint64_t>{3, 5})) << lines;
      ASSERT_EQ(got.faults.size(), 2U) << lines;
      EXPECT_EQ(got.faults[0].find(xmc ? "t:5:3: " : "t:4:3: "), 0U) << got.faults[0];
      EXPECT_EQ(got.faults[1].find(xmc ? "t:7:3: feature 60" : "t:6:3: feature 60"), 0U) << got.faults[1];
    }
  }
}

TEST(RowStream, CommentsAreNoRowsButCountAsLines) {
  for (const std::size_t lines : {1, 2, 100}) {
    const Streamed got = stream("# a\n1 3:1 # b\n  # c\n\n1 y\n", lines, DataFormat::kLibsvm);
    EXPECT_EQ(got.rows, "3 \n\n\n");
    EXPECT_EQ(got.bad, std::vector<std::uint64_t>{2});
    EXPECT_EQ(got.faults.front().find("t:5:3: "), 0U) << got.faults.front();
  }
}

TEST(RowStream, TheHeaderIsHeldAgainstTheRows) {
  for (const std::size_t lines : {1, 2, 100}) {
    EXPECT_EQ(stream("2 9 9\n 1:1\n 2:1\n", lines, DataFormat::kXmc).rows, "1 \n2 \n");
    EXPECT_EQ(stream("2 9 9\n 1:1\n 2:1\n\n \n", lines, DataFormat::kXmc).rows, "1 \n2 \n");
    EXPECT_EQ(stream("3 9 9\n 1:1\n\n\n", lines, DataFormat::kXmc).rows, "1 \n\n\n");
    for (const char* text : {"3 9 9\n 1:1\n 2:1\n", "1 9 9\n 1:1\n 2:1\n\n", "2 9\n 1:1\n"}) {
      ReadOptions options;
      options.format = DataFormat::kXmc;
      EXPECT_EQ(input_error([&] { stream(text, lines, DataFormat::kXmc); }),
                input_error([&] { parse_dataset(text, "t", options); }));
    }
  }
}

}  // namespace
}  // namespace slide
