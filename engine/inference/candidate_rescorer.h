// Exact re-scoring of candidate labels of a sample: labels whose score bounds reach the top k, in order of
// decreasing bound so that most are pruned; and labels with kNN votes.
//
// Immutable, safe from any thread with one Scratch per thread. Refers to the layer, which must not change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"
#include "engine/inference/sample_scores.h"

namespace slide {

class CandidateRescorer {
 public:
  static constexpr std::size_t kFirst = 16;                   // labels scored first
  static constexpr std::size_t kMaxBest = TopK::kMaxInOrder;  // larger k: bounds prune too little

  struct Candidate {
    std::uint32_t label;
    float bound;  // upper bound of its score
  };

  // For an output layer above a hidden layer, over `features` features.
  CandidateRescorer(const Layer& output, std::size_t features) : exact_(output, features) {}

  struct Scratch {
    SampleScores::Scratch exact;
    std::vector<std::uint32_t> ids, votes;
    std::vector<float> scores;
  };
  Scratch make_scratch() const { return {exact_.make_scratch(), {}, {}, {}}; }

  // The three methods below pass exact scores of sample s of block b to batch.best and batch.votes. Call them
  // in this order.
  //
  // Scores the labels with the largest votes, which are likely to be among the top k.
  void score_first_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;
  // Scores the candidates that can still be among the top k and clears `candidates`; returns the number of
  // scored labels. Each label occurs once.
  std::size_t score(std::vector<Candidate>& candidates, std::uint32_t b, std::size_t s,
                    PredictionBatch& batch, Scratch& scratch) const;
  // Scores the labels that can still be among the top k because of their votes. Precondition: labels without
  // a score so far are not among the top k by score alone.
  void score_last_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

 private:
  void score_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const;

  SampleScores exact_;
};

}  // namespace slide
