// Tests of Dataset, of the order of epochs, and of writing.
#include "datasets/rows/dataset.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "datasets/formats/xmc_writer.h"
#include "datasets/reader.h"
#include "datasets/rows/shuffle.h"
#include "engine/base/rng.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

Dataset small() {
  return Dataset({.feature_offsets = {0, 2, 2, 3},
                  .feature_ids = {1, 4, 0},
                  .feature_values = {0.5F, 2.0F, -1.0F},
                  .label_offsets = {0, 1, 3, 3},
                  .label_ids = {2, 0, 2}},
                 5, 4);
}

TEST(Dataset, ViewsItsRows) {
  const Dataset data = small();
  EXPECT_EQ(show(data), (Rows{"2|1:0.5 4:2", "0,2|", "|0:-1"}));
  EXPECT_EQ(data.label_frequencies(), (std::vector<std::uint32_t>{1, 0, 2, 0}));
  EXPECT_EQ(Dataset().size(), 0U);
  EXPECT_TRUE(Dataset().label_frequencies().empty());
  EXPECT_EQ(Dataset({}, 3, 2).size(), 0U);
}

TEST(Dataset, SlicesShareTheStorage) {
  Dataset part;
  {
    const Dataset data = small();
    part = data.slice(1, 2);
    EXPECT_EQ(part.features(1).ids.data(), data.features(2).ids.data());
  }
  EXPECT_EQ(show(part), (Rows{"0,2|", "|0:-1"}));
  EXPECT_EQ(part.feature_entries(), 1U);
  EXPECT_EQ(part.label_entries(), 2U);
  EXPECT_EQ(part.label_frequencies(), (std::vector<std::uint32_t>{1, 0, 1, 0}));
  EXPECT_EQ(show(part.slice(1, 1)), Rows{"|0:-1"});
  EXPECT_EQ(part.slice(2, 0).size(), 0U);
  EXPECT_THROW(part.slice(1, 2), Error);
  EXPECT_THROW(part.slice(3, 0), Error);
}

TEST(Dataset, WithSomeLabelsKeepsTheSamplesAndNumbersTheLabelsAnew) {
  Dataset part;
  {
    const Dataset data = small();
    part = data.with_labels(1, 2);
    EXPECT_EQ(part.features(0).ids.data(), data.features(0).ids.data());
    EXPECT_EQ(show(data.with_labels(0, 4)), show(data));
    EXPECT_EQ(show(data.with_labels(3, 1)), (Rows{"|1:0.5 4:2", "|", "|0:-1"}));
    EXPECT_EQ(show(data.with_labels(0, 0)), (Rows{"|1:0.5 4:2", "|", "|0:-1"}));
    EXPECT_EQ(show(data.slice(1, 2).with_labels(2, 9)), (Rows{"0|", "|0:-1"}));
  }
  EXPECT_EQ(show(part), (Rows{"1|1:0.5 4:2", "1|", "|0:-1"}));
  EXPECT_EQ(part.label_count(), 2U);
  EXPECT_EQ(part.feature_count(), 5U);
  EXPECT_EQ(part.label_entries(), 2U);
  EXPECT_EQ(part.label_frequencies(), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(show(part.slice(1, 1)), Rows{"1|"});
}

TEST(Dataset, RefusesArraysThatDoNotFit) {
  DatasetArrays arrays;
  arrays.feature_offsets = {0, 2};
  EXPECT_THROW(Dataset(arrays, 5, 5), Error) << "fewer ids than the offsets say";
  arrays.feature_offsets = {0, 0};
  EXPECT_THROW(Dataset(arrays, 5, 5), Error) << "one row of features, none of labels";
  arrays.feature_offsets = {0, 1};
  arrays.feature_ids = {0};
  arrays.label_offsets = {0, 0};
  EXPECT_THROW(Dataset(arrays, 5, 5), Error) << "no value for the id";
}

TEST(Shuffle, IsAPermutationThatDependsOnSeedAndEpoch) {
  std::vector<std::uint32_t> first(1000), again(1000), next(1000), other(1000);
  shuffle_order(first, 7, 1);
  shuffle_order(again, 7, 1);
  shuffle_order(next, 7, 2);
  shuffle_order(other, 8, 1);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, next);
  EXPECT_NE(first, other);
  std::sort(first.begin(), first.end());
  std::iota(again.begin(), again.end(), 0U);
  EXPECT_EQ(first, again);
  shuffle_order({}, 1, 1);
}

// Each of four items is first in about a quarter of the epochs.
TEST(Shuffle, IsUniform) {
  std::vector<int> counts(24);
  std::vector<std::uint32_t> order(4);
  for (std::uint64_t epoch = 0; epoch < 24000; ++epoch) {
    shuffle_order(order, 3, epoch);
    const auto rank = [&](std::size_t i) {
      return std::count_if(order.begin() + static_cast<std::ptrdiff_t>(i) + 1, order.end(),
                           [&](std::uint32_t later) { return later < order[i]; });
    };
    ++counts[static_cast<std::size_t>(rank(0) * 6 + rank(1) * 2 + rank(2))];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 160);  // five standard deviations
}

Dataset random_dataset(std::size_t samples) {
  DatasetArrays arrays;
  Rng rng(4, Purpose::kTest);
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::uint32_t id = rng.below(30); id < 1000; id += 1 + rng.below(300)) {
      arrays.feature_ids.push_back(id);
      arrays.feature_values.push_back(static_cast<float>(rng.normal() * std::pow(10, rng.normal() * 5)));
    }
    for (std::uint32_t id = rng.below(60); id < 50; id += 1 + rng.below(30)) arrays.label_ids.push_back(id);
    if (i + 3 > samples) {  // the last samples are empty
      arrays.feature_ids.resize(arrays.feature_offsets.back());
      arrays.feature_values.resize(arrays.feature_offsets.back());
      arrays.label_ids.resize(arrays.label_offsets.back());
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return Dataset(std::move(arrays), 1000, 50);
}

TEST(Writer, WhatIsWrittenReadsBackTheSame) {
  const TemporaryFolder folder;
  const Dataset data = random_dataset(3000);
  const std::string path = folder.path("data.txt");
  write_xmc(data, path);
  const Dataset back = read_dataset(path, {.format = DataFormat::kXmc, .normalize = false});
  EXPECT_EQ(back.feature_count(), 1000U);
  EXPECT_EQ(back.label_count(), 50U);
  EXPECT_EQ(show(back), show(data));
  EXPECT_EQ(folder.files(), 1U) << "no temporary file stays";
}

TEST(Writer, AnUnfinishedFileLeavesTheOldOne) {
  const TemporaryFolder folder;
  const std::string path = folder.write("data.txt", "old");
  {
    XmcWriter writer(path, 1, 2, 3);
    writer.write("1 1:1\n");
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(Writer, FaultsNameThePath) {
  const TemporaryFolder folder;
  const std::string nowhere = folder.path("none/data.txt");
  EXPECT_TRUE(run_error([&] { write_xmc(small(), nowhere); }).starts_with(nowhere + ": cannot be created"));
}

// A file size limit simulates a full disk.
TEST(Writer, AFullDiskIsAnErrorThatLeavesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.path("data.txt");
  const Dataset data = random_dataset(3000);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  auto* handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit low = {4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  const std::string message = run_error([&] { write_xmc(data, path); });
  setrlimit(RLIMIT_FSIZE, &old);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(message.starts_with(path + ": cannot be written")) << message;
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace slide
