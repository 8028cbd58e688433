// The most that a block of a data set can hold: what working memory is sized by. Pure function of its
// arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/dataset.h"

namespace slide {

struct BlockBounds {
  static constexpr std::size_t kMaxShared = 40;

  std::size_t feature_entries = 0;  // sparse ones
  std::size_t label_entries = 0;
  // Of the whole data: labels times features of each sample, summed. The patterns of a wide path hold no
  // more.
  std::size_t label_features = SIZE_MAX;
  // Likewise: what neighbours keep.
  std::size_t samples = 0;
  std::size_t all_features = 0;
  std::size_t all_labels = 0;
  std::size_t dense = 0;       // columns of dense features
  bool masks = false;          // samples mask neurons of the output layer (Block::left_out)
  std::size_t all_shared = 0;  // of all_features, at most kMaxShared a sample: what near samples can share
  std::size_t evaluated = SIZE_MAX / 2;  // samples of the largest evaluation; 0: none
  std::size_t rows = SIZE_MAX;           // all samples: a batch has no more
};
// Of any `block_size` samples of `data`.
BlockBounds bounds_of(const Dataset& data, std::size_t block_size);

}  // namespace slide
