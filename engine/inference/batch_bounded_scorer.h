// The best labels of many samples, soon: bounds of their scores for all output neurons, and exact scores of
// those alone that could be among the best. A bound is a rough score of the hidden path with what it may be
// wrong by (BatchBounds), the wide weights of features that few neurons have, and for the other features what
// they can add at most to any of some neurons (WideBounds). Where bounds say too little, and where all exact
// scores are asked for, FullScorer does the work.
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
  // Of a network with a dense first layer. `full`, of the same network, must live on; `bounds` of its wide
  // path, nullptr without one.
  BatchBoundedScorer(const FullScorer& full, const Network& network, std::shared_ptr<const WideBounds> bounds,
                     int threads);

  // Whether rough scores have a bound at all.
  bool bounded() const { return screen_.bounded(); }

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;

 private:
  using Hit = CandidateRescorer::Hit;
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    BatchBounds::Scratch screen;
    CandidateRescorer::Scratch candidate_rescorer;
    std::vector<std::uint32_t> rough, exact;  // blocks to be scored so
    std::vector<std::size_t> scored;          // by block: exact scores of its samples so far
    // By block:
    std::vector<WideBounds::Samples> wide;  // what its samples have of features with bounds
    std::vector<WidePostings::Walk> walks;  // of its other features
    AlignedArray<float> bounds;             // of wide scores, [groups of a stretch x lanes] of each
    // By sample of the batch:
    std::vector<float> least;            // labels of lower scores are not among the best
    std::vector<std::vector<Hit>> hits;  // yet to be scored
    // Of one block:
    AlignedArray<float> z;                // rough scores, [neurons scored at once x lanes]
    AlignedArray<float> by_sample;        // bounds of wide scores, [lanes x groups of a stretch]
    std::vector<float> reach, threshold;  // by lane: what an exact score may be above a rough one, which must
                                          // exceed this
    std::vector<std::uint32_t> places;    // of the scores that do
  };

  bool is_too_close(std::uint32_t b, const PredictionBatch& batch, const Scratch& scratch) const;
  void choose_blocks(PredictionBatch& batch, Scratch& scratch) const;
  bool begin_block(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;
  void bound_stretch(std::size_t first_group, std::size_t groups, PredictionBatch& batch,
                     Scratch& scratch) const;
  void score_chunk(std::size_t first, std::size_t count, PredictionBatch& batch, Scratch& scratch) const;
  void keep_possible(std::uint32_t b, std::size_t group, const float* z, std::size_t count,
                     PredictionBatch& batch, Scratch& scratch) const;
  void set_thresholds(std::uint32_t b, std::size_t group, PredictionBatch& batch, Scratch& scratch) const;
  void score_hits(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  void finish(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const;

  const FullScorer& full_;
  BatchBounds screen_;
  CandidateRescorer hits_;
  std::shared_ptr<const WideBounds> bounds_;
};

}  // namespace slide
