// The votes of the neighbours for samples that are scored together: they take the network's scores of the
// labels voted for as these come, and mix the probabilities in the end.
//
// For one thread. Kept from batch to batch; it grows to what the largest needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/features/neighbours.h"
#include "engine/inference/probability.h"
#include "engine/inference/top_k.h"
#include "engine/network/block.h"

namespace slide {

class KnnVotes {
 public:
  using Vote = Neighbours::Vote;

  // Begins a batch without samples. `neighbours` must live on. `loss` is that of the network whose scores are
  // mixed, and whose neurons are `labels`: votes for others only make themselves felt by their share of the
  // probability.
  KnnVotes(const Neighbours& neighbours, LossKind loss, Slice labels);
  // Begins the next one.
  void clear();

  // Has the neighbours vote for the batch's next samples: those of a block that are put into it, but not yet
  // passed through any layer. Neighbours know the first `features` features, behind which pairs stand.
  void add_samples(const Block& block, std::size_t features);

  // Of sample i, labels ascending.
  std::span<const Vote> of(std::size_t i) const {
    return std::span(votes_).subspan(from_[i], from_[i + 1] - from_[i]);
  }

  // Takes the scores of sample i from z[c * lanes], the score of neuron ids[c]. ids ascend, within a call and
  // from one for sample i to the next.
  void take_scores(std::size_t i, std::span<const std::uint32_t> ids, const float* z, std::size_t lanes);
  // Sample i's scores come once more from the first on.
  void restart(std::size_t i) { next_[i] = from_[i]; }
  // Takes the score of the label of of(i)[v].
  void set_score(std::size_t i, std::size_t v, float score) { scores_[from_[i] + v] = score; }
  // The score of the label of of(i)[v]; minus infinity before it comes.
  float score(std::size_t i, std::size_t v) const { return scores_[from_[i] + v]; }

  // The least mixed probability that can be among the k best of sample i, as far as scores are known: those
  // of some votes and of `best`, its best by the network's scores; below 0 before there are k. Not under
  // softmax.
  double least_mixed(std::size_t i, const TopK& best);
  // What the label of of(i)[v] can reach at most, if the network's score is no better than `score`.
  double most_mixed(std::size_t i, std::size_t v, float score) const {
    return mixed(0, score, votes_[from_[i] + v].weight).probability;
  }

  // Puts in place of `best`, the k best of sample i by the network's scores, the k best of the mixed
  // probabilities; where nobody votes, it stays as it is. Under softmax the network's scores become
  // probabilities with `log_norm`, the logarithm of the sum of their exponentials, already taken off those in
  // `best`.
  void mix(std::size_t i, double log_norm, TopK& best);

 private:
  void end_sample();
  struct Mixed {
    double probability;
    float score;  // the network's
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
  std::vector<bool> has_votes_;       // of sample i: for labels of other processes, too
  std::vector<std::size_t> from_{0};  // sample i has the votes [from_[i], from_[i + 1])
  std::vector<std::size_t> next_;     // of sample i: the first whose label is above all ids taken
  std::vector<float> scores_;         // of the votes' labels; minus infinity before they come
  std::vector<bool> has_vote_;        // by label, of the sample that is mixed; false between calls
  // Of that sample, best first: labels voted for, others of its best, and those of its best whose order and
  // log-odds are known without their probabilities.
  std::vector<Mixed> voted_, others_;
  std::vector<Prediction> tail_;
  std::vector<double> known_;  // mixed probabilities
};

}  // namespace slide
