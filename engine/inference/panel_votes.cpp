#include "engine/inference/panel_votes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/inference/inference.h"

namespace slide {

void PanelVotes::clear() {
  votes_.clear();
  from_.assign(1, 0);
  next_.clear();
  scores_.clear();
}

void PanelVotes::ask(const SparseRow& row) {
  next_.push_back(votes_.size());
  neighbours_->vote(row, scratch_, votes_);
  from_.push_back(votes_.size());
  scores_.resize(votes_.size(), -std::numeric_limits<float>::infinity());
}

void PanelVotes::note(std::size_t i, std::span<const std::uint32_t> ids, const float* z, std::size_t lanes) {
  auto at = ids.begin();
  for (std::size_t& v = next_[i]; v < from_[i + 1] && votes_[v].label <= ids.back(); ++v) {
    at = std::lower_bound(at, ids.end(), votes_[v].label);
    if (*at == votes_[v].label) scores_[v] = z[static_cast<std::size_t>(at - ids.begin()) * lanes];
  }
}

void PanelVotes::mix(std::size_t i, LossKind loss, double log_norm, TopK& best) {
  const auto votes = of(i);
  if (votes.empty()) return;
  const auto has_vote = [&](std::uint32_t label) {
    const auto at = std::ranges::lower_bound(votes, label, {}, &Vote::label);
    return at != votes.end() && at->label == label;
  };
  mixed_.clear();
  const auto add = [&](std::uint32_t label, double score, double vote) {
    const double known = std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
    const double probability = probability_of(loss, known);
    mixed_.push_back({neighbours_->mixed(std::isfinite(probability) ? probability : 0.0, vote),
                      static_cast<float>(known), label});
  };
  for (const Prediction& one : best.best()) {
    if (!has_vote(one.label)) add(one.label, one.score, 0.0);
  }
  for (std::size_t v = 0; v < votes.size(); ++v)
    add(votes[v].label, scores_[from_[i] + v] - log_norm, votes[v].weight);
  // Where probabilities are equal, as those close to 1 are, the network's scores decide.
  const auto better = [](const Mixed& a, const Mixed& b) {
    if (a.probability != b.probability) return a.probability > b.probability;
    return a.score > b.score || (a.score == b.score && a.label < b.label);
  };
  const std::size_t kept = std::min(best.k(), mixed_.size());
  std::partial_sort(mixed_.begin(), mixed_.begin() + static_cast<std::ptrdiff_t>(kept), mixed_.end(), better);
  best.clear();
  for (std::size_t m = 0; m < kept; ++m)
    best.append({mixed_[m].label, static_cast<float>(score_of(loss, mixed_[m].probability))});
}

}  // namespace slide
