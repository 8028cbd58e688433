// Candidate scorer (Inference::kLsh): scores for each sample only its candidates. Candidates are the neurons
// that the output layer's search index returns, or the training hash tables where the output layer is the
// only layer; the labels of largest linear term by the sample's features; and the labels with kNN votes.
// Neurons that the index always scores come first, for all samples of the batch together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/inference/exact_pass.h"
#include "engine/inference/scorer.h"
#include "engine/network/network.h"
#include "engine/wide/wide_postings.h"
#include "lsh/id_set.h"
#include "lsh/search_index.h"

namespace slide {

class CandidateScorer final : public Scorer {
 public:
  // Whether it queries the training hash tables of the output layer.
  static bool asks_training_tables(const Network& network) {
    return !network.input() && network.dense() == 0 && network.layers().size() == 1;
  }

  // Takes up to `candidates` neurons from tables, and as many from the linear term.
  CandidateScorer(const Network& network, std::size_t candidates, int threads);

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override;

 private:
  struct Scratch final : Scorer::Scratch {
    ExactPass::Scratch pass;
    std::vector<std::uint32_t> all_blocks;  // 0, 1, 2, ...
    lsh::SearchScratch search;
    WidePostings::Scratch postings;
    // Of one sample:
    std::vector<std::uint32_t> candidates, found, wide_best;
    lsh::IdSet seen;
    AlignedArray<float> x;  // input of the output layer
    AlignedArray<float> z;  // of the candidates
  };

  // Whether neuron `id` is scored for every sample, independent of candidates.
  bool is_always(std::uint32_t id) const { return search_ && always_[id]; }
  void score_sample(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void find_candidates(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void query_tables(const SparseRow& row, std::size_t sample, PredictionBatch& batch, Scratch& scratch) const;
  void add_wide_candidates(Scratch& scratch) const;
  void put_votes_first(std::size_t i, const PredictionBatch& batch, Scratch& scratch) const;
  void score_candidates(std::size_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

  const Network& network_;
  std::size_t candidates_;
  std::optional<lsh::SearchIndex> search_;
  std::vector<bool> always_;                     // by neuron: is_always()
  std::optional<WidePostings> postings_;         // of the linear term
  std::optional<WidePostings> always_postings_;  // of the always-scored neurons
  ExactPass pass_;
};

}  // namespace slide
