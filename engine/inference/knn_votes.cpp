#include "engine/inference/knn_votes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

KnnVotes::KnnVotes(const Neighbours& neighbours, LossKind loss, Slice labels)
    : neighbours_(&neighbours),
      loss_(loss),
      labels_(labels),
      log_odds_(neighbours.share_without_vote()),
      scratch_(neighbours.make_scratch()),
      has_vote_(labels.count) {}

void KnnVotes::clear() {
  votes_.clear();
  has_votes_.clear();
  from_.assign(1, 0);
  next_.clear();
  scores_.clear();
}

void KnnVotes::add_samples(const Block& block, std::size_t features) {
  const std::size_t samples = block.rows.size();
  const bool dense = neighbours_->dense();
  if (dense) neighbours_->find_similar(block.dense.x(), block.dense.ldx(), samples, scratch_);
  for (std::size_t s = 0; s < samples; ++s) {
    next_.push_back(votes_.size());
    if (dense) {
      neighbours_->vote_dense(s, scratch_, votes_);
    } else {
      neighbours_->vote(first_features(block.rows[s], features), scratch_, votes_);
    }
    end_sample();
  }
}

// Drops the last sample's votes for neurons outside the own range.
void KnnVotes::end_sample() {
  has_votes_.push_back(votes_.size() > from_.back());
  const auto first = votes_.begin() + static_cast<std::ptrdiff_t>(from_.back());
  votes_.erase(std::remove_if(first, votes_.end(),
                              [&](const Vote& vote) {
                                return vote.label < labels_.first || vote.label >= labels_.end();
                              }),
               votes_.end());
  for (auto vote = first; vote != votes_.end(); ++vote)
    vote->label -= static_cast<std::uint32_t>(labels_.first);
  from_.push_back(votes_.size());
  scores_.resize(votes_.size(), -std::numeric_limits<float>::infinity());
}

void KnnVotes::take_scores(std::size_t i, std::span<const std::uint32_t> ids, const float* z,
                           std::size_t lanes) {
  auto at = ids.begin();
  for (std::size_t& v = next_[i]; v < from_[i + 1] && votes_[v].label <= ids.back(); ++v) {
    at = std::lower_bound(at, ids.end(), votes_[v].label);
    if (*at == votes_[v].label) scores_[v] = z[static_cast<std::size_t>(at - ids.begin()) * lanes];
  }
}

// Equal probabilities (close to 1) are ordered by the network's scores.
bool KnnVotes::better(const Mixed& a, const Mixed& b) {
  if (a.probability != b.probability) return a.probability > b.probability;
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

// The mean of network probability and kNN vote (Neighbours::mixed()); a score of NaN counts as minus
// infinity.
KnnVotes::Mixed KnnVotes::mixed(std::uint32_t label, double score, double vote) const {
  const double known = std::isnan(score) ? -std::numeric_limits<double>::infinity() : score;
  const double probability = probability_of(loss_, known);
  return {neighbours_->mixed(std::isfinite(probability) ? probability : 0.0, vote), static_cast<float>(known),
          label};
}

double KnnVotes::min_mixed(std::size_t i, const TopK& best) {
  known_mixed_.clear();
  for (std::size_t v = from_[i]; v < from_[i + 1]; ++v) {
    if (std::isinf(scores_[v])) continue;
    known_mixed_.push_back(mixed(votes_[v].label, scores_[v], votes_[v].weight).probability);
  }
  for (const Prediction& one : best.best()) {
    if (!std::ranges::binary_search(of(i), one.label, {}, &Vote::label))
      known_mixed_.push_back(mixed(one.label, one.score, 0.0).probability);
  }
  if (known_mixed_.size() < best.k() || best.k() == 0) return -1.0;
  const auto kth = known_mixed_.begin() + static_cast<std::ptrdiff_t>(best.k()) - 1;
  std::nth_element(known_mixed_.begin(), kth, known_mixed_.end(), std::greater<>());
  return *kth;
}

// Sets voted_ to the mixed probabilities of the labels with votes, best first.
void KnnVotes::mix_voted(std::size_t i, double log_norm) {
  voted_.clear();
  for (std::size_t v = from_[i]; v < from_[i + 1]; ++v)
    voted_.push_back(mixed(votes_[v].label, scores_[v] - log_norm, votes_[v].weight));
  std::sort(voted_.begin(), voted_.end(), better);
}

// Divides the labels without votes, at logit kMaxLogit, into others_ and tail_. Above it, probabilities near
// 1 may round to another order; up to it, the order of logits is that of probabilities, and where these round
// to the same value, logits decide, as everywhere.
void KnnVotes::split_others(std::span<const Prediction> best) {
  const auto is_head = [&](const Prediction& one) {
    return is_normalised(loss_) || one.score > LogOddsOfShare::kMaxLogit;
  };
  const auto tail = std::partition_point(best.begin(), best.end(), is_head);
  tail_.assign(tail, best.end());
  others_.clear();
  for (auto one = best.begin(); one != tail; ++one) {
    if (!has_vote_[one->label]) others_.push_back(mixed(one->label, one->score, 0.0));
  }
  // Sorted by score; rounding may have changed the order of probabilities.
  if (!std::is_sorted(others_.begin(), others_.end(), better))
    std::sort(others_.begin(), others_.end(), better);
}

void KnnVotes::append(const Mixed& next, TopK& best) const {
  if (best.best().size() < best.k())
    best.append({next.label, static_cast<float>(score_of(loss_, next.probability))});
}

// Appends the labels of a range of tail_ that have no votes.
void KnnVotes::append_tail(std::span<const Prediction> part, TopK& best) const {
  constexpr std::size_t kAtOnce = 256;
  std::array<Prediction, kAtOnce> some;
  std::array<float, kAtOnce> probabilities;
  for (std::size_t at = 0; at < part.size() && best.best().size() < best.k();) {
    const std::size_t limit = std::min(kAtOnce, best.k() - best.best().size());
    std::size_t count = 0;
    for (; at < part.size() && count < limit; ++at) {
      some[count] = part[at];
      probabilities[count] = part[at].score;
      count += has_vote_[part[at].label] ? 0 : 1;
    }
    kernels::active().sigmoid(probabilities.data(), count);
    for (std::size_t n = 0; n < count; ++n) {
      auto [label, score] = some[n];
      if (score >= LogOddsOfShare::kMinLogit && log_odds_.find(score, probabilities[n], score)) {
        best.append({label, score});
      } else {
        append(mixed(label, some[n].score, 0.0), best);
      }
    }
  }
}

// Merges three lists, each best first, until there are k labels: voted_, others_, and tail_ behind all of
// others_. tail_ is in the order of its logits, so that a place in it is found by a binary search.
void KnnVotes::mix(std::size_t i, double log_norm, TopK& best) {
  if (!has_votes_[i]) return;
  for (const Vote& vote : of(i)) has_vote_[vote.label] = true;
  mix_voted(i, log_norm);
  split_others(best.best());
  best.clear();
  auto other = others_.cbegin();
  auto tail = tail_.cbegin();
  for (const Mixed& voted : voted_) {
    const auto before = [&](const Prediction& one) {
      return better(mixed(one.label, one.score, 0.0), voted);
    };
    for (; other != others_.cend() && better(*other, voted); ++other) append(*other, best);
    if (other == others_.cend()) {
      const auto end = std::partition_point(tail, tail_.cend(), before);
      append_tail({tail, end}, best);
      tail = end;
    }
    append(voted, best);
  }
  for (; other != others_.cend(); ++other) append(*other, best);
  append_tail({tail, tail_.cend()}, best);
  for (const Vote& vote : of(i)) has_vote_[vote.label] = false;
}

}  // namespace slide
