// Candidate labels of the linear term for single samples: an impact-ordered inverted index (Anh and Moffat,
// "Pruned query evaluation using pre-computed impacts", 2006) of the largest weights of each feature.
//
// Immutable; safe from any thread with one Scratch per thread. Does not refer to the linear term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/wide/linear_term.h"

namespace slide {

class WideCandidates {
 public:
  static constexpr std::size_t kStrongest = 256;  // weights of a feature

  // Keeps the `strongest` weights of each of `features` features, by absolute value, of the neurons without
  // excluded[neuron]. O(weights).
  WideCandidates(const LinearTerm& wide, std::size_t features, const std::vector<bool>& excluded, int threads,
                 std::size_t strongest = kStrongest);

  struct Scratch {
    AlignedArray<float> scores;           // by neuron; zero between samples
    std::vector<std::uint32_t> touched;   // neurons with a score, some more than once
    std::size_t size = 0;                 // number of them
    std::vector<float> values;            // their scores, in best()
    std::vector<std::uint32_t> of_class;  // number of neurons by class of scores: a histogram
    std::vector<std::uint64_t> keys;      // of high scores: score, then the lower id
  };
  Scratch make_scratch() const;

  // Begins with a sample: scratch.scores[n] = sum over the kept weights of neuron n times the values of
  // `row`. clear() must follow before the next sample. O(kept weights of the features of `row`). Allocates
  // where these are more than for all samples before.
  void start(const SparseRow& row, Scratch& scratch) const;
  // Appends to `out` the up to `wanted` neurons with the largest positive scores, unordered. A neuron whose
  // partial sum was 0 in between may occur twice.
  void best(std::size_t wanted, Scratch& scratch, std::vector<std::uint32_t>& out) const;
  void clear(Scratch& scratch) const;

  std::size_t bytes() const;
  // Expected bytes() for a linear term of `weights` weights over `features` features.
  static double bytes_of(double weights, double features);
  // Working memory of the constructor, for `neurons` neurons and `threads` threads.
  static double making_bytes_of(double weights, double neurons, double features, int threads);

 private:
  // All postings of the features of a tile, one feature after another; a thread's working memory.
  struct TilePostings {
    AlignedArray<std::uint32_t> neurons;
    AlignedArray<float> weights;
    std::vector<float> sizes;  // absolute values of the weights of a feature
    void make_room(std::size_t size);
  };
  void keep_strongest(TilePostings& from, std::size_t begin, std::size_t count, std::size_t feature);

  std::vector<std::uint64_t> offsets_;   // by feature
  AlignedArray<std::uint32_t> neurons_;  // [posting]
  AlignedArray<float> weights_;          // [posting]
  std::size_t neuron_count_;
};

}  // namespace slide
