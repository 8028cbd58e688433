// Per label, its training samples and the sum of their scaled feature vectors.
//
// Immutable, safe from any thread; one Sum per thread. The data set and the scale must outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/statistics/feature_scale.h"
#include "engine/statistics/samples_of_labels.h"

namespace slide {

class LabelSums {
 public:
  // Uses the samples of `train`, scaled by `scale`; label ids are below `labels`.
  LabelSums(const Dataset& train, std::size_t labels, const FeatureScale& scale);

  std::span<const std::uint32_t> samples(std::size_t label) const { return samples_.of(label); }

  struct Sum {
    std::vector<float> values;         // by feature
    std::vector<std::uint32_t> ids;    // distinct features of the label's samples, unordered
    std::vector<std::uint8_t> listed;  // by feature: whether it is among the ids
    double square = 0.0;               // squared Euclidean length
    std::vector<float> scaled;         // scratch: one sample
  };
  Sum make_sum() const;
  static double sum_bytes_of(double features) { return features * (sizeof(float) + sizeof(std::uint8_t)); }
  // Computes the sum of the label's samples into `sum`, which make_sum() made; overwrites its previous
  // content. Fastest for one label after the other.
  void add_up(std::size_t label, Sum& sum) const;

 private:
  const Dataset& train_;
  const FeatureScale& scale_;
  SamplesOfLabels samples_;
};

// Inner product of a sample and a dense vector, which has a value for each of the sample's features.
double dot(const SparseRow& row, std::span<const float> dense);

// Similarity of a sample x to the other samples of its label: <s - x, x> / |s - x| with s the sum of the
// label's samples, x among them; 0 where no other of its `samples` samples has a feature.
double similarity_to_others(const SparseRow& row, const LabelSums::Sum& sum, std::size_t samples);

// Keeps the `limit` ids with the largest |values[id]|, ties by lower id; unordered.
void keep_strongest(std::vector<std::uint32_t>& ids, std::size_t limit, const std::vector<float>& values);

}  // namespace slide
