// Rows of scores from matrices: by names of users and labels, equal scores in their order.
#include "engine/run/score_rows.h"

#include <gtest/gtest.h>

#include <memory>

#include "datasets/formats/npz_matrix.h"
#include "datasets/rows/file_bytes.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Ids = std::vector<std::uint32_t>;

class ScoreRowsTest : public ::testing::Test {
 protected:
  DatasetArrays parse(const NpzEntries& entries, std::uint32_t columns) {
    const std::string path = folder_.path("s.npz");
    write_npz_matrix(path, entries, columns);
    const FileBytes bytes(path);
    return parse_score_matrix({bytes.text(), path}, rows_, index_, &order_);
  }
  void take_users(std::initializer_list<const char*> names) {
    auto users = std::make_shared<NameList>();
    for (const char* name : names) users->add(name);
    rows_.users = users;
    rows_.samples = users->size();
  }

  TemporaryFolder folder_;
  ScoredRows rows_;
  LabelIndex index_;
  Ids order_;
};

TEST_F(ScoreRowsTest, OfAMatrixAreThoseOfItsNames) {
  take_users({"ann", "bob"});
  index_.name_by_data();
  ASSERT_EQ(index_.find("rice"), 0U);
  ASSERT_EQ(index_.find("tea"), 1U);
  const DatasetArrays arrays =
      parse({{0, 2, 3}, {0, 2, 1}, {0.5F, 0.5F, 0.25F}, {}, {"bob", "ann"}, {"tea", "jam", "rice"}}, 3);
  EXPECT_EQ(arrays.feature_offsets, (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_EQ(arrays.feature_ids, (Ids{2, 0, 1})) << "jam is new";
  EXPECT_EQ(arrays.feature_values, (std::vector<float>{0.25F, 0.5F, 0.5F}));
  EXPECT_EQ(order_, (Ids{0, 1, 0})) << "equal ones by column: tea, rice";
  const NpzEntries twice{{0, 1, 2}, {0, 1}, {1, 1}, {}, {"bob", "ann"}, {"tea", "tea"}};
  EXPECT_TRUE(contains(input_error([&] { parse(twice, 2); }), "two columns have the name 'tea'"));
}

TEST_F(ScoreRowsTest, RanksOrderEqualScores) {
  rows_.samples = 2;
  rows_.blank = {1};
  parse({{0, 2, 2, 3}, {0, 2, 1}, {0.5F, 0.5F, 1}, {1, 0, 0}}, 3);
  EXPECT_EQ(order_, (Ids{1, 0, 0})) << "without the row of the blank line";
  parse({{0, 2, 3}, {0, 2, 1}, {0.5F, 0.5F, 1}}, 3);
  EXPECT_EQ(order_, Ids()) << "by label";
}

}  // namespace
}  // namespace slide
