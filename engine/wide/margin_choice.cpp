#include "engine/wide/margin_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/network/loss.h"
#include "engine/statistics/label_sums.h"

namespace slide {

namespace {

constexpr std::uint32_t kFirstProbes = 256, kProbes = 1024;  // samples that are predicted
constexpr double kClear = 3.0;                               // standard errors
constexpr std::size_t kTaskLabels = 256;                     // labels of one task
constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max(), kNotDrawn = kNoLabel;

// The samples that are predicted, scaled as the network takes them, and their features as posting lists.
struct Probes {
  std::vector<std::uint32_t> samples;      // ascending
  std::vector<std::uint32_t> probe_of;     // by training sample; kNotDrawn: not predicted
  std::vector<std::vector<float>> values;  // of scaled rows
  std::vector<SparseRow> rows;
  std::vector<std::uint32_t> offsets;  // posting list of feature f: [offsets[f], offsets[f + 1])
  std::vector<std::pair<std::uint32_t, float>> posted;

  std::span<const std::pair<std::uint32_t, float>> with(std::uint32_t feature) const {
    return std::span(posted).subspan(offsets[feature], offsets[feature + 1] - offsets[feature]);
  }
};

// Samples `wanted` training samples, drops duplicates and samples without a label, and builds posting lists
// of the others. Takes all samples of a data set of at most kProbes.
Probes draw_probes(const Dataset& train, const FeatureScale& scale, std::uint32_t wanted,
                   std::uint64_t seed) {
  Probes probes;
  Rng rng(seed, Purpose::kStart, kProbes);
  const auto all = static_cast<std::uint32_t>(train.samples());
  for (std::uint32_t i = 0; i < (all <= kProbes ? all : wanted); ++i) {
    const std::uint32_t sample = all <= kProbes ? i : rng.below(all);
    if (!train.labels(sample).empty()) probes.samples.push_back(sample);
  }
  std::sort(probes.samples.begin(), probes.samples.end());
  probes.samples.erase(std::unique(probes.samples.begin(), probes.samples.end()), probes.samples.end());
  probes.probe_of.assign(train.size(), kNotDrawn);
  probes.values.resize(probes.samples.size());
  probes.offsets.assign(train.feature_count() + 1, 0);
  for (std::uint32_t p = 0; p < probes.samples.size(); ++p) {
    probes.probe_of[probes.samples[p]] = p;
    probes.rows.push_back(scale.scaled(train.features(probes.samples[p]), probes.values[p]));
    for (const std::uint32_t id : probes.rows.back().ids) ++probes.offsets[id + 1];
  }
  for (std::size_t f = 1; f < probes.offsets.size(); ++f) probes.offsets[f] += probes.offsets[f - 1];
  probes.posted.resize(probes.offsets.back());
  std::vector<std::uint32_t> next(probes.offsets.begin(), probes.offsets.end() - 1);
  for (std::uint32_t p = 0; p < probes.samples.size(); ++p) {
    const SparseRow& row = probes.rows[p];
    for (std::size_t i = 0; i < row.ids.size(); ++i) probes.posted[next[row.ids[i]]++] = {p, row.values[i]};
  }
  return probes;
}

// The label of highest score so far.
struct Best {
  double score = -std::numeric_limits<double>::infinity();
  std::uint32_t label = kNoLabel;

  // Equal scores go to the lower label, in any order of offers.
  void offer(double other, std::uint32_t id) {
    if (other > score || (other == score && id < label)) score = other, label = id;
  }
};

// The best label of each probe by the sums of labels; memory of one thread.
class BestBySums {
 public:
  BestBySums(const LabelSums& sums, const Probes& probes, const OutputInit& init)
      : sums_(sums),
        probes_(probes),
        init_(init),
        sum_(sums.make_sum()),
        product_(probes.samples.size()),
        best_(probes.samples.size()) {}

  // Offers `label` to each probe x that shares a feature with s_l, with score = scale * <s_l, x> / |s_l| +
  // prior * odds; to its own samples with s_l without themselves. `odds`: log-odds of the label.
  void take(std::uint32_t label, double odds) {
    sums_.add_up(label, sum_);
    if (sum_.square <= 0.0) return;
    for (const std::uint32_t id : sum_.ids) {
      const double weight = sum_.values[id];
      for (const auto& [probe, value] : probes_.with(id)) product_[probe] += weight * value;
    }
    for (const std::uint32_t sample : sums_.samples(label)) offer_own(sample, label, odds);
    const double scale = init_.scale / std::sqrt(sum_.square), offset = init_.prior * odds;
    for (std::uint32_t probe = 0; probe < product_.size(); ++probe) {
      const double product = std::exchange(product_[probe], 0.0);
      if (product != 0.0) best_[probe].offer(scale * product + offset, label);
    }
  }
  const std::vector<Best>& best() const { return best_; }

 private:
  // A sample of the label is compared with the label's other samples.
  void offer_own(std::uint32_t sample, std::uint32_t label, double odds) {
    const std::uint32_t probe = probes_.probe_of[sample];
    if (probe == kNotDrawn) return;
    product_[probe] = 0.0;
    const double similarity = similarity_to_others(probes_.rows[probe], sum_, sums_.samples(label).size());
    best_[probe].offer(init_.scale * similarity + init_.prior * odds, label);
  }

  const LabelSums& sums_;
  const Probes& probes_;
  const OutputInit& init_;
  LabelSums::Sum sum_;
  std::vector<double> product_;  // by probe, 0 between labels
  std::vector<Best> best_;       // by probe
};

// For each probe, 1 where its best label is one of its own labels.
using Hits = std::vector<std::uint8_t>;

// Predicts each probe by the fitted initialisation (output_init.h), without its offset, which is the same
// for all labels. Threads share the labels; each keeps its own best labels.
Hits hits_by_sums(const Dataset& train, std::span<const std::uint32_t> frequencies, const LabelSums& sums,
                  const OutputInit& init, const Probes& probes, int threads) {
  std::vector<BestBySums> of_thread;
  for (int t = 0; t < threads; ++t) of_thread.emplace_back(sums, probes, init);
  parallel_for((frequencies.size() + kTaskLabels - 1) / kTaskLabels, threads,
               [&](std::size_t task, int thread) {
                 const std::size_t end = std::min(frequencies.size(), (task + 1) * kTaskLabels);
                 for (std::size_t l = task * kTaskLabels; l < end; ++l)
                   of_thread[static_cast<std::size_t>(thread)].take(
                       static_cast<std::uint32_t>(l), log_odds(frequencies[l], train.samples()));
               });
  const auto most_frequent = std::ranges::max_element(frequencies);
  Hits hit(probes.samples.size());
  for (std::size_t p = 0; p < probes.samples.size(); ++p) {
    Best best;  // begins with the most frequent label, the best of those without a feature of the sample
    best.offer(init.prior * log_odds(*most_frequent, train.samples()),
               static_cast<std::uint32_t>(most_frequent - frequencies.begin()));
    for (const BestBySums& one : of_thread) best.offer(one.best()[p].score, one.best()[p].label);
    hit[p] = std::ranges::binary_search(train.labels(probes.samples[p]), best.label) ? 1 : 0;
  }
  return hit;
}

// The features of a training sample that the neighbours store.
std::vector<std::uint32_t> stored_features(const SparseRow& row) {
  std::vector<std::uint32_t> features;
  for (std::size_t i = 0; i < row.ids.size(); ++i)
    if (std::fabs(row.values[i]) >= Neighbours::kMinValue) features.push_back(row.ids[i]);
  return features;
}

// The kNN prediction for a training sample: the label with the largest sum of similarity^power over the most
// similar samples. The sample itself, which is the first with the same labels and features, does not count.
std::uint32_t voted(const SparseRow& row, std::span<const std::uint32_t> own_labels,
                    const NeighbourConfig& config, const Neighbours& neighbours,
                    Neighbours::Scratch& scratch) {
  neighbours.find(row, scratch);
  const Neighbours::Storage& stored = neighbours.storage();
  const std::vector<std::uint32_t> own_features = stored_features(row);
  std::map<std::uint32_t, double> votes;
  bool skipped_itself = false;
  std::size_t count = 0;
  for (const auto& [similarity, sample] : scratch.similarity) {
    if (!skipped_itself && std::ranges::equal(stored.labels_of(sample), own_labels) &&
        std::ranges::equal(stored.features_of(sample), own_features)) {
      skipped_itself = true;
      continue;
    }
    if (count++ == config.count) break;
    for (const std::uint32_t label : stored.labels_of(sample))
      votes[label] += std::pow(double(similarity), config.power);
  }
  Best best;
  for (const auto& [label, weight] : votes) best.offer(weight, label);
  return best.label;
}

// Predicts each probe by kNN, without the probe itself.
Hits hits_by_neighbours(const Dataset& train, const NeighbourConfig& config, const Neighbours& neighbours,
                        const Probes& probes, int threads) {
  std::vector<Neighbours::Scratch> scratch;
  for (int t = 0; t < threads; ++t) scratch.push_back(neighbours.make_scratch());
  Hits hit(probes.samples.size());
  parallel_for(probes.samples.size(), threads, [&](std::size_t p, int thread) {
    const std::uint32_t sample = probes.samples[p];
    const std::uint32_t label = voted(probes.rows[p], train.labels(sample), config, neighbours,
                                      scratch[static_cast<std::size_t>(thread)]);
    hit[p] = std::ranges::binary_search(train.labels(sample), label) ? 1 : 0;
  });
  return hit;
}

// Both precisions, and whether it is clear on which side of kRatio they are: whether the sum of the paired
// differences exceeds kClear times its standard error, sqrt(squares - sum^2 / count).
struct Comparison {
  Comparison(const Hits& by_sums, const Hits& by_neighbours) {
    const auto count = double(by_sums.size());
    evidence = {by_sums.size(), double(std::ranges::count(by_sums, 1)) / count,
                double(std::ranges::count(by_neighbours, 1)) / count};
    double sum = 0.0, squares = 0.0;  // of the differences by sample
    for (std::size_t p = 0; p < by_sums.size(); ++p) {
      const double difference = by_sums[p] - MarginEvidence::kRatio * by_neighbours[p];
      sum += difference, squares += difference * difference;
    }
    is_clear = sum * sum > kClear * kClear * (squares - sum * sum / count);
  }

  MarginEvidence evidence;
  bool is_clear = false;
};

}  // namespace

// Compares the two predictors on few samples first, and on more where the result is not clear.
MarginEvidence margin_evidence(const Dataset& train, std::span<const std::uint32_t> label_frequencies,
                               const FeatureScale& scale, const OutputInit& init,
                               const NeighbourConfig& config, const Neighbours& neighbours,
                               std::uint64_t seed, int threads) {
  if (neighbours.dense() || label_frequencies.empty()) return {};
  const LabelSums sums(train, label_frequencies.size(), scale);
  MarginEvidence found;
  for (const std::uint32_t wanted : {kFirstProbes, kProbes}) {
    const Probes probes = draw_probes(train, scale, wanted, seed);
    if (probes.samples.empty()) continue;
    const Comparison compared(hits_by_sums(train, label_frequencies, sums, init, probes, threads),
                              hits_by_neighbours(train, config, neighbours, probes, threads));
    found = compared.evidence;
    if (compared.is_clear || train.samples() <= kProbes) break;
  }
  return found;
}

}  // namespace slide
