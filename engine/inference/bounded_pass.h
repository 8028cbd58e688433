// Bounded exact top k of one set of neurons for a prediction batch: upper bounds of all their scores, then
// exact scores of only those neurons that can still be among the top k.
//
// An upper bound is the sum of: an approximate score of the hidden layers' output plus its error bound
// (BatchBounds); the exact linear term of rare features; and the bound of the linear term of frequent
// features for a group of neurons (WideBounds). Without a linear term, groups whose rows are too short for
// the threshold of every sample of a block are skipped: neurons are best given by falling length of their
// rows (Teflioudi et al., "LEMP: Fast Retrieval of Large Entries in a Matrix Product", SIGMOD 2015), and the
// pass ends where all later ones are too short. Samples without bounds, and blocks for which bounds prune too
// little, are left to ExactPass.
//
// Immutable, safe from any thread with one Scratch per thread; refers to the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/inference/batch_bounds.h"
#include "engine/inference/candidate_rescorer.h"
#include "engine/inference/prediction_batch.h"
#include "engine/wide/wide_bounds.h"

namespace slide {

class BoundedPass {
 public:
  static constexpr std::size_t kMinNeurons = 4096;   // with fewer, bounds cost more than they save
  static constexpr std::size_t kMaxCandidates = 64;  // of a sample that have room from the start

  // For the neurons `ids` of a network with a dense first layer. `postings` and `wide_bounds`: of the
  // network's linear term for these neurons, then in ascending order; nullptr without one. `ids` and
  // `postings` must outlive this object. Keeps rounded rows of about the first `kept` neurons.
  // `form`: of the approximate scores.
  BoundedPass(const Network& network, std::span<const std::uint32_t> ids, std::size_t kept,
              BatchBounds::Form form, const WidePostings* postings,
              std::shared_ptr<const WideBounds> wide_bounds, int threads);

  // Whether approximate scores have error bounds.
  bool bounded() const { return hidden_bounds_.bounded(); }
  std::size_t bytes() const { return hidden_bounds_.bytes(); }

  // Whether the top k is all that the batch needs, and k is small enough for bounds.
  static bool may_score(const PredictionBatch& batch) {
    return !batch.log_softmax && batch.k <= CandidateRescorer::kMaxBest;
  }

  struct Scratch;
  Scratch make_scratch(std::size_t blocks, std::size_t lanes) const;

  // Adds to batch.best all neurons of `ids` that are among the top k of a sample; passes exact scores of
  // labels with kNN votes, of any neuron, to batch.votes, all that matter where `ids` are all neurons of the
  // layer. Sets batch.exact of the samples that remain to be scored exactly, as they were, and returns their
  // blocks, valid until the next call. With batch.by_row other samples of a block do not change which they
  // are. Preconditions: may_score(batch), and batch.best is empty.
  std::span<const std::uint32_t> score(PredictionBatch& batch, Scratch& scratch) const;

 private:
  void choose_blocks(PredictionBatch& batch, Scratch& scratch) const;
  void begin_block(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;
  void bound_wide_tile(std::size_t first_group, std::size_t groups, PredictionBatch& batch,
                       Scratch& scratch) const;
  bool any_left(std::size_t first, const PredictionBatch& batch, const Scratch& scratch) const;
  bool may_reach(std::uint32_t b, const BatchBounds::Reach& reach, const PredictionBatch& batch,
                 const Scratch& scratch) const;
  void score_tile(std::size_t first, std::size_t count, PredictionBatch& batch, Scratch& scratch) const;
  void list_candidates(std::uint32_t b, std::size_t group, const float* z, std::size_t count,
                       PredictionBatch& batch, Scratch& scratch) const;
  void list_candidates_of_single(std::uint32_t b, std::size_t first, const float* z, std::size_t count,
                                 PredictionBatch& batch, Scratch& scratch) const;
  void add_candidate(std::uint32_t b, std::size_t s, CandidateRescorer::Candidate candidate,
                     PredictionBatch& batch, Scratch& scratch) const;
  float max_excess(std::size_t group, std::size_t i, float wide, const Scratch& scratch) const;
  void score_candidates(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void finish(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;
  void leave(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

  // Whether the neurons are all of the layer.
  bool is_whole() const { return ids_.size() == output_.size(); }

  const Layer& output_;
  std::span<const std::uint32_t> ids_;
  const WidePostings* postings_;
  BatchBounds hidden_bounds_;
  CandidateRescorer rescorer_;
  std::shared_ptr<const WideBounds> wide_bounds_;
  // Without a linear term, upper bounds by tile of neurons: of its own, and of its own and all later ones.
  std::vector<BatchBounds::Reach> reach_, rest_;
};

struct BoundedPass::Scratch {
  BatchBounds::Scratch hidden_bounds;
  CandidateRescorer::Scratch rescorer;
  // Blocks with samples that have bounds; blocks with samples that are left to ExactPass.
  std::vector<std::uint32_t> bounded, exact;
  std::size_t limit = 0;  // candidates of a sample that are listed before they are scored
  // One element per block:
  std::vector<std::size_t> left;          // samples that are not left to ExactPass
  std::vector<WideBounds::Samples> wide;  // frequent features of its samples
  std::vector<WidePostings::Walk> walks;  // over the postings of its rare features
  AlignedArray<float> bounds;             // of the linear term, [groups of a tile x lanes] for each block
  // One element per sample of the batch:
  std::vector<float> min_score;  // labels of lower score are not among the top k
  // Exact scores computed so far; without by_row of all samples of a block, at its first one.
  std::vector<std::size_t> scored;
  std::vector<std::vector<CandidateRescorer::Candidate>> candidates;  // candidates not yet scored exactly
  // Of the block being scored:
  AlignedArray<float> z;          // approximate scores, [neurons of a tile x lanes]
  AlignedArray<float> by_sample;  // bounds of the linear term, [lanes x groups of a tile]
  // Upper bound of exact score - approximate score, and threshold of approximate scores: per lane; for a
  // single sample per group and per neuron of a tile.
  std::vector<float> max_excess, threshold;
  std::vector<std::uint32_t> places;  // indices of scores above the threshold
};

}  // namespace slide
