// Tests of sample weights: their effect on a step, and refused weights.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/datasets/test_files.h"

namespace slide::api {
namespace {

using test::Samples;

// A single step over all samples; its gradients are means.
Config one_block(const std::string& loss, const std::string& shards) {
  return Config::from_toml(
      R"(
train = {epochs = 1, batch_size = 512, block_size = 512, threads = 2}
data = {idf_power = 0}
neighbours = {share = 0}
optimizer = {kind = "sgd", learning_rate = 2}
[[layer]]
size = 8
[[layer]]
kind = "dense"
wide = false
)",
      {"loss.kind=" + loss, "loss.gradient_threshold=0", "loss.prior=0", "train.shards=" + shards,
       "train.weights=fp32"});
}

std::vector<float> vectors_of(const Model& model) {
  std::vector<float> vectors(model.labels() * model.vector_size());
  model.label_vectors(vectors.data());
  return vectors;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::fabs(double{a[i]} - double{b[i]}));
  return largest;
}

// The samples, followed by a copy of the first `twice` samples.
Samples repeated(const Samples& samples, std::size_t twice) {
  Samples more = samples.slice(0, samples.offsets.size() - 1);
  const Samples again = samples.slice(0, twice);
  for (std::size_t i = 0; i < twice; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(again.offsets[i]),
               end = static_cast<std::ptrdiff_t>(again.offsets[i + 1]);
    more.add({again.ids.begin() + first, again.ids.begin() + end},
             {again.values.begin() + first, again.values.begin() + end},
             {static_cast<std::uint32_t>(again.label_ids[i])});
  }
  return more;
}

class ApiWeights : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  Config config() const { return one_block(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(ApiWeights, ASampleOfWeightTwoIsTwoSamples) {
  const Samples samples = test::tiny_samples(90);
  std::vector<float> weights(90, 1.0F);
  std::fill_n(weights.begin(), 40, 2.0F);
  const Model weighted = train(config(), samples.data().weighted(weights.data(), weights.size()));
  const Model twice = train(config(), repeated(samples, 40).data());
  const Model plain = train(config(), samples.data());
  EXPECT_LT(largest_difference(vectors_of(weighted), vectors_of(twice)), 1e-6);
  EXPECT_GT(largest_difference(vectors_of(weighted), vectors_of(plain)), 1e-3);
}

TEST_P(ApiWeights, EqualOnesChangeNothing) {
  const Samples samples = test::tiny_samples(90);
  const std::vector<float> weights(90, 4.0F);
  const Model weighted = train(config(), samples.data().weighted(weights.data(), weights.size()));
  EXPECT_EQ(vectors_of(weighted), vectors_of(train(config(), samples.data())));
}

TEST_P(ApiWeights, SamplesOfWeightNothingAreLeftOut) {
  const Samples samples = test::tiny_samples(90);
  std::vector<float> weights(90, 1.0F);
  std::fill(weights.begin() + 60, weights.end(), 0.0F);
  const Model weighted = train(config(), samples.data().weighted(weights.data(), weights.size()));
  EXPECT_EQ(vectors_of(weighted), vectors_of(train(config(), samples.slice(0, 60).data())));
}

TEST_P(ApiWeights, OfLabelsAreAPowerOrAFilesToo) {
  const Data data = test::tiny_samples(85).data();  // some labels have ten samples, some nine
  const slide::test::Program files;
  const auto trained_by = [&](const std::string& weights) {
    Config weighed = config();
    weighed.set({"data.label_weights=" + weights});
    return train(weighed, data);
  };
  std::string ones;
  for (std::uint64_t label = 0; label < data.labels(); ++label) ones += "1\n";
  slide::test::write_file(files.path("ones"), ones);
  slide::test::write_file(files.path("more"), ones + "1\n");
  const Model plain = train(config(), data), model = trained_by(files.path("ones"));
  EXPECT_EQ(vectors_of(model), vectors_of(plain));
  EXPECT_EQ(vectors_of(continue_training(model, data, 1)), vectors_of(continue_training(plain, data, 1)));
  EXPECT_GT(largest_difference(vectors_of(trained_by("-1")), vectors_of(plain)), 1e-5);
  EXPECT_TRUE(contains(input_error([&] { trained_by(files.path("more")); }), ": a weight more than the "));
}

INSTANTIATE_TEST_SUITE_P(Losses, ApiWeights,
                         ::testing::Combine(::testing::Values("sigmoid", "softmax"),
                                            ::testing::Values("1", "3")));

TEST(ApiWeights, OfAFileBelongToItsSamples) {
  const Data data = test::tiny_samples(3).data();
  const Config config = Config::from_toml("", {"data.sample_weights=w.txt"});
  EXPECT_EQ(input_error([&] { train(config, data); }),
            "data.sample_weights = w.txt belongs to a file; read that with it, or weigh samples by "
            "Data::weighted()");
}

TEST(ApiWeights, WhatIsWrongIsRefused) {
  const Data data = test::tiny_samples(3).data();
  const auto refusal = [&](const std::vector<float>& weights) {
    return input_error([&] { data.weighted(weights.data(), weights.size()); });
  };
  EXPECT_EQ(refusal({1, 2, 3}), "");
  EXPECT_EQ(refusal({1, 2}), "weights: there are 2 for 3 samples");
  EXPECT_EQ(refusal({1, -2, 3}), "weights: that of sample 1 is -2; give numbers that are not negative");
  EXPECT_EQ(refusal({1, 2, std::numeric_limits<float>::quiet_NaN()}),
            "weights: that of sample 2 is nan; give numbers that are not negative");
  EXPECT_EQ(refusal({0, 0, 0}), "weights: all are 0; give some samples one");
}

TEST(ApiWeights, WeightsOfLabelsAreThoseOfAFile) {
  const TemporaryFolder folder;
  const Data data = test::tiny_samples(90).data();
  const std::vector<float> weights = {4, 1, 0.25F};
  std::string lines = "4\n1\n0.25\n";
  for (std::size_t label = weights.size(); label < data.labels(); ++label) lines += "1\n";
  Config by_file = one_block("sigmoid", "1");
  by_file.set({"data.label_weights=" + folder.write("weights", lines)});
  const Data weighted = data.label_weighted(weights.data(), weights.size());
  const Model model = train(one_block("sigmoid", "1"), weighted);
  EXPECT_EQ(vectors_of(model), vectors_of(train(by_file, data)));
  EXPECT_NE(vectors_of(model), vectors_of(train(one_block("sigmoid", "1"), data)));
  EXPECT_NE(vectors_of(continue_training(model, weighted, 1)), vectors_of(continue_training(model, data, 1)));
  const auto refusal = [&](const std::vector<float>& wrong) {
    return input_error([&] { data.label_weighted(wrong.data(), wrong.size()); });
  };
  EXPECT_EQ(refusal({1, -2}), "label weights: that of label 1 is -2; give numbers from 0");
  EXPECT_EQ(refusal(std::vector<float>(data.labels())), "label weights: all are 0; give one above");
  EXPECT_NE(refusal(std::vector<float>(data.labels() + 1, 1.0F)), "");
  Config power = one_block("sigmoid", "1");
  power.set({"data.label_weights=-0.5"});
  EXPECT_TRUE(contains(input_error([&] { train(power, weighted); }), "leave one out"));
}

}  // namespace
}  // namespace slide::api
