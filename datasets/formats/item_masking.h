// Item masking for implicit feedback: splits a user's items at random into input items and target items, anew
// in each epoch, so that a user gives a different sample in each.
//
// Results depend on the arguments alone. Safe from any thread, with one MaskingBuffer per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

struct ItemMasking {
  double probability = 0.5;  // that an item becomes a target
  bool normalize = true;     // scale the input items of a user to unit length
  std::uint64_t seed = 0;
  std::uint64_t epoch = 1;  // training epochs start at 1
};

// Memory of split items.
struct MaskingBuffer {
  std::vector<std::uint32_t> inputs, targets;
  std::vector<float> values;  // of the inputs

  // For users with `items` items in total.
  void reserve(std::size_t items) {
    inputs.reserve(items);
    targets.reserve(items);
    values.reserve(items);
  }
  static std::size_t bytes_of(std::size_t items) {
    return items * (2 * sizeof(std::uint32_t) + sizeof(float));
  }
  void clear() {
    inputs.clear();
    targets.clear();
    values.clear();
  }
};

// Views of a MaskingBuffer; ids ascending.
struct MaskedItems {
  SparseRow inputs;
  std::span<const std::uint32_t> targets;
};

// Whether a user has at least two items: one for the input and one for the targets. A user's items are the
// features of its row.
inline bool can_mask(const Dataset& users, std::size_t user) {
  return users.features(user).ids.size() > 1;
}

// The users that give samples, ascending: those with can_mask(). Without any, the users of a single item,
// which becomes a target without an input: training then learns only how many users each item has. O(number
// of users).
std::vector<std::uint32_t> users_to_mask(const Dataset& users);

// Splits the items of a user and appends them to `buffer`; the result is valid until `buffer` reallocates.
// Each item becomes a target with masking.probability. Where all of several items would fall on one side, a
// random one of them moves to the other. A single item is a target.
MaskedItems mask_items(const ItemMasking& masking, const Dataset& users, std::uint32_t user,
                       MaskingBuffer& buffer);

// A data set with `splits` samples of each of users_to_mask(): first one sample of each, then a second of
// each, ... Features are input items, labels target items.
Dataset masked_samples(const ItemMasking& masking, const Dataset& users, std::size_t splits);

}  // namespace slide
