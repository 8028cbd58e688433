// Tests of item masking: input items and target items of a user.
#include "datasets/formats/item_draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

TEST(ItemDraw, EveryItemIsShownOrHiddenAndBothAreThere) {
  const Dataset users = users_of_growing_lists(40);
  DrawnRoom room;
  room.reserve(users.feature_entries());
  EXPECT_FALSE(can_hide(users, 0));
  EXPECT_FALSE(can_hide(users, 1));
  for (const double hide : {0.01, 0.5, 0.99}) {
    for (std::uint32_t user = 2; user < 40; ++user) {
      room.clear();
      const DrawnItems items = draw_items({hide, true, 7, 3}, users, user, room);
      ASSERT_TRUE(can_hide(users, user));
      ASSERT_FALSE(items.shown.ids.empty());
      ASSERT_FALSE(items.hidden.empty());
      Ids both;
      std::ranges::set_union(items.shown.ids, items.hidden, std::back_inserter(both));
      EXPECT_EQ(both, ids_of(users.labels(user)));
      EXPECT_EQ(items.shown.ids.size() + items.hidden.size(), user);
      double square = 0;
      for (const float value : items.shown.values) square += double(value) * value;
      EXPECT_NEAR(square, 1.0, 1e-5);
    }
  }
}

TEST(ItemDraw, ValuesStayInProportion) {
  const Dataset users = users_of_growing_lists(9);
  DrawnRoom room;
  const DrawnItems items = draw_items({0.5, false, 1, 1}, users, 8, room);
  for (std::size_t i = 0; i < items.shown.ids.size(); ++i)
    EXPECT_EQ(items.shown.values[i], 1.0f + float(items.shown.ids[i]) / 2);
}

TEST(ItemDraw, AnEpochIsADrawOfItsOwn) {
  const Dataset users = users_of_growing_lists(60);
  const auto hidden = [&](std::uint64_t seed, std::uint64_t epoch, std::uint32_t user) {
    DrawnRoom room;
    return ids_of(draw_items({0.5, true, seed, epoch}, users, user, room).hidden);
  };
  EXPECT_EQ(hidden(1, 1, 50), hidden(1, 1, 50));
  EXPECT_NE(hidden(1, 1, 50), hidden(1, 2, 50));
  EXPECT_NE(hidden(1, 1, 50), hidden(2, 1, 50));
}

TEST(ItemDraw, AsManyAreHiddenAsWanted) {
  const Dataset users = users_of_growing_lists(60);
  for (const double hide : {0.2, 0.7}) {
    const Dataset samples = drawn_samples({hide, true, 5, 0}, users, 3);
    EXPECT_EQ(samples.size(), 3 * 58U);
    const double all = double(samples.label_entries() + samples.feature_entries());
    EXPECT_NEAR(double(samples.label_entries()) / all, hide, 0.03);  // of 5,300 items
    const auto first = samples.labels(57), second = samples.labels(57 + 58);
    EXPECT_FALSE(std::ranges::equal(first, second));
  }
}

}  // namespace
}  // namespace slide
