// Mixes kNN votes with network scores for the samples of a prediction batch: collects the network's scores of
// voted labels as they are computed, then mixes probabilities.
//
// Not thread-safe. Memory is kept between batches and grows to the largest batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/probability.h"
#include "engine/inference/top_k.h"
#include "engine/knn/neighbours.h"
#include "engine/network/block.h"

namespace slide {

class KnnVotes {
 public:
  using Vote = Neighbours::Vote;

  // Starts an empty batch. `neighbours` must outlive this object. `loss` is the loss of the network whose
  // scores are mixed; `labels` is the range of its neurons. Votes for labels outside the range only scale the
  // probabilities of the others.
  KnnVotes(const Neighbours& neighbours, LossKind loss, Slice labels);
  // Starts the next batch.
  void clear();

  // Appends the samples of a block to the batch and computes their votes. The block's rows are loaded and not
  // yet passed through any layer; ids from `features` on (feature crosses) are ignored.
  void add_samples(const Block& block, std::size_t features);

  // Votes of sample i, ascending by label.
  std::span<const Vote> of(std::size_t i) const {
    return std::span(votes_).subspan(from_[i], from_[i + 1] - from_[i]);
  }

  // Takes the scores of sample i: z[c * lanes] is the score of neuron ids[c]. ids ascend within a call and
  // over consecutive calls for sample i.
  void take_scores(std::size_t i, std::span<const std::uint32_t> ids, const float* z, std::size_t lanes);
  // Sets the network's score of the label of(i)[v].
  void set_score(std::size_t i, std::size_t v, float score) { scores_[from_[i] + v] = score; }
  // The network's score of the label of(i)[v]; minus infinity before it is set.
  float score(std::size_t i, std::size_t v) const { return scores_[from_[i] + v]; }

  // Lower bound of the k-th best mixed probability of sample i, from the known scores of votes and from
  // `best`, the sample's top k by network scores; below 0 before k labels are known. Not for softmax.
  double min_mixed(std::size_t i, const TopK& best);
  // Upper bound of the mixed probability of the label of(i)[v], where the network's score is at most `score`.
  double max_mixed(std::size_t i, std::size_t v, float score) const {
    return mixed(0, score, votes_[from_[i] + v].weight).probability;
  }

  // Replaces `best`, the top k of sample i by network scores, by the top k of the mixed probabilities; a
  // sample without votes stays unchanged. Under softmax, `log_norm` is the logarithm of the sum of
  // exp(score); scores in `best` already have it subtracted, all others have not.
  void mix(std::size_t i, double log_norm, TopK& best);

 private:
  void end_sample();
  struct Mixed {
    double probability;
    float score;  // of the network
    std::uint32_t label;
  };
  static bool better(const Mixed& a, const Mixed& b);
  Mixed mixed(std::uint32_t label, double score, double vote) const;
  void mix_voted(std::size_t i, double log_norm);
  void split_others(std::span<const Prediction> best);
  void append(const Mixed& next, TopK& best) const;
  void append_tail(std::span<const Prediction> tail, TopK& best) const;

  const Neighbours* neighbours_;
  LossKind loss_;
  Slice labels_;
  LogOddsOfShare log_odds_;  // of the network's share
  Neighbours::Scratch scratch_;
  std::vector<Vote> votes_;
  std::vector<bool> has_votes_;       // of sample i: has votes, also for labels of other shards
  std::vector<std::size_t> from_{0};  // sample i has the votes [from_[i], from_[i + 1])
  std::vector<std::size_t> next_;     // of sample i: its first vote above all ids taken so far
  std::vector<float> scores_;         // of the votes' labels; minus infinity before they are set
  std::vector<bool> has_vote_;        // by label, of the sample being mixed; false between calls
  // Of the sample being mixed, best first: voted_, labels with votes; others_, labels of its top k without
  // votes; tail_, labels of its top k without votes whose order and log-odds follow from the logits alone.
  std::vector<Mixed> voted_, others_;
  std::vector<Prediction> tail_;
  std::vector<double> known_mixed_;  // mixed probabilities
};

}  // namespace slide
