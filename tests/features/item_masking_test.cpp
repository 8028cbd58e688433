// Tests of item masking: input items and target items of a user.
#include "datasets/formats/item_masking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace slide {
namespace {

using Ids = std::vector<std::uint32_t>;

// User i has i items.
Dataset users_of_growing_lists(std::uint32_t users) {
  DatasetArrays arrays;
  for (std::uint32_t user = 0; user < users; ++user) {
    for (std::uint32_t item = 0; item < user; ++item) {
      arrays.feature_ids.push_back(2 * item);
      arrays.feature_values.push_back(1.0f + float(item));
      arrays.label_ids.push_back(2 * item);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return {std::move(arrays), 2 * users, 2 * users};
}

Ids ids_of(std::span<const std::uint32_t> ids) {
  return {ids.begin(), ids.end()};
}

TEST(ItemMasking, EveryItemIsInputOrTargetAndBothAreThere) {
  const Dataset users = users_of_growing_lists(40);
  MaskingBuffer buffer;
  buffer.reserve(users.feature_entries());
  EXPECT_FALSE(can_mask(users, 0));
  EXPECT_FALSE(can_mask(users, 1));
  for (const double probability : {0.01, 0.5, 0.99}) {
    for (std::uint32_t user = 2; user < 40; ++user) {
      buffer.clear();
      const MaskedItems items = mask_items({probability, true, 7, 3}, users, user, buffer);
      ASSERT_TRUE(can_mask(users, user));
      ASSERT_FALSE(items.inputs.ids.empty());
      ASSERT_FALSE(items.targets.empty());
      Ids both;
      std::ranges::set_union(items.inputs.ids, items.targets, std::back_inserter(both));
      EXPECT_EQ(both, ids_of(users.labels(user)));
      EXPECT_EQ(items.inputs.ids.size() + items.targets.size(), user);
      double square = 0;
      for (const float value : items.inputs.values) square += double(value) * value;
      EXPECT_NEAR(square, 1.0, 1e-5);
    }
  }
}

TEST(ItemMasking, ValuesStayInProportion) {
  const Dataset users = users_of_growing_lists(9);
  MaskingBuffer buffer;
  const MaskedItems items = mask_items({0.5, false, 1, 1}, users, 8, buffer);
  for (std::size_t i = 0; i < items.inputs.ids.size(); ++i)
    EXPECT_EQ(items.inputs.values[i], 1.0f + float(items.inputs.ids[i]) / 2);
}

TEST(ItemMasking, AnEpochHasASplitOfItsOwn) {
  const Dataset users = users_of_growing_lists(60);
  const auto targets = [&](std::uint64_t seed, std::uint64_t epoch, std::uint32_t user) {
    MaskingBuffer buffer;
    return ids_of(mask_items({0.5, true, seed, epoch}, users, user, buffer).targets);
  };
  EXPECT_EQ(targets(1, 1, 50), targets(1, 1, 50));
  EXPECT_NE(targets(1, 1, 50), targets(1, 2, 50));
  EXPECT_NE(targets(1, 1, 50), targets(2, 1, 50));
}

TEST(ItemMasking, AsManyBecomeTargetsAsWanted) {
  const Dataset users = users_of_growing_lists(60);
  for (const double probability : {0.2, 0.7}) {
    const Dataset samples = masked_samples({probability, true, 5, 0}, users, 3);
    EXPECT_EQ(samples.size(), 3 * 58U);
    const double all = double(samples.label_entries() + samples.feature_entries());
    EXPECT_NEAR(double(samples.label_entries()) / all, probability, 0.03);  // of 5,300 items
    const auto first = samples.labels(57), second = samples.labels(57 + 58);
    EXPECT_FALSE(std::ranges::equal(first, second));
  }
}

}  // namespace
}  // namespace slide
