// Upper bounds of what a block of a data set can hold, to size working memory. Pure function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/rows/dataset.h"

namespace slide {

struct BlockBounds {
  // Features of a sample that feature-weight learning stores at most, on average over the candidates of a
  // query (FeatureWeightLearning::kMaxShared / kNearest).
  static constexpr std::size_t kMaxShared = 40;

  // Max of any block:
  std::size_t feature_entries = 0;  // (sample, sparse feature) pairs
  std::size_t label_entries = 0;    // (sample, label) pairs
  // Of the whole data set:
  std::size_t label_features = SIZE_MAX;  // sum of labels * features by sample: bounds the linear term
  std::size_t samples = 0;
  std::size_t all_features = 0;          // (sample, sparse feature) pairs
  std::size_t all_labels = 0;            // (sample, label) pairs
  std::size_t dense = 0;                 // columns of dense features
  bool masks = false;                    // samples mask neurons of the output layer (Block::masked)
  std::size_t all_shared = 0;            // all_features with at most kMaxShared per sample
  std::size_t evaluated = SIZE_MAX / 2;  // samples of the largest evaluation; 0: none
  std::size_t rows = SIZE_MAX;           // all samples: a batch has no more
};
// The bounds of any `block_size` samples of `data`.
BlockBounds bounds_of(const Dataset& data, std::size_t block_size);

}  // namespace slide
