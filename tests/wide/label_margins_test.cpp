// Tests of label margins: against sums in double, and in whole trainings.
#include "engine/wide/label_margins.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

// The margin of one label by its formula, in double.
double margin_of(const Dataset& data, std::uint32_t label, double length) {
  std::vector<std::uint32_t> own;
  for (std::uint32_t i = 0; i < data.samples(); ++i) {
    const auto labels = data.labels(i);
    if (std::find(labels.begin(), labels.end(), label) != labels.end()) own.push_back(i);
  }
  const auto cosine = [&](std::uint32_t sample, bool with_itself) {
    std::map<std::uint32_t, double> sum;
    for (const std::uint32_t i : own) {
      const SparseRow row = data.features(i);
      for (std::size_t k = 0; k < row.ids.size() && (with_itself || i != sample); ++k)
        sum[row.ids[k]] += row.values[k];
    }
    const SparseRow row = data.features(sample);
    double product = 0, square = 0;
    for (std::size_t k = 0; k < row.ids.size(); ++k) product += row.values[k] * sum[row.ids[k]];
    for (const auto& [id, value] : sum) square += value * value;
    return square > 0 ? product / std::sqrt(square) : 0.0;
  };
  double all = 0;
  for (const std::uint32_t i : own) all += cosine(i, true) - cosine(i, false);
  return own.empty() ? 0.0 : length * all / double(own.size());
}

TEST(LabelMargins, AreWhatSamplesAddToTheirOwnLabels) {
  for (const std::uint32_t featureless : {0, 5}) {
    DataSpec spec = wide_data();
    spec.featureless = featureless;
    spec.labels = 200;  // some without samples, some with one
    const Dataset data = make_data(spec);
    const std::vector<float> margins = label_margins(data, spec.labels, {}, 3.5, 1);
    ASSERT_EQ(margins.size(), spec.labels);
    std::set<float> different;
    for (std::uint32_t l = 0; l < spec.labels; ++l) {
      EXPECT_NEAR(margins[l], margin_of(data, l, 3.5), 1e-4) << l;
      different.insert(margins[l]);
    }
    EXPECT_GT(different.size(), 50U);
    EXPECT_EQ(label_margins(data, spec.labels, {}, 3.5, 3), margins);
  }
}

TEST(LabelMargins, OfTheOnlySampleAreAllOfItsLogit) {
  const Dataset data =
      dataset_of({{{{0, 3.0F}, {2, 4.0F}}, {1}}, {{{1, 1.0F}}, {0}}, {{{1, 1.0F}}, {0}}, {{}, {2}}}, 3, 4);
  const std::vector<float> margins = label_margins(data, 4, {}, 2.0, 1);
  EXPECT_FLOAT_EQ(margins[0], 0.0F);   // two equal samples: each is as near to the other as to itself
  EXPECT_FLOAT_EQ(margins[1], 10.0F);  // 2 * |x|
  EXPECT_FLOAT_EQ(margins[2], 0.0F);   // no features
  EXPECT_FLOAT_EQ(margins[3], 0.0F);   // no samples
}

Config margin_config(double share) {
  Config config = full_config({dense(18), sampled(0, 20, 12)});
  config.loss.kind = LossKind::kSigmoid;
  config.layers.back().wide = true;
  config.layers.back().wide_margin = share;
  return config;
}

TEST(LabelMargins, ChangeTrainingByTheirShare) {
  const Dataset data = make_data(wide_data());
  const Trace none = train(margin_config(0), data), half = train(margin_config(0.5), data),
              whole = train(margin_config(1), data);
  EXPECT_FALSE(same_bits(none, half));
  EXPECT_FALSE(same_bits(half, whole));
  // Labels are further from their targets.
  EXPECT_GT(half.losses.front(), none.losses.front());
  EXPECT_GT(whole.losses.front(), half.losses.front());
}

TEST(LabelMargins, AreTheSameBitsOnAllThreads) {
  for (const std::uint32_t shards : {1, 5}) {
    Config config = margin_config(1);
    config.train.shards = shards;
    expect_same_on_all_threads(config, wide_data());
  }
}

}  // namespace
}  // namespace slide::test
