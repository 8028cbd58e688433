// Exact scores of those labels of a sample that, as bounds of their scores have told, could be among its
// best, the likeliest first, so that few are left; and of labels that neighbours vote for.
//
// Immutable, and safe to use from any thread with a Scratch each; refers to the layer, which must not change
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"
#include "engine/inference/sample_scores.h"

namespace slide {

class CandidateRescorer {
 public:
  static constexpr std::size_t kFirst = 16;                   // labels that are scored before the others
  static constexpr std::size_t kMaxBest = TopK::kMaxInOrder;  // with more, bounds leave too many labels

  struct Hit {
    std::uint32_t label;
    float bound;  // of its score, from above
  };

  // Of an output layer above a hidden one, over `features` features.
  CandidateRescorer(const Layer& output, std::size_t features) : exact_(output, features) {}

  struct Scratch {
    SampleScores::Scratch exact;
    std::vector<std::uint32_t> ids, votes;
    std::vector<float> scores;
  };
  Scratch make_scratch() const { return {exact_.make_scratch(), {}, {}, {}}; }

  // All of them take scores to the batch's best and votes of sample s of block b.

  // Those of the labels with most votes, which are likely to be among the best: it comes before the others.
  void score_first_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  // Those of the hits that still could be among the best, of which there are none afterwards; returns how
  // many these were. Each label is a hit once.
  std::size_t score(std::vector<Hit>& hits, std::uint32_t b, std::size_t s, PredictionBatch& batch,
                    Scratch& scratch) const;
  // Those of labels that could still be among the best for their votes. Labels without a score so far have
  // none that is among the best.
  void score_last_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

 private:
  void score_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

  SampleScores exact_;
};

}  // namespace slide
