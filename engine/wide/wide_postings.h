// Inverted index of the linear term for inference: the weights by feature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/block_features.h"
#include "engine/wide/linear_term.h"

namespace slide {

// Scores the neurons that share features with a sample, without visiting the others. Immutable, safe from any
// thread with one Walk per thread.
class WidePostings {
 public:
  // For the neurons `ids` of the linear term; methods below number them 0, 1, ... in this order.
  WidePostings(const LinearTerm& wide, std::span<const std::uint32_t> ids, std::size_t features, int threads);

  // For blocks of samples: all neurons in ascending order, one range per call. start() begins with the
  // block's features; each add() continues from the previous end up to `end`: z[(n - first) * lanes + s] +=
  // linear term of neuron n for sample s. The block's features must not change in between.
  struct Walk {
    struct Feature {
      std::uint64_t at, end;  // remaining postings
      std::uint32_t place;    // index of its dense column, or of its list, in the block
      std::uint32_t length;   // entries of its list
    };
    std::vector<Feature> dense, listed;  // in the order of the block
    // For quantized weights: float weights of the dense features' postings of a range; and for each of these
    // features the number of weights before its own.
    std::vector<float> weights;
    std::vector<std::size_t> used;
    // Switches to an order of features that is independent of the block's samples.
    void sort();
  };
  void start(const BlockFeatures& features, Walk& walk) const { start(features, SIZE_MAX, walk); }
  // The same without the features of more than `limit` neurons.
  void start(const BlockFeatures& features, std::size_t limit, Walk& walk) const;
  void add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes, float* z,
           Walk& walk) const;

  // z[n] += linear term of neuron n, for every neuron and one sample, without the features of more than
  // `limit` neurons.
  void add(const SparseRow& row, std::size_t limit, float* z) const;

  std::size_t features() const { return offsets_.size() - 1; }
  // Number of neurons with a weight for a feature.
  std::size_t count(std::size_t feature) const { return offsets_[feature + 1] - offsets_[feature]; }
  // Calls use(neuron, weight) for each of them, in ascending order.
  template <class Use>
  void visit(std::size_t feature, Use&& use) const {
    by_form([&](const auto& weight) {
      for (std::uint64_t p = offsets_[feature]; p < offsets_[feature + 1]; ++p) use(neurons_[p], weight(p));
    });
  }

  std::size_t bytes() const;
  // Memory for all neurons of a linear term of `weights` weights.
  static double bytes_of(double weights, double features);

 private:
  void add_dense(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                 Walk& walk) const;
  void add_listed(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                  Walk& walk) const;

  void widen_dense(std::uint32_t end, Walk& walk) const;
  void prefetch_posting(std::uint64_t p) const;
  // Calls use(weight_of_posting) with the accessor for the stored form of weights.
  template <class Use>
  void by_form(const Use& use) const {
    if (small_.empty()) return use([this](std::uint64_t p) { return weights_[p]; });
    if (!small_.in_bytes()) return use([this](std::uint64_t p) { return small_.half(p); });
    use([this](std::uint64_t p) { return small_.byte(neurons_[p], p); });
  }

  std::vector<std::uint64_t> offsets_;   // by feature
  AlignedArray<std::uint32_t> neurons_;  // of the postings, ascending per feature
  AlignedArray<float> weights_;
  SmallValues small_;  // quantized weights, in place of weights_
};

}  // namespace slide
