#include "engine/inference/candidate_rescorer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace slide {

// Scores the labels of the votes listed in scratch.votes.
void CandidateRescorer::score_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch,
                                    Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  const auto all = batch.votes->of(sample);
  const std::vector<std::uint32_t>& votes = scratch.votes;
  scratch.ids.clear();
  for (const std::uint32_t v : votes) scratch.ids.push_back(all[v].label);
  scratch.scores.resize(std::max(scratch.scores.size(), votes.size()));
  exact_.begin(batch.inputs[b], s, batch.single_features(b, s), scratch.exact);
  exact_.score(scratch.ids, batch.output_scratch(), scratch.exact, scratch.scores.data());
  exact_.end(scratch.exact);
  for (std::size_t i = 0; i < votes.size(); ++i) {
    batch.votes->set_score(sample, votes[i], scratch.scores[i]);
    batch.best[sample].offer(scratch.ids[i], scratch.scores[i]);
  }
}

// Scores the labels of the kFirst or k largest votes.
void CandidateRescorer::score_first_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch,
                                          Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  const auto all = batch.votes->of(sample);
  if (all.empty()) return;
  std::vector<std::uint32_t>& votes = scratch.votes;
  votes.resize(all.size());
  std::iota(votes.begin(), votes.end(), 0U);
  const std::size_t first = std::max(kFirst, batch.k);
  if (votes.size() > first) {
    std::ranges::nth_element(votes, votes.begin() + static_cast<std::ptrdiff_t>(first), std::greater<>(),
                             [&](std::uint32_t v) { return all[v].weight; });
    votes.resize(first);
  }
  score_votes(b, s, batch, scratch);
}

// A label without a score so far scores below the top k, so that threshold and vote bound its mixed
// probability.
void CandidateRescorer::score_last_votes(std::uint32_t b, std::size_t s, PredictionBatch& batch,
                                         Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  const auto all = batch.votes->of(sample);
  if (all.size() <= kFirst) return;
  const TopK& best = batch.best[sample];
  const double min_score = batch.votes->min_mixed(sample, best);
  std::vector<std::uint32_t>& votes = scratch.votes;
  votes.clear();
  for (std::uint32_t v = 0; v < all.size(); ++v) {
    const bool known = !std::isinf(batch.votes->score(sample, v));
    if (!known && batch.votes->max_mixed(sample, v, best.threshold()) >= min_score) votes.push_back(v);
  }
  score_votes(b, s, batch, scratch);
}

// Scores kFirst candidates at a time, those of the highest bounds first; their scores raise the threshold,
// which excludes most of the others. Labels that a vote has given a score already are left out.
std::size_t CandidateRescorer::score(std::vector<Candidate>& candidates, std::uint32_t b, std::size_t s,
                                     PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  TopK& best = batch.best[sample];
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.bound < best.threshold(); });
  if (candidates.size() > kFirst)
    std::ranges::nth_element(candidates, candidates.begin() + kFirst, std::greater<>(), &Candidate::bound);
  const auto votes = batch.votes ? batch.votes->of(sample) : std::span<const KnnVotes::Vote>();
  // Index of the label's vote, or votes.size() without one.
  const auto vote_of = [&](std::uint32_t label) {
    const auto at = std::ranges::lower_bound(votes, label, {}, &KnnVotes::Vote::label);
    const bool is_voted = at != votes.end() && at->label == label;
    return is_voted ? static_cast<std::size_t>(at - votes.begin()) : votes.size();
  };
  const auto is_known = [&](std::uint32_t label) {
    const std::size_t v = vote_of(label);
    return v < votes.size() && !std::isinf(batch.votes->score(sample, v));
  };
  std::size_t scored = 0;
  scratch.scores.resize(std::max(scratch.scores.size(), kFirst));
  exact_.begin(batch.inputs[b], s, batch.single_features(b, s), scratch.exact);
  for (auto candidate = candidates.cbegin(); candidate != candidates.cend();) {
    scratch.ids.clear();
    for (; candidate != candidates.cend() && scratch.ids.size() < kFirst; ++candidate) {
      if (candidate->bound >= best.threshold() && !is_known(candidate->label))
        scratch.ids.push_back(candidate->label);
    }
    if (scratch.ids.empty()) break;
    exact_.score(scratch.ids, batch.output_scratch(), scratch.exact, scratch.scores.data());
    for (std::size_t i = 0; i < scratch.ids.size(); ++i) {
      best.offer(scratch.ids[i], scratch.scores[i]);
      if (const std::size_t v = vote_of(scratch.ids[i]); v < votes.size())
        batch.votes->set_score(sample, v, scratch.scores[i]);
    }
    scored += scratch.ids.size();
  }
  exact_.end(scratch.exact);
  candidates.clear();
  return scored;
}

}  // namespace slide
