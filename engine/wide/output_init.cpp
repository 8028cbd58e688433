#include "engine/wide/output_init.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/statistics/label_sums.h"
#include "engine/wide/cholesky.h"

namespace slide {

namespace {

constexpr std::size_t kBlocks = 4, kSamples = 128;  // blocks and samples per block used for the fit
constexpr std::size_t kParts = 64;                  // tasks over the pairs
constexpr std::size_t kDrawn = 1024;                // uniform labels besides the labels of a block
constexpr std::size_t kMinEvidence = 32;            // min samples that share a label with another sample

// A (sample, label) pair; equal pairs are merged, with their total weight.
struct Pair {
  double similarity;  // of the sample and the label's other samples: <s, x> / |s|
  double odds;        // log-odds of the label
  double weight;
  bool positive;
};

void sort_distinct(std::vector<std::uint32_t>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

// `count` ids below `bound`, drawn with replacement; ascending, without duplicates.
std::vector<std::uint32_t> draw(std::size_t count, std::size_t bound, Rng& rng) {
  std::vector<std::uint32_t> drawn;
  for (std::size_t i = 0; i < count; ++i) drawn.push_back(rng.below(static_cast<std::uint32_t>(bound)));
  sort_distinct(drawn);
  return drawn;
}

// A few training samples, scaled as the network takes them.
struct SampleBlock {
  std::vector<std::uint32_t> samples;
  std::vector<std::uint32_t> labels;       // labels of any of the samples
  std::vector<std::vector<float>> values;  // of scaled rows
  std::vector<SparseRow> rows;
  std::size_t evidence = 0;  // samples that share a label with another sample or a label text
};

// Samples up to kSamples training samples with their labels. A sample is evidence if one of its labels has
// another sample, so that its similarity to the label says something.
SampleBlock draw_block(const Dataset& train, const LabelSums& sums, const FeatureScale& scale, Rng& rng) {
  SampleBlock block;
  block.samples = draw(kSamples, train.samples(), rng);
  block.values.resize(block.samples.size());
  const auto is_evidence = [&](std::uint32_t label) { return sums.samples(label).size() > 1; };
  for (std::size_t s = 0; s < block.samples.size(); ++s) {
    const auto own = train.labels(block.samples[s]);
    block.labels.insert(block.labels.end(), own.begin(), own.end());
    block.rows.push_back(scale.scaled(train.features(block.samples[s]), block.values[s]));
    block.evidence += std::any_of(own.begin(), own.end(), is_evidence) ? 1 : 0;
  }
  sort_distinct(block.labels);
  return block;
}

// Similarity of a sample to the other samples of a label, by their sum.
class SumSimilarity {
 public:
  explicit SumSimilarity(const LabelSums& sums) : sums_(sums), sum_(sums.make_sum()) {}
  void take(std::uint32_t label) {
    label_ = label;
    sums_.add_up(label, sum_);
  }
  double of_own(const SparseRow& row) const {
    return similarity_to_others(row, sum_, sums_.samples(label_).size());
  }
  double of_other(const SparseRow& row) const {
    const double product = dot(row, sum_.values);
    return product == 0.0 ? 0.0 : product / std::sqrt(sum_.square);
  }

 private:
  const LabelSums& sums_;
  LabelSums::Sum sum_;
  std::uint32_t label_ = 0;
};

// Similarity of a user (sample) to an item (label), by item weights.
class ItemSimilarity {
 public:
  explicit ItemSimilarity(const ItemWeights& items) : items_(items) {}
  void take(std::uint32_t label) { label_ = label; }
  double of_own(const SparseRow& row) const { return items_.product(label_, row); }
  double of_other(const SparseRow& row) const { return items_.product(label_, row); }

 private:
  const ItemWeights& items_;
  std::uint32_t label_ = 0;
};

// The pairs of the block's samples with the block's labels and with uniform labels; a uniform label stands
// for several of the sample's `negatives`.
template <class Similarity>
std::vector<Pair> pairs_of_block(const Dataset& train, std::span<const std::uint32_t> frequencies,
                                 Similarity similarity, const SampleBlock& block, double negatives,
                                 Rng& rng) {
  const std::size_t drawn = std::min(kDrawn, frequencies.size());
  const double weight_of_drawn = std::min(negatives, double(frequencies.size())) / double(drawn);
  std::vector<std::uint32_t> labels = draw(drawn, frequencies.size(), rng);
  labels.insert(labels.end(), block.labels.begin(), block.labels.end());
  sort_distinct(labels);
  std::vector<Pair> pairs;
  for (const std::uint32_t label : labels) {
    similarity.take(label);
    const double odds = log_odds(frequencies[label], train.samples());
    const double weight = std::ranges::binary_search(block.labels, label) ? 1.0 : weight_of_drawn;
    double dissimilar = 0.0;  // weight of the samples that share no feature with the label
    for (std::size_t s = 0; s < block.samples.size(); ++s) {
      if (std::ranges::binary_search(train.labels(block.samples[s]), label)) {
        pairs.push_back({similarity.of_own(block.rows[s]), odds, 1.0, true});
      } else if (const double other = similarity.of_other(block.rows[s]); other == 0.0) {
        dissimilar += weight;
      } else {
        pairs.push_back({other, odds, weight, false});
      }
    }
    if (dissimilar > 0.0) pairs.push_back({0.0, odds, dissimilar, false});
  }
  return pairs;
}

constexpr std::size_t kTerms = 3;          // scale, prior, offset
using Terms = std::array<double, kTerms>;  // the model, or one value for each of its parameters
using IsFree = std::array<bool, kTerms>;   // by parameter: whether the fit may change it
constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Loss of the pairs under a model, with gradient and Hessian.
struct Objective {
  double loss = 0.0;
  Terms gradient{};
  std::array<double, kTerms * kTerms> hessian{};  // lower half, by rows
};

// Weighted logistic loss with its derivatives, at z = model . (similarity, log-odds, 1):
// log(1 + e^z), less z for positive pairs, without overflow.
Objective objective_of(const Terms& model, std::span<const Pair> pairs) {
  Objective sum;
  for (const Pair& pair : pairs) {
    const Terms input{pair.similarity, pair.odds, 1.0};
    const double z = model[0] * input[0] + model[1] * input[1] + model[2];
    const double e = std::exp(-std::fabs(z));
    const double p = z >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
    sum.loss += pair.weight * (std::log(1.0 + e) + std::max(z, 0.0) - (pair.positive ? z : 0.0));
    const double first = pair.weight * (p - (pair.positive ? 1.0 : 0.0)),
                 second = pair.weight * p * (1.0 - p);
    for (std::size_t i = 0; i < kTerms; ++i) {
      sum.gradient[i] += first * input[i];
      for (std::size_t j = 0; j <= i; ++j) sum.hessian[i * kTerms + j] += second * input[i] * input[j];
    }
  }
  return sum;
}

// The pairs and the number of threads to evaluate them.
struct Fit {
  std::span<const Pair> pairs;
  int threads;

  // Objective with a small ridge penalty, which keeps the model finite for separable pairs.
  Objective objective_at(const Terms& model) const {
    constexpr Terms kPenalty{0.01, 1.0, 0.01};
    Objective sum;
    for (std::size_t i = 0; i < kTerms; ++i) {
      sum.loss += 0.5 * kPenalty[i] * model[i] * model[i];
      sum.gradient[i] = kPenalty[i] * model[i];
      sum.hessian[i * kTerms + i] = kPenalty[i];
    }
    std::array<Objective, kParts> parts;  // summed in order: independent of threads
    parallel_for(kParts, threads, [&](std::size_t p, int) {
      const std::size_t first = pairs.size() * p / kParts, end = pairs.size() * (p + 1) / kParts;
      parts[p] = objective_of(model, pairs.subspan(first, end - first));
    });
    for (const Objective& part : parts) {
      sum.loss += part.loss;
      for (std::size_t i = 0; i < sum.gradient.size(); ++i) sum.gradient[i] += part.gradient[i];
      for (std::size_t i = 0; i < sum.hessian.size(); ++i) sum.hessian[i] += part.hessian[i];
    }
    return sum;
  }
};

// Solves Hessian * step = gradient for the free parameters; the steps of the others are 0, because their rows
// and columns of the Hessian become those of the identity.
Terms newton_step(const Objective& at, const IsFree& free) {
  std::array<double, kTerms* kTerms> hessian = at.hessian;
  Terms step = at.gradient;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (free[i]) continue;
    step[i] = 0.0;
    for (std::size_t j = 0; j < kTerms; ++j)
      hessian[std::max(i, j) * kTerms + std::min(i, j)] = i == j ? 1.0 : 0.0;
  }
  solve_by_cholesky(kTerms, hessian.data(), step.data());
  return step;
}

// Newton's method with step halving, from `model`.
Terms minimise(const Fit& fit, Terms model, const IsFree& free) {
  constexpr int kMaxSteps = 50;
  constexpr double kMinStep = 1e-6;  // share of a Newton step
  constexpr double kMinGain = 1e-7;  // of the loss by a step, relative
  Objective objective = fit.objective_at(model);
  for (int i = 0; i < kMaxSteps; ++i) {
    const Terms step = newton_step(objective, free);
    const double loss_before = objective.loss;
    for (double share = 1.0; share > kMinStep; share /= 2) {
      Terms next = model;
      for (std::size_t t = 0; t < kTerms; ++t) next[t] -= share * step[t];
      const Objective next_objective = fit.objective_at(next);
      if (!(next_objective.loss <= loss_before)) continue;
      model = next;
      objective = next_objective;
      break;
    }
    if (loss_before - objective.loss <= kMinGain * loss_before) break;
  }
  return model;
}

// Minimises with bounds: scale >= 0, prior in [0, 1]. A parameter beyond its bound is fixed there, and the
// others are fitted again, from 0.
Terms minimise_bounded(const Fit& fit) {
  constexpr Terms kMin{0.0, 0.0, -kNoBound}, kMax{kNoBound, 1.0, kNoBound};
  IsFree free{true, true, true};
  for (Terms model{};;) {
    model = minimise(fit, model, free);
    std::size_t i = 0;
    while (i < model.size() && kMin[i] <= model[i] && model[i] <= kMax[i]) ++i;
    if (i == model.size()) return model;
    model[i] = std::clamp(model[i], kMin[i], kMax[i]);
    free[i] = false;
    for (std::size_t j = 0; j < model.size(); ++j)
      if (free[j]) model[j] = 0.0;
  }
}

}  // namespace

// Collects weighted (sample, label) pairs from kBlocks blocks of samples, then fits the three parameters to
// them.
std::optional<OutputInit> fit_output_init(const Dataset& train,
                                          std::span<const std::uint32_t> label_frequencies,
                                          const FeatureScale& scale, double negatives, std::uint64_t seed,
                                          int threads, const ItemWeights* items) {
  const LabelSums sums(train, label_frequencies.size(), scale);
  std::array<std::vector<Pair>, kBlocks> pairs_of;  // by block of samples
  std::array<std::size_t, kBlocks> evidence{};
  parallel_for(kBlocks, threads, [&](std::size_t b, int) {
    const auto sample_pairs = [&](auto similarity) {
      Rng rng(seed, Purpose::kStart, b);
      const SampleBlock block = draw_block(train, sums, scale, rng);
      evidence[b] = block.evidence;
      pairs_of[b] = pairs_of_block(train, label_frequencies, std::move(similarity), block, negatives, rng);
    };
    items != nullptr ? sample_pairs(ItemSimilarity(*items)) : sample_pairs(SumSimilarity(sums));
  });
  std::size_t all_evidence = 0, all_pairs = 0;
  for (std::size_t b = 0; b < kBlocks; ++b) all_evidence += evidence[b], all_pairs += pairs_of[b].size();
  std::vector<Pair> pairs;
  pairs.reserve(all_pairs);
  request_large_pages(pairs.data(), all_pairs * sizeof(Pair));
  for (std::size_t b = 0; b < kBlocks; ++b) {
    pairs.insert(pairs.end(), pairs_of[b].begin(), pairs_of[b].end());
  }
  if (all_evidence < kMinEvidence) return std::nullopt;
  const Terms model = minimise_bounded({pairs, threads});
  return OutputInit{model[0], model[1], model[2]};
}

}  // namespace slide
