// Item masking for implicit-feedback data: splits a user's items at random into input items and target items,
// anew in each epoch, so that one user yields many samples. Functions of their arguments, safe from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

// How items are masked.
struct ItemDraw {
  double hide = 0.5;      // probability that an item becomes a target
  bool normalize = true;  // input items are scaled to unit length
  std::uint64_t seed = 0;
  std::uint64_t epoch = 1;  // training epochs start at 1
};

// Memory that holds the split items.
struct DrawnRoom {
  std::vector<std::uint32_t> shown, hidden;
  std::vector<float> values;  // of the input items

  // Reserves memory for users with `items` items in total.
  void reserve(std::size_t items) {
    shown.reserve(items);
    hidden.reserve(items);
    values.reserve(items);
  }
  static std::size_t bytes_of(std::size_t items) {
    return items * (2 * sizeof(std::uint32_t) + sizeof(float));
  }
  void clear() {
    shown.clear();
    hidden.clear();
    values.clear();
  }
};

struct DrawnItems {
  SparseRow shown;
  std::span<const std::uint32_t> hidden;
};

// Whether a user has at least one item for the input and one for the targets. The user's items are the
// features of its row and its labels.
inline bool can_hide(const Dataset& users, std::size_t user) {
  return users.features(user).ids.size() > 1;
}

// The users to learn from, ascending: those for whom can_hide() is true. Where there are none, those with an
// item, which becomes a target without an input: then only the number of users per item is learnt.
// O(number of users).
std::vector<std::uint32_t> users_to_draw(const Dataset& users);

// Splits the items of a user; where all of several items fall on one side, one of them moves to the other. A
// single item is a target. The result is appended to `room` and valid while `room` does not reallocate.
DrawnItems draw_items(const ItemDraw& draw, const Dataset& users, std::uint32_t user, DrawnRoom& room);

// Builds samples of input items and target items: `draws` splits of each of users_to_draw(), consecutively.
Dataset drawn_samples(const ItemDraw& draw, const Dataset& users, std::size_t draws);

}  // namespace slide
