// The active set: the neurons of one layer that a block computes. ActiveSampler chooses them: labels,
// candidates of the hash tables, negatives by label frequency, uniform negatives.
//
// ActiveSampler is immutable; select() is safe from any thread with one scratch per thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/config/config.h"
#include "lsh/neuron_index.h"

namespace slide {

// Numbers of active neurons by source.
struct ActiveSources {
  double labels = 0, tables = 0, frequency = 0, uniform = 0;

  void add(const ActiveSources& other, double times = 1) {
    labels += times * other.labels;
    tables += times * other.tables;
    frequency += times * other.frequency;
    uniform += times * other.uniform;
  }
};

// Distinct neurons, in order of their source: labels, hash tables, by frequency, uniform. The order within a
// source is arbitrary. In a dense layer `ids` is empty and a position is the number of the neuron in its
// part.
struct ActiveSet {
  std::vector<std::uint32_t> ids;
  ActiveSources sources;
  // logQ correction by position, added to the logit in training: log of the number of neurons that a sampled
  // negative represents; 0 = itself.
  std::vector<float> correction;
  // Positions in `ids` of the labels of sample s: label_positions[label_offsets[s] .. label_offsets[s+1]).
  std::vector<std::uint32_t> label_positions;
  std::vector<std::uint32_t> label_offsets;
  // Positions in `ids` of the masked neurons of sample s, in the same layout: its input items, which are
  // neither labels nor negatives. Empty offsets: no sample has masked neurons.
  std::vector<std::uint32_t> masked_positions;
  std::vector<std::uint32_t> masked_offsets;

  void reserve(std::size_t neurons, std::size_t label_entries, std::size_t samples);
  void reserve_masked(std::size_t entries, std::size_t samples) {
    masked_positions.reserve(entries);
    masked_offsets.reserve(samples + 1);
  }
  static std::size_t bytes_of(std::size_t neurons, std::size_t label_entries, std::size_t samples) {
    return neurons * (sizeof(std::uint32_t) + sizeof(float)) +
           (label_entries + samples + 1) * sizeof(std::uint32_t);
  }
  // Sets the labels of a dense layer whose neurons are the labels [first, first + neurons). Drops other
  // labels.
  void set_labels(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                  std::size_t neurons);
  // Sets the masked neurons likewise.
  void set_masked(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                  std::size_t neurons);
  std::span<const std::uint32_t> labels_of(std::size_t sample) const {
    return {label_positions.data() + label_offsets[sample],
            label_offsets[sample + 1] - label_offsets[sample]};
  }
  std::span<const std::uint32_t> masked_of(std::size_t sample) const {
    if (masked_offsets.empty()) return {};
    return {masked_positions.data() + masked_offsets[sample],
            masked_offsets[sample + 1] - masked_offsets[sample]};
  }
};

// Samples i with probability weights[i] / sum of weights, O(1) per sample (alias method: Walker 1977, Vose
// 1991). Immutable.
class AliasTable {
 public:
  explicit AliasTable(std::span<const std::uint32_t> weights);
  std::uint32_t draw(Rng& rng) const;
  double probability(std::uint32_t i) const { return probability_[i]; }
  static std::size_t bytes_of(std::size_t neurons) {
    return neurons * (sizeof(float) + sizeof(std::uint32_t) + sizeof(float));
  }

 private:
  std::vector<float> accept_;
  std::vector<std::uint32_t> alias_;
  std::vector<float> probability_;
};

struct SamplerScratch {
  lsh::IdSet seen;
  lsh::QueryScratch query;
  // Position in the set, by neuron; valid for labels, with masked neurons for all members of the set.
  AlignedArray<std::uint32_t> position;
};

// The samples of a block: dense vectors [inputs x lanes], or one sparse vector per sample (first layer).
struct ActiveQuery {
  lsh::QueryBlock dense;
  std::span<const SparseRow> sparse;                            // used when dense.xt is nullptr
  std::span<const std::span<const std::uint32_t>> labels;       // by sample; empty for hidden layers
  std::span<const std::span<const std::uint32_t>> masked = {};  // masked labels by sample, or empty
};

class ActiveSampler {
 public:
  // For a layer, or part of a layer, whose neurons are the labels [first_label, first_label + neurons). Other
  // labels of a query are ignored. frequencies[n]: training samples with the label of neuron n; may be empty
  // when config.frequency is 0. At most max(65,536, neurons) negatives are drawn by frequency.
  ActiveSampler(const LayerConfig& config, std::size_t neurons, std::span<const std::uint32_t> frequencies,
                std::size_t first_label = 0);

  SamplerScratch make_scratch(const lsh::NeuronIndex* index, std::size_t lanes) const;

  // Sets `set` to the active neurons of a block. Deterministic in `rng`. `index`: the hash tables, or
  // nullptr. O(labels + lookups in the tables + drawn()); O(neurons) where most neurons are drawn or some are
  // masked.
  void select(const ActiveQuery& query, const lsh::NeuronIndex* index, Rng rng, SamplerScratch& scratch,
              ActiveSet& set) const;

  // Max number of active neurons besides the labels, in a layer of `neurons` neurons.
  static std::size_t drawn(const LayerConfig& config, std::size_t neurons);
  std::size_t drawn() const { return drawn(config_, neurons_); }

  // Memory of make_scratch() in bytes.
  static double scratch_bytes_of(const LayerConfig& config, std::size_t neurons, std::size_t inputs,
                                 std::size_t lanes);

 private:
  void add_labels(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const;
  void find_masked(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const;
  void add_candidates(const ActiveQuery& query, const lsh::NeuronIndex& index, Rng& rng,
                      SamplerScratch& scratch, ActiveSet& set) const;
  void add_frequent(Rng& rng, SamplerScratch& scratch, ActiveSet& set) const;
  void add_uniform(Rng& rng, SamplerScratch& scratch, ActiveSet& set) const;

  LayerConfig config_;
  std::size_t neurons_;
  std::size_t first_label_;
  std::optional<AliasTable> alias_;
};

}  // namespace slide
