// Tests of the inspection of labels, against weights written by hand.
#include "engine/run/label_view.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/run/training_run.h"
#include "tests/files.h"

namespace slide {
namespace {

// A model on features 0 to 5: labels 0 and 1 share feature 4, label 2 has 2 and 5, label 3 has no sample.
Model trained(const std::string& more) {
  const TemporaryFolder folder;
  std::string samples = "30 6 4\n";
  for (int i = 0; i < 10; ++i) samples += "0 0:1 4:2\n1 1:1 4:2\n2 2:1 5:2\n";
  Config config = parse_config(
      "[train]\nepochs = 300\nthreads = 1\nbatch_size = 16\nblock_size = 16\n[optimizer]\nlearning_rate = "
      "0.05\n"
      "[loss]\nkind = \"softmax\"\ngradient_threshold = 0\n[neighbours]\nshare = 0\n" +
          more + "[[layer]]\nkind = \"dense\"\nwide = false\n",
      "here");
  config.data.train = folder.write("data.txt", samples);
  TrainingRun run(config, folder / "out");
  run.train({});
  return load_model(run.folder().model());
}

TEST(LabelViewTest, FindsLabelsByTheirIds) {
  const Model model = trained("");
  EXPECT_EQ(find_label(model, "2"), 2U);
  EXPECT_EQ(label_text(model, 2), "2");
  EXPECT_EQ(feature_text(model, 5), "5");
  for (const char* bad : {"4", "-1", "x", "", "1x"}) EXPECT_THROW(find_label(model, bad), InputError) << bad;
}

double cosine(const Network& network, std::size_t a, std::size_t b) {
  const Parameters& weights = network.output().weights();
  std::vector<float> x(weights.columns), y(weights.columns);
  weights.load_row(a, x.data());
  weights.load_row(b, y.data());
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += double(x[i]) * x[i];
    yy += double(y[i]) * y[i];
    xy += double(x[i]) * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

TEST(LabelViewTest, NearestLabelsHaveTheLargestCosines) {
  const Model model = trained("");
  for (std::uint32_t label = 0; label < 4; ++label) {
    const std::vector<Related> near = nearest_labels(model.network, label, 10);
    ASSERT_EQ(near.size(), 3U) << "all but the label itself";
    for (std::size_t i = 0; i < near.size(); ++i) {
      EXPECT_NE(near[i].id, label);
      EXPECT_NEAR(near[i].score, cosine(model.network, label, near[i].id), 1e-6);
      if (i > 0) {
        EXPECT_LE(near[i].score, near[i - 1].score);
      }
    }
    const std::vector<Related> one = nearest_labels(model.network, label, 1);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].id, near[0].id);
  }
}

TEST(LabelViewTest, StrongestFeaturesAreTheLabelsOwn) {
  const Model model = trained("");
  ASSERT_TRUE(has_feature_weights(model.network));
  const std::vector<Related> strong = strongest_features(model.network, 2, 2);
  ASSERT_EQ(strong.size(), 2U);
  EXPECT_EQ(strong[0].id, 5U);
  EXPECT_EQ(strong[1].id, 2U);
  const Model hidden = trained("[[layer]]\nsize = 4\n");
  EXPECT_FALSE(has_feature_weights(hidden.network));
  EXPECT_TRUE(strongest_features(hidden.network, 2, 2).empty());
}

// Products of such weights are beyond floats.
TEST(LabelViewTest, SimilaritiesOfTheLargestWeightsAreFinite) {
  Model model = trained("");
  Parameters& weights = *model.network.matrices().front();
  const std::vector<float> row(weights.columns, std::numeric_limits<float>::max());
  for (std::size_t label = 0; label < weights.rows; ++label) weights.store_row(label, row.data());
  const std::vector<Related> found = nearest_labels(model.network, 0, 3);
  ASSERT_EQ(found.size(), 3U);
  for (const Related& other : found) EXPECT_NEAR(other.score, 1.0, 1e-12);
}

}  // namespace
}  // namespace slide
