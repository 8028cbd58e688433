// The neurons of one layer that take part in one block of samples, and how they are chosen.
//
// ActiveSampler is immutable while querying and may be shared by all threads, each with its own scratch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/config/config.h"
#include "lsh/neuron_index.h"

namespace slide {

// Active neurons by what chose them.
struct ActiveSources {
  double labels = 0, tables = 0, frequency = 0, uniform = 0;

  void add(const ActiveSources& other, double times = 1) {
    labels += times * other.labels;
    tables += times * other.tables;
    frequency += times * other.frequency;
    uniform += times * other.uniform;
  }
};

// Chosen neurons in the order labels, LSH candidates, frequency draws, uniform fill; all distinct.
struct ActiveSet {
  std::vector<std::uint32_t> ids;
  ActiveSources sources;  // how many of them each gave
  // Added to a neuron's logit while training: log of how many neurons it stands for; 0 = itself.
  std::vector<float> correction;
  // Positions in `ids` of the labels of sample s: label_positions[label_offsets[s] .. label_offsets[s+1]).
  std::vector<std::uint32_t> label_positions;
  std::vector<std::uint32_t> label_offsets;
  // Likewise those of the neurons that say nothing of sample s, neither as a label nor as a negative: of
  // items that it shows. No offsets: none of any sample.
  std::vector<std::uint32_t> left_out_positions;
  std::vector<std::uint32_t> left_out_offsets;

  void reserve(std::size_t neurons, std::size_t label_entries, std::size_t samples);
  void reserve_left_out(std::size_t entries, std::size_t samples) {
    left_out_positions.reserve(entries);
    left_out_offsets.reserve(samples + 1);
  }
  static std::size_t bytes_of(std::size_t neurons, std::size_t label_entries, std::size_t samples) {
    return neurons * (sizeof(std::uint32_t) + sizeof(float)) +
           (label_entries + samples + 1) * sizeof(std::uint32_t);
  }
  // Of `neurons` neurons from label `first` on all are active: a label's position is its place among them.
  void set_labels(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                  std::size_t neurons);
  // The same of those left out.
  void set_left_out(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                    std::size_t neurons);
  std::span<const std::uint32_t> labels_of(std::size_t sample) const {
    return {label_positions.data() + label_offsets[sample],
            label_offsets[sample + 1] - label_offsets[sample]};
  }
  std::span<const std::uint32_t> left_out_of(std::size_t sample) const {
    if (left_out_offsets.empty()) return {};
    return {left_out_positions.data() + left_out_offsets[sample],
            left_out_offsets[sample + 1] - left_out_offsets[sample]};
  }
};

// Draws neurons in proportion to their frequency in constant time (Walker 1977, Vose 1991).
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
  AlignedArray<std::uint32_t>
      position;  // in the set, by neuron: of labels, and of all where some are left out
};

// What a block asks with: dense unit-major vectors, or one sparse vector a sample (first layer).
struct ActiveQuery {
  lsh::QueryBlock dense;
  std::span<const SparseRow> sparse;                              // used when dense.xt is nullptr
  std::span<const std::span<const std::uint32_t>> labels;         // one a sample; empty for hidden layers
  std::span<const std::span<const std::uint32_t>> left_out = {};  // one a sample, or none
};

class ActiveSampler {
 public:
  // Of `neurons` neurons, where they are labels those from `first_label` on; other labels are left out.
  // `frequencies` may be empty when config.frequency is 0; without any above 0 that source yields nothing.
  // Without `index` the LSH source yields nothing. Draws by frequency number at most 65,536, or `neurons`
  // where these are more.
  ActiveSampler(const LayerConfig& config, std::size_t neurons, std::span<const std::uint32_t> frequencies,
                std::size_t first_label = 0);

  SamplerScratch make_scratch(const lsh::NeuronIndex* index, std::size_t lanes) const;

  // Training set of a block.
  void select(const ActiveQuery& query, const lsh::NeuronIndex* index, Rng rng, SamplerScratch& scratch,
              ActiveSet& set) const;

  // Neurons drawn at most besides labels, of a layer of `neurons` neurons.
  static std::size_t drawn(const LayerConfig& config, std::size_t neurons);
  std::size_t drawn() const { return drawn(config_, neurons_); }

  // Of make_scratch() for a layer of that shape.
  static double scratch_bytes_of(const LayerConfig& config, std::size_t neurons, std::size_t inputs,
                                 std::size_t lanes);

 private:
  void add_labels(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const;
  void find_left_out(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const;
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
