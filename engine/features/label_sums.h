// The training samples of each label, and their sums.
//
// Immutable, safe from any thread; one Sum a thread. The data set and the scale must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/features/feature_scale.h"
#include "engine/features/samples_of_labels.h"

namespace slide {

class LabelSums {
 public:
  // Of the samples of `train` as `scale` makes them; `labels` bounds its label ids.
  LabelSums(const Dataset& train, std::size_t labels, const FeatureScale& scale);

  std::span<const std::uint32_t> samples(std::size_t label) const { return samples_.of(label); }

  struct Sum {
    std::vector<float> values;         // by feature
    std::vector<std::uint32_t> ids;    // features of the label's samples, each once, in no order
    std::vector<std::uint8_t> listed;  // by feature: whether it is among the ids
    double square = 0.0;               // of its length
    std::vector<float> scaled;         // working memory: one sample
  };
  Sum make_sum() const;
  static double sum_bytes_of(double features) { return features * (sizeof(float) + sizeof(std::uint8_t)); }
  // Puts the sum of the label's samples in place of what `sum`, from make_sum(), held.
  void add_up(std::size_t label, Sum& sum) const;

 private:
  const Dataset& train_;
  const FeatureScale& scale_;
  SamplesOfLabels samples_;
};

// Leaves of `ids` the `most` with the largest |values[id]|, ties by id, in no order.
void keep_strongest(std::vector<std::uint32_t>& ids, std::size_t most, const std::vector<float>& values);

}  // namespace slide
