// The most that a block of a data set can hold: what working memory is sized by. Pure function of its
// arguments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/dataset.h"
#include "engine/features/training_rows.h"

namespace slide {

struct BlockBounds {
  std::size_t feature_entries = 0;  // sparse ones
  std::size_t label_entries = 0;
  // Of the whole data: labels times features of each sample, summed. The patterns of a wide path hold no
  // more.
  std::size_t label_features = SIZE_MAX;
  // Likewise: what neighbours keep.
  std::size_t samples = 0;
  std::size_t all_features = 0;
  std::size_t all_labels = 0;
  std::size_t dense = 0;                 // columns of dense features
  std::size_t all_shared = 0;            // of all_features, at most 40 a sample: what near samples can share
  std::size_t evaluated = SIZE_MAX / 2;  // samples of the largest evaluation; 0: none
};
// Of any `block_size` samples of `data`.
BlockBounds bounds_of(const Dataset& data, std::size_t block_size);
// The same of rows with their pairs, which wide path and neighbours do not keep. label_features: distinct
// features of each label's samples, at most `wide_features` a label, summed; extrapolated from evenly spaced
// labels where labels times features number more than 2^24.
BlockBounds bounds_of(const TrainingRows& rows, std::size_t block_size, std::size_t wide_features);

}  // namespace slide
