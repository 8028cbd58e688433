// The wide path at inference: its weights by feature.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/features/block_features.h"
#include "engine/wide/wide_path.h"

namespace slide {

// The wide weights by feature: scores the neurons that a sample's own features speak for, without looking at
// the others. Immutable; one Scratch or Walk a thread.
class WidePostings {
 public:
  // How the candidates of one sample are found and scored, by how many neurons have a feature.
  struct Limits {
    std::size_t telling = 1024;      // with more, it brings none of them to best(): it says little;
    std::size_t added_up = 8192;     // with more, it is looked up for the candidates alone,
    std::size_t searched_part = 32;  // from one in so many neurons on by rank, not by search
  };

  // Of the wide path's neurons `ids`; what follows calls neuron ids[n] n. Only with `candidates` what scores
  // those of one sample.
  WidePostings(const WidePath& wide, std::span<const std::uint32_t> ids, std::size_t features,
               bool candidates, const Limits& limits);
  WidePostings(const WidePath& wide, std::span<const std::uint32_t> ids, std::size_t features,
               bool candidates)
      : WidePostings(wide, ids, features, candidates, Limits()) {}

  // For many samples: all neurons in ascending order, a range at a time. start() begins with the block's
  // features; each add() then takes the neurons from where the last one ended up to `end`, and does
  // z[(n - first)*lanes + s] += the wide score of neuron n for sample s. The block's features must not change
  // in between.
  struct Walk {
    struct Feature {
      std::uint64_t at, end;  // its postings still to come
      std::uint32_t place;    // in the block: of its dense column, or of its list
      std::uint32_t length;   // entries of its list
    };
    std::vector<Feature> dense, listed;  // each as the block counts them
    // Where weights are not floats: those of the dense features' postings of a range, and for each of these
    // features how many are before its own.
    std::vector<float> weights;
    std::vector<std::size_t> used;
    // From here on in ascending order, whatever samples the block has.
    void sort();
  };
  void start(const BlockFeatures& features, Walk& walk) const { start(features, SIZE_MAX, walk); }
  // The same without the features of more than `most` neurons.
  void start(const BlockFeatures& features, std::size_t most, Walk& walk) const;
  void add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes, float* z,
           Walk& walk) const;

  // z[n] += the wide score of every neuron n, for one sample, without the features of more than `most`
  // neurons.
  void add(const SparseRow& row, std::size_t most, float* z) const;

  // For the candidates of one sample: start() with its features, then best() appends to `out` the `wanted`
  // neurons of the largest scores among those that a telling feature speaks for, in no order; these scores
  // leave out what is only looked up. add() does z[i] += the wide score of neurons[i]. clear() has to follow
  // before the next sample.
  struct Scratch {
    struct LookUp {
      std::uint64_t begin, end;  // its postings, or its Ranks where `ranked`
      float value;
      bool ranked;
    };
    std::vector<float> scores;           // by neuron: from the features that are added up
    std::vector<std::uint8_t> listed;    // by neuron: whether it is in `touched`
    std::vector<std::uint32_t> touched;  // neurons that telling features speak for,
    std::size_t touched_count = 0;       // so many
    std::vector<LookUp> look_ups;
  };
  Scratch make_scratch() const;
  void start(const SparseRow& row, Scratch& scratch) const;
  void best(std::size_t wanted, Scratch& scratch, std::vector<std::uint32_t>& out) const;
  void add(std::span<const std::uint32_t> neurons, const Scratch& scratch, float* z) const;
  void clear(const SparseRow& row, Scratch& scratch) const;

  std::size_t bytes() const;
  // Of all neurons of a wide path of `weights` weights, without what scores candidates.
  static double bytes_of(double weights, double features);

 private:
  void add_dense(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                 Walk& walk) const;
  void add_listed(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                  Walk& walk) const;

  // 64 neurons of a common feature: which of them have it, and the place of the first one's posting.
  struct Ranks {
    std::uint64_t present;
    std::uint64_t first;
  };

  std::size_t count(std::size_t feature) const { return offsets_[feature + 1] - offsets_[feature]; }
  void widen_dense(std::uint32_t end, Walk& walk) const;
  void prefetch_posting(std::uint64_t p) const;
  // use(weight_of_posting) in the form in which weights are held.
  template <class Use>
  void by_form(const Use& use) const {
    if (small_.empty()) return use([this](std::uint64_t p) { return weights_[p]; });
    if (!small_.in_bytes()) return use([this](std::uint64_t p) { return small_.half(p); });
    use([this](std::uint64_t p) { return small_.byte(neurons_[p], p); });
  }
  bool is_common(std::size_t feature) const;
  void rank_common();
  // Of posting p, which is one of `neuron`.
  float weight(std::uint32_t neuron, std::uint64_t p) const {
    return small_.empty() ? weights_[p] : small_.value(neuron, p);
  }
  float weight_of(std::uint32_t neuron, const Scratch::LookUp& at) const;

  Limits limits_;
  std::size_t neuron_count_;
  std::vector<std::uint64_t> offsets_;   // by feature
  AlignedArray<std::uint32_t> neurons_;  // of the postings, ascending for each feature
  AlignedArray<float> weights_;
  SmallValues small_;                  // in their place, where the wide path has them small
  std::vector<std::uint32_t> common_;  // features in the pattern of many neurons, ascending
  std::vector<Ranks> ranks_;           // [common][neurons / 64]
};

}  // namespace slide
