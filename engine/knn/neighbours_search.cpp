// kNN search and vote.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "engine/base/prefetch.h"
#include "engine/kernels/bf16.h"
#include "engine/knn/neighbours.h"
#include "engine/statistics/top_bound.h"

namespace slide {

using kernels::from_bf16;

namespace {

float as_float(std::uint16_t bf16) {
  return from_bf16(bf16);
}
float as_float(std::int8_t q) {
  return static_cast<float>(q);
}

// sum of x[ids[i]] * values[i]; four independent sums hide the latency of additions
template <class Value>
float dot_of(const float* x, const std::uint32_t* ids, const Value* values, std::size_t count) {
  float sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += x[ids[i + j]] * as_float(values[i + j]);
  }
  for (; i < count; ++i) sums[0] += x[ids[i]] * as_float(values[i]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

// Computes the query's entries from the row; returns false where all values are 0.
bool Neighbours::make_entries(const SparseRow& row, Scratch& scratch) const {
  double square = 0.0;
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    const double value = double(row.values[i]) * factor_of(row.ids[i]);
    square += value * value;
  }
  scratch.entries.clear();
  if (square == 0) return false;
  const double scale = 1.0 / std::sqrt(square);
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    const float factor = factor_of(row.ids[i]);
    const auto value = static_cast<float>(scale * row.values[i] * factor);
    scratch.entries.push_back({row.ids[i], value, value * factor});
  }
  return true;
}

// Selects the entries whose postings are read, greedily by falling value^2 / sqrt(postings): at most
// kPostings postings in all, each entry's list whole.
void Neighbours::select_postings(Scratch& scratch) const {
  auto& by_weight = scratch.by_weight;
  by_weight.clear();
  for (std::size_t i = 0; i < scratch.entries.size(); ++i) {
    const auto [feature, value, product] = scratch.entries[i];
    const std::uint64_t samples = count(feature);
    if (std::fabs(value) < kMinValue || samples == 0 || samples > kPostings) continue;
    by_weight.emplace_back(value * value / std::sqrt(static_cast<float>(samples)),
                           static_cast<std::uint32_t>(i));
  }
  std::sort(by_weight.begin(), by_weight.end(), std::greater<>());
  std::size_t budget = kPostings, selected = 0;
  for (const auto& candidate : by_weight) {
    const std::uint64_t samples = count(scratch.entries[candidate.second].feature);
    if (samples > budget) continue;
    budget -= samples;
    by_weight[selected++] = candidate;
  }
  by_weight.resize(selected);
}

// Adds |q[f] x[f]| over the selected features f to the partial score of each sample that has them, without
// the sample's norm; returns the number of touched samples.
std::size_t Neighbours::add_partial_scores(Scratch& scratch) const {
  for (const auto& [weight, i] : scratch.by_weight) {
    const std::uint64_t first = offsets_[scratch.entries[i].feature];
    prefetch(&posted_[first]);
    posted_q_.empty() ? prefetch(&posted_values_[first]) : prefetch(&posted_q_[first]);
  }
  std::size_t touched = 0;
  const auto add_products = [&](const auto& value_at) {
    for (const auto& [weight, i] : scratch.by_weight) {
      const std::uint32_t f = scratch.entries[i].feature;
      const float factor = std::fabs(scratch.entries[i].product);
      for (std::uint64_t at = offsets_[f]; at < offsets_[f + 1]; ++at) {
        float& score = scratch.partial[posted_[at]];
        scratch.touched[touched] = posted_[at];  // branch-free: the branch is unpredictable
        touched += score == 0.0f ? 1 : 0;
        score += factor * std::fabs(value_at(at));
      }
    }
  };
  if (posted_q_.empty()) {
    add_products([&](std::uint64_t at) { return from_bf16(posted_values_[at]); });
  } else {
    const std::vector<std::int8_t>& exponents = storage_.small.exponents;
    add_products([&](std::uint64_t at) {
      return kernels::int8_factor(exponents[posted_[at]]) * static_cast<float>(posted_q_[at]);
    });
  }
  return touched;
}

// Keeps in `keys` the `limit` touched samples of largest partial score, or all if there are fewer; resets the
// scores.
void Neighbours::keep_largest(std::size_t limit, std::size_t touched, Scratch& scratch) const {
  std::vector<float>& scores = scratch.scores;
  scores.resize(touched);
  for (std::size_t t = 0; t < touched; ++t) {
    const std::uint32_t sample = scratch.touched[t];
    scores[t] = norms_.empty() ? scratch.partial[sample] : scratch.partial[sample] * norms_[sample];
    scratch.partial[sample] = 0.0f;
  }
  const float bound = top_bound<float>(limit, scores, std::greater<>(), 0.0f, scratch.largest);
  scratch.keys.resize(touched);
  std::size_t kept = 0;
  for (std::size_t t = 0; t < touched; ++t) {  // branch-free: the branch is unpredictable
    // Positive floats compare like their bits; ties go to the lower sample number.
    scratch.keys[kept] = std::uint64_t{std::bit_cast<std::uint32_t>(scores[t])} << 32 | ~scratch.touched[t];
    kept += scores[t] >= bound ? 1 : 0;
  }
  scratch.keys.resize(kept);
  if (kept <= limit) return;
  std::nth_element(scratch.keys.begin(), scratch.keys.begin() + static_cast<std::ptrdiff_t>(limit),
                   scratch.keys.end(), std::greater<>());
  scratch.keys.resize(limit);
}

// Dot product of a sample's values and `query`.
float Neighbours::dot_with(std::uint32_t sample, const float* query) const {
  const std::uint64_t at = storage_.feature_offsets[sample];
  const std::size_t count = storage_.feature_offsets[sample + 1] - at;
  const std::uint32_t* ids = storage_.features.data() + at;
  if (posted_q_.empty()) return dot_of(query, ids, storage_.values.data() + at, count);
  return kernels::int8_factor(storage_.small.exponents[sample]) *
         dot_of(query, ids, storage_.small.q.data() + at, count);
}

// Leaves in `similarity` the positive cosines between the query and the samples in `keys`, descending.
void Neighbours::rank_by_cosine(Scratch& scratch) const {
  const auto sample_of = [](std::uint64_t key) { return ~static_cast<std::uint32_t>(key); };
  for (const std::uint64_t key : scratch.keys) prefetch(&storage_.feature_offsets[sample_of(key)]);
  for (const std::uint64_t key : scratch.keys) {
    const std::uint64_t at = storage_.feature_offsets[sample_of(key)];
    prefetch(storage_.features.data() + at);
    prefetch(storage_.features.data() + at + 16);  // the next cache line
    posted_q_.empty() ? prefetch(storage_.values.data() + at) : prefetch(storage_.small.q.data() + at);
  }
  for (const Entry& entry : scratch.entries) scratch.query[entry.feature] = entry.product;
  scratch.similarity.clear();
  for (const std::uint64_t key : scratch.keys) {
    const std::uint32_t sample = sample_of(key);
    const float norm = norms_.empty() ? 1.0f : norms_[sample];
    const float dot = norm * dot_with(sample, scratch.query.data());
    if (dot > 0) scratch.similarity.emplace_back(std::min(1.0f, dot), sample);
  }
  for (const Entry& entry : scratch.entries) scratch.query[entry.feature] = 0.0f;
  const auto more_similar = [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  };
  std::sort(scratch.similarity.begin(), scratch.similarity.end(), more_similar);
}

// Candidates by partial scores over the selected postings, then exact cosines of the candidates.
void Neighbours::find(const SparseRow& row, Scratch& scratch) const {
  scratch.similarity.clear();
  if (!make_entries(row, scratch)) return;
  select_postings(scratch);
  keep_largest(candidates(), add_partial_scores(scratch), scratch);
  rank_by_cosine(scratch);
}

void Neighbours::vote(const SparseRow& row, Scratch& scratch, std::vector<Vote>& votes) const {
  find(row, scratch);
  if (!scratch.similarity.empty()) add_votes(scratch, votes);
}

void Neighbours::find_similar(const float* x, std::size_t ldx, std::size_t samples, Scratch& scratch) const {
  storage_.dense.find(x, ldx, samples, candidates(), scratch.dense);
}

void Neighbours::vote_dense(std::size_t sample, Scratch& scratch, std::vector<Vote>& votes) const {
  const auto nearest = storage_.dense.compare(sample, scratch.dense);
  scratch.similarity.assign(nearest.begin(), nearest.end());
  add_votes(scratch, votes);
}

// Votes of the config_.count nearest samples, added up by label: cos^power / sum (formula: vote()).
void Neighbours::add_votes(Scratch& scratch, std::vector<Vote>& votes) const {
  auto& nearest = scratch.similarity;
  nearest.resize(std::min<std::size_t>(nearest.size(), config_.count));
  double sum = std::pow(kPriorNeighbour, config_.power);
  std::size_t labels = 0;
  for (auto& [similarity, sample] : nearest) {
    similarity = static_cast<float>(std::pow(double(similarity), config_.power));
    sum += similarity;
    labels += storage_.labels_of(sample).size();
  }
  // Several neighbours often have the same label: a hash table by label (multiplicative hashing, linear
  // probing, at most half full) finds its vote.
  std::vector<std::uint32_t>& slots = scratch.vote_slots;
  slots.assign(std::bit_ceil(2 * labels + 1), 0);
  const std::size_t mask = slots.size() - 1, first = votes.size();
  for (const auto& [similarity, sample] : nearest) {
    const auto weight = static_cast<float>(similarity / sum);
    for (const std::uint32_t label : storage_.labels_of(sample)) {
      std::size_t slot = (label * 0x9e3779b9u >> 7) & mask;
      while (slots[slot] != 0 && votes[first + slots[slot] - 1].label != label) slot = (slot + 1) & mask;
      if (slots[slot] == 0) {
        votes.push_back({label, weight});
        slots[slot] = static_cast<std::uint32_t>(votes.size() - first);
      } else {
        float& total = votes[first + slots[slot] - 1].weight;
        total = std::min(1.0f, total + weight);
      }
    }
  }
  std::sort(votes.begin() + static_cast<std::ptrdiff_t>(first), votes.end(),
            [](const Vote& a, const Vote& b) { return a.label < b.label; });
}

}  // namespace slide
