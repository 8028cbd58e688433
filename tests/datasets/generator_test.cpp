// Tests of the synthetic generator: determinism, shape, power laws, and learnability.
#include "datasets/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "datasets/reader.h"
#include "datasets/rows/power_law.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

GeneratorOptions small() {
  GeneratorOptions options;
  options.samples = 6000;
  options.features = 3000;
  options.labels = 200;
  options.features_per_sample = 40;
  options.seed = 5;
  return options;
}

TEST(Generator, DependsOnTheSeedButNotOnTheThreads) {
  const TemporaryFolder folder;
  GeneratorOptions options = small();
  options.threads = 1;
  generate_dataset(options, folder.path("a"));
  options.threads = 3;
  generate_dataset(options, folder.path("b"));
  options.seed = 6;
  generate_dataset(options, folder.path("c"));
  for (const char* name : {"/train.txt", "/test.txt"}) {
    const std::string first = read_file(folder.path("a") + name);
    EXPECT_EQ(first, read_file(folder.path("b") + name));
    EXPECT_NE(first, read_file(folder.path("c") + name));
  }
}

TEST(Generator, DenseFeaturesAreAProjectionOfSparseOnes) {
  const TemporaryFolder folder;
  GeneratorOptions options = small();
  options.samples = 200;
  options.test_samples = 30;
  generate_dataset(options, folder.path("sparse"));
  options.dense = 600;
  options.threads = 1;
  generate_dataset(options, folder.path("one"));
  options.threads = 3;
  generate_dataset(options, folder.path("three"));
  for (const char* name : {"/X.train.npy", "/Y.train.txt", "/X.test.npy", "/Y.test.txt"})
    EXPECT_EQ(read_file(folder.path("one") + name), read_file(folder.path("three") + name));
  const Dataset dense = read_dataset(folder.path("one/X.train.npy"));
  const Dataset sparse = read_dataset(folder.path("sparse/train.txt"));
  ASSERT_EQ(dense.size(), 200U);
  EXPECT_EQ(dense.dense_count(), 600U);
  EXPECT_EQ(dense.label_count(), 200U);
  EXPECT_EQ(read_dataset(folder.path("one/X.test.npy")).size(), 30U);
  // Lengths are 1 in both, and angles nearly equal.
  std::vector<float> a(600), b(600), spread(3000);
  for (std::size_t i = 0; i + 1 < dense.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(dense.labels(i), sparse.labels(i)));
    dense.dense().copy_row(i, a.data());
    dense.dense().copy_row(i + 1, b.data());
    const SparseRow x = sparse.features(i), y = sparse.features(i + 1);
    for (std::size_t f = 0; f < x.ids.size(); ++f) spread[x.ids[f]] = x.values[f];
    double want = 0.0;
    for (std::size_t f = 0; f < y.ids.size(); ++f) want += double{spread[y.ids[f]]} * double{y.values[f]};
    for (const std::uint32_t id : x.ids) spread[id] = 0.0F;
    EXPECT_NEAR(std::inner_product(a.begin(), a.end(), b.begin(), 0.0), want, 0.25);
  }
}

TEST(Generator, HasTheRequestedShape) {
  const TemporaryFolder folder;
  generate_dataset(small(), folder.path("deep/er"));
  const Dataset train = read_dataset(folder.path("deep/er/train.txt"));
  EXPECT_EQ(train.size(), 6000U);
  EXPECT_EQ(train.feature_count(), 3000U);
  EXPECT_EQ(train.label_count(), 200U);
  EXPECT_EQ(read_dataset(folder.path("deep/er/test.txt")).size(), 600U);
  const auto samples = static_cast<double>(train.size());
  EXPECT_NEAR(static_cast<double>(train.label_entries()) / samples, 3, 0.3);
  EXPECT_NEAR(static_cast<double>(train.feature_entries()) / samples, 32, 8);
  for (std::size_t i = 0; i < train.size(); ++i) {
    ASSERT_FALSE(train.labels(i).empty());
    ASSERT_FALSE(train.features(i).ids.empty());
  }
  std::vector<std::uint32_t> frequencies = train.label_frequencies();
  std::sort(frequencies.rbegin(), frequencies.rend());
  EXPECT_GT(frequencies[0], 5 * frequencies[100]) << "a power law";
  EXPECT_GT(frequencies[199], 0U);
}

// Nearest class means predict a label of most test samples.
TEST(Generator, PlantsStructureThatCanBeLearnt) {
  const TemporaryFolder folder;
  generate_dataset(small(), folder.root());
  const Dataset train = read_dataset(folder.path("train.txt")), test = read_dataset(folder.path("test.txt"));
  std::vector<std::vector<float>> means(200, std::vector<float>(3000));
  for (std::size_t i = 0; i < train.size(); ++i) {
    const SparseRow row = train.features(i);
    for (const std::uint32_t label : train.labels(i)) {
      for (std::size_t j = 0; j < row.ids.size(); ++j) means[label][row.ids[j]] += row.values[j];
    }
  }
  for (auto& mean : means) {
    const float square = std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0F);
    for (float& value : mean) value /= std::sqrt(square);
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < test.size(); ++i) {
    const SparseRow row = test.features(i);
    std::vector<float> scores(200);
    for (std::size_t label = 0; label < 200; ++label) {
      for (std::size_t j = 0; j < row.ids.size(); ++j)
        scores[label] += means[label][row.ids[j]] * row.values[j];
    }
    const auto best =
        static_cast<std::uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    right += std::ranges::count(test.labels(i), best) > 0 ? 1 : 0;
  }
  EXPECT_GT(right, test.size() * 6 / 10) << right << " of " << test.size();
}

TEST(Generator, AcceptsTheSmallestShapesAndTheLargest) {
  const TemporaryFolder folder;
  GeneratorOptions options;
  options.samples = options.features = options.labels = 1;
  options.features_per_sample = options.labels_per_sample = 1;
  options.test_samples = 3;
  generate_dataset(options, folder.root());
  EXPECT_EQ(read_dataset(folder.path("train.txt")).size(), 1U);
  EXPECT_EQ(read_dataset(folder.path("test.txt")).size(), 3U);
  options = GeneratorOptions();
  options.samples = 20;
  options.features = options.labels = 4294967295U;
  generate_dataset(options, folder.root());
  EXPECT_EQ(read_dataset(folder.path("train.txt")).label_count(), 4294967295U);
}

TEST(Generator, Faults) {
  const TemporaryFolder folder;
  GeneratorOptions options = small();
  options.labels = 0;
  EXPECT_EQ(input_error([&] { generate_dataset(options, folder.root()); }),
            "generate: the number of labels is 0; give at least 1");
  EXPECT_EQ(folder.files(), 0U);
  const std::string blocked = folder.write("file", "") + "/data";
  const std::string error = run_error([&] { generate_dataset(small(), blocked); });
  EXPECT_TRUE(error.starts_with(blocked + ": the folder cannot be made")) << error;
}

TEST(PowerLaw, FollowsItsExponent) {
  for (const double exponent : {0.0, 0.7, 1.0, 1.5}) {
    const PowerLaw law(1000000, exponent);
    std::vector<double> decades(6);
    constexpr int kDraws = 200000;
    Rng rng(1, Purpose::kTest);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint32_t rank = law.rank(rng.uniform());
      ASSERT_LT(rank, 1000000U);
      decades[static_cast<std::size_t>(std::min(5.0, std::log10(rank + 1.0)))] += 1.0 / kDraws;
    }
    const auto mass = [&](double x) {
      return exponent == 1.0 ? std::log(x) : (std::pow(x, 1 - exponent) - 1) / (1 - exponent);
    };
    for (std::size_t d = 0; d < 6; ++d) {
      const double low = std::pow(10, d), high = d == 5 ? 1000001 : std::pow(10, d + 1);
      EXPECT_NEAR(decades[d], (mass(high) - mass(low)) / mass(1000001), 0.006) << exponent << " decade " << d;
    }
  }
}

TEST(IdScramble, IsAPermutation) {
  for (const std::uint32_t items : {1U, 2U, 12U, 997U, 1000U}) {
    const IdScramble scramble(items, 3, 2);
    std::vector<int> seen(items);
    for (std::uint32_t rank = 0; rank < items; ++rank) ++seen[scramble(rank)];
    EXPECT_EQ(std::ranges::count(seen, 1), items);
  }
}

}  // namespace
}  // namespace slide
