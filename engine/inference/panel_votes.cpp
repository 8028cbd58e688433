#include "engine/inference/panel_votes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slide {

void PanelVotes::clear() {
  votes_.clear();
  from_.assign(1, 0);
  next_.clear();
  scores_.clear();
}

void PanelVotes::add_sample(const SparseRow& row) {
  next_.push_back(votes_.size());
  neighbours_->vote(row, scratch_, votes_);
  from_.push_back(votes_.size());
  scores_.resize(votes_.size(), -std::numeric_limits<float>::infinity());
}

void PanelVotes::take_scores(std::size_t i, std::span<const std::uint32_t> ids, const float* z,
                             std::size_t lanes) {
  auto at = ids.begin();
  for (std::size_t& v = next_[i]; v < from_[i + 1] && votes_[v].label <= ids.back(); ++v) {
    at = std::lower_bound(at, ids.end(), votes_[v].label);
    if (*at == votes_[v].label) scores_[v] = z[static_cast<std::size_t>(at - ids.begin()) * lanes];
  }
}

// Where probabilities are equal, as those close to 1 are, the network's scores decide.
bool PanelVotes::better(const Mixed& a, const Mixed& b) {
  if (a.probability != b.probability) return a.probability > b.probability;
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

PanelVotes::Mixed PanelVotes::mixed(LossKind loss, std::uint32_t label, double score, double vote) const {
  const double known = std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  const double p = probability_of(loss, known);
  const double mixed = neighbours_->mixed(std::isfinite(p) ? p : 0.0, vote);
  float mixed_score = 0.0f;
  if (vote != 0.0 || needs_log_softmax(loss) || !log_odds_.find(known, p, mixed_score))
    mixed_score = static_cast<float>(score_of(loss, mixed));
  return {mixed, static_cast<float>(known), mixed_score, label};
}

void PanelVotes::mix_voted(std::size_t i, LossKind loss, double log_norm) {
  voted_.clear();
  for (std::size_t v = from_[i]; v < from_[i + 1]; ++v)
    voted_.push_back(mixed(loss, votes_[v].label, scores_[v] - log_norm, votes_[v].weight));
  std::sort(voted_.begin(), voted_.end(), better);
}

void PanelVotes::mix_others(std::size_t i, LossKind loss, std::span<const Prediction> best) {
  for (const Vote& vote : of(i)) has_vote_[vote.label] = true;
  others_.clear();
  for (const Prediction& one : best) {
    if (!has_vote_[one.label]) others_.push_back(mixed(loss, one.label, one.score, 0.0));
  }
  for (const Vote& vote : of(i)) has_vote_[vote.label] = false;
  // They come in order of the scores; rounding may have put probabilities in another one.
  if (!std::is_sorted(others_.begin(), others_.end(), better))
    std::sort(others_.begin(), others_.end(), better);
}

void PanelVotes::mix(std::size_t i, LossKind loss, double log_norm, TopK& best) {
  if (of(i).empty()) return;
  mix_voted(i, loss, log_norm);
  mix_others(i, loss, best.best());
  best.clear();
  const std::size_t kept = std::min(best.k(), voted_.size() + others_.size());
  auto voted = voted_.cbegin(), other = others_.cbegin();
  for (std::size_t m = 0; m < kept; ++m) {
    const bool is_voted = other == others_.cend() || (voted != voted_.cend() && better(*voted, *other));
    const Mixed& next = is_voted ? *voted++ : *other++;
    best.append({next.label, next.mixed_score});
  }
}

}  // namespace slide
