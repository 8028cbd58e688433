// Bounded exact top-k scoring of a prediction batch: upper bounds of all output neurons' scores, then exact
// scores of only those neurons that can still be among the top k.
//
// An upper bound is the sum of: an approximate score of the hidden layers' output plus its error bound
// (BatchBounds); the exact linear term of rare features; and the bound of the linear term of frequent
// features for a group of neurons (WideBounds). FullScorer scores a block exactly where bounds are
// unavailable or prune too little, and where all exact scores are requested.
//
// Immutable, safe from any thread with one Scratch per thread (Scorer).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/inference/batch_bounds.h"
#include "engine/inference/candidate_rescorer.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/scorer.h"
#include "engine/wide/wide_bounds.h"

namespace slide {

class BatchBoundedScorer final : public Scorer {
 public:
  // For a network with a dense first layer. `full` is of the same network and must outlive this object;
  // `bounds` belongs to the network's linear term, nullptr without one.
  BatchBoundedScorer(const FullScorer& full, const Network& network, std::shared_ptr<const WideBounds> bounds,
                     int threads);

  // Whether approximate scores have error bounds.
  bool bounded() const { return hidden_bounds_.bounded(); }

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;

 private:
  using Candidate = CandidateRescorer::Candidate;
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    BatchBounds::Scratch hidden_bounds;
    CandidateRescorer::Scratch rescorer;
    std::vector<std::uint32_t> bounded, exact;  // blocks scored by bounds; blocks scored exactly
    std::vector<std::size_t> scored;            // by block: exact scores computed so far
    // One element per block:
    std::vector<WideBounds::Samples> wide;  // frequent features of its samples
    std::vector<WidePostings::Walk> walks;  // over the postings of its rare features
    AlignedArray<float> bounds;             // of the linear term, [groups of a tile x lanes] for each block
    // One element per sample of the batch:
    std::vector<float> min_score;                    // labels of lower score are not among the top k
    std::vector<std::vector<Candidate>> candidates;  // candidates not yet scored exactly
    // Of the block being scored:
    AlignedArray<float> z;          // approximate scores, [neurons of a tile x lanes]
    AlignedArray<float> by_sample;  // bounds of the linear term, [lanes x groups of a tile]
    // Per lane: upper bound of exact score - approximate score; threshold of approximate scores.
    std::vector<float> max_excess, threshold;
    std::vector<std::uint32_t> places;  // indices of scores above the threshold
  };

  bool prunes_too_little(std::uint32_t b, const PredictionBatch& batch, const Scratch& scratch) const;
  void choose_blocks(PredictionBatch& batch, Scratch& scratch) const;
  bool begin_block(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;
  void bound_wide_tile(std::size_t first_group, std::size_t groups, PredictionBatch& batch,
                       Scratch& scratch) const;
  void score_chunk(std::size_t first, std::size_t count, PredictionBatch& batch, Scratch& scratch) const;
  void list_candidates(std::uint32_t b, std::size_t group, const float* z, std::size_t count,
                       PredictionBatch& batch, Scratch& scratch) const;
  void set_thresholds(std::uint32_t b, std::size_t group, PredictionBatch& batch, Scratch& scratch) const;
  void score_candidates(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void finish(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;

  const FullScorer& full_;
  BatchBounds hidden_bounds_;
  CandidateRescorer rescorer_;
  std::shared_ptr<const WideBounds> wide_bounds_;
};

}  // namespace slide
