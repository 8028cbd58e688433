// Tests of similar labels: rounded vectors find what a comparison of all vectors finds.
#include "engine/run/similar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/reader.h"
#include "tests/run/model_of.h"

namespace slide {
namespace {

constexpr std::uint32_t kManyLabels = SimilarRows::kMinRounded + 3;

// A model of many labels with random vectors beside a common one; label 7 has zeros.
Model many_labels() {
  std::string samples = fmt::format("20 20 {}\n", kManyLabels);
  for (int i = 0; i < 20; ++i) samples += fmt::format("{} {}:1\n", i, i);
  const Config config = parse_config(
      "[train]\nepochs = 1\nthreads = 1\n[neighbours]\nshare = 0\n[data]\ncrosses = 0\n[[layer]]\nsize = 40\n"
      "[[layer]]\nkind = \"dense\"\nwide = false\ninit_scale = 1.0\n",
      "here");
  Model model = test::model_of(config, parse_dataset(samples, "samples"));
  Parameters& weights = model.network.output().weights();
  for (std::size_t label = 0; label < kManyLabels; ++label) {
    for (std::size_t i = 0; i < 40; ++i)
      weights.row(label)[i] = label == 7 ? 0.0F : weights.row(label)[i] + 1.0F;
  }
  return model;
}

// The share of `expected` that is found, with the same cosines.
double similar_recall(const std::vector<std::vector<Related>>& found,
                      const std::vector<std::vector<Related>>& expected) {
  std::size_t hits = 0, all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    all += expected[i].size();
    for (const Related& one : found[i]) {
      const auto at = std::ranges::find(expected[i], one.id, &Related::id);
      if (at == expected[i].end()) continue;
      EXPECT_NEAR(at->score, one.score, 1e-6);
      ++hits;
    }
  }
  return static_cast<double>(hits) / static_cast<double>(all);
}

TEST(SimilarRows, RoundedVectorsFindTheSame) {
  const Model model = many_labels();
  SimilarRows rows(model, SimilarOf::kLabels, 1);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t id = 0; id < 150; ++id) ids.push_back(id * 131);
  const auto expected = rows.nearest(ids, 10, 2);
  EXPECT_EQ(similar_recall(rows.search(ids, 10, 2), expected), 1.0);  // no rounded rows yet
  rows.round_rows(2);
  const auto found = rows.search(ids, 10, 2);
  EXPECT_GE(similar_recall(found, expected), 0.99);
  std::vector<std::vector<Related>> alone;
  for (const std::uint32_t id : ids) alone.push_back(rows.search({id}, 10, 1).front());
  EXPECT_GE(similar_recall(alone, expected), 0.99);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(found[i].size(), 10U);
    EXPECT_EQ(std::ranges::count(found[i], ids[i], &Related::id), 0);
    EXPECT_EQ(std::ranges::count(found[i], 7U, &Related::id), 0);
  }
  for (const auto& of_zeros : rows.search({7, 7}, 10, 1)) EXPECT_TRUE(of_zeros.empty());
  EXPECT_EQ(rows.search({1}, kManyLabels, 1).front().size(), kManyLabels - 2);
}

}  // namespace
}  // namespace slide
