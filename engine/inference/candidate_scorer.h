// Candidate scorer (Inference::kLsh): scores for each sample only its candidates. Candidates are the neurons
// that the output layer's search index returns, or the training hash tables where the output layer is the
// only layer; the labels of largest linear term by the sample's features; and the labels with kNN votes.
// Neurons that the index always scores come first, for all samples of the batch together; without a linear
// term by bounds (BoundedPass).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/inference/bounded_pass.h"
#include "engine/inference/exact_pass.h"
#include "engine/inference/scorer.h"
#include "engine/network/network.h"
#include "engine/wide/wide_candidates.h"
#include "engine/wide/wide_postings.h"
#include "lsh/id_set.h"
#include "lsh/neuron_index.h"
#include "lsh/query.h"

namespace slide {

class CandidateScorer final : public Scorer {
 public:
  // Whether candidates come from the training hash tables of the output layer: the network has no other
  // layer.
  static bool asks_training_tables(const Network& network) {
    return !network.input() && network.dense() == 0 && network.layers().size() == 1;
  }

  // Takes up to `candidates` neurons from tables, and as many from the linear term. `bound_first`: whether
  // scores of always-scored neurons are bounded first, where there is no linear term.
  CandidateScorer(const Network& network, std::size_t candidates, bool bound_first, int threads);

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override;

 private:
  struct Scratch final : Scorer::Scratch {
    ExactPass::Scratch pass;
    BoundedPass::Scratch bounded;
    std::vector<std::uint32_t> all_blocks;  // 0, 1, 2, ...
    lsh::QueryScratch search;
    WideCandidates::Scratch wide;
    // Of the sample being scored:
    std::vector<std::uint32_t> votes;  // places of votes for labels without a score so far
    std::vector<std::uint32_t> candidates, found;
    std::vector<std::uint32_t> exact;  // places of candidates with an exact score
    lsh::IdSet seen;
    AlignedArray<float> x, by_feature;  // input of the output layer; features, zero between samples
    AlignedArray<float> z;              // of the candidates
    std::vector<std::uint64_t> keys;    // of the candidates: approximate score, then place
    std::vector<float> weights;
  };

  void score_always(PredictionBatch& batch, Scratch& scratch) const;
  void score_sample(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void find_candidates(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void score_candidates(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void add_linear_term(const SparseRow& row, std::size_t k, Scratch& scratch) const;
  void query_tables(const SparseRow& row, std::size_t sample, PredictionBatch& batch, Scratch& scratch) const;

  const Network& network_;
  std::size_t candidates_;
  std::optional<lsh::NeuronIndex> search_;
  std::vector<bool> always_;               // by neuron: scored for every sample
  std::vector<std::uint32_t> always_ids_;  // those neurons, ascending
  std::optional<WideCandidates> wide_;     // of the linear term
  std::optional<WidePostings> always_postings_;
  ExactPass pass_;
  std::optional<BoundedPass> bounded_;  // of always_ids_
};

}  // namespace slide
