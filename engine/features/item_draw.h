// What a sample shows of a user's items, and what it asks for: drawn anew in each epoch, so that a user is
// many samples. Functions of their arguments alone, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"

namespace slide {

// How items are drawn.
struct ItemDraw {
  double hide = 0.5;      // probability of an item to be asked for
  bool normalize = true;  // what is shown has unit length
  std::uint64_t seed = 0;
  std::uint64_t epoch = 1;  // from 1 on those of training
};

// Memory that drawn items lie in.
struct DrawnRoom {
  std::vector<std::uint32_t> shown, hidden;
  std::vector<float> values;  // of what is shown

  // For users with so many items in all.
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

// Whether a user, whose items are the features of its row and its labels, has something to show and something
// to ask for.
inline bool can_hide(const Dataset& users, std::size_t user) {
  return users.features(user).ids.size() > 1;
}

// Draws the items of such a user; where all came to one side, one of them goes to the other. They are good as
// long as the memory of `room`, to which they are added, does not move.
DrawnItems draw_items(const ItemDraw& draw, const Dataset& users, std::uint32_t user, DrawnRoom& room);

// A sample of what is shown and asked for of each such user, from `draws` draws, one behind the other.
Dataset drawn_samples(const ItemDraw& draw, const Dataset& users, std::size_t draws);

}  // namespace slide
