#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "engine/wide/linear_term.h"

namespace slide {

namespace {

// Weights of a neuron, by ascending feature.
struct Pattern {
  std::span<const std::uint32_t> features;
  std::span<const float> weights;
  std::size_t size() const { return features.size(); }
};

Pattern pattern_of(const LinearTerm::Storage& from, std::size_t neuron) {
  const std::uint64_t begin = from.offsets[neuron], count = from.offsets[neuron + 1] - begin;
  return {from.features.span().subspan(begin, count), from.weights.span().subspan(begin, count)};
}

// Builds the patterns of the larger linear term, neuron by neuron.
class PatternBuilder {
 public:
  // `features`: new id by previous feature. `sums`: AdaGrad accumulators by weight of `before`, or empty.
  PatternBuilder(const LinearTerm::Storage& before, std::span<const std::uint32_t> features,
                 std::span<const float> sums)
      : before_(before), features_(features), sums_(sums) {}

  // Appends a new neuron; accumulators are 0.
  void append(const Pattern& added) {
    for (std::size_t i = 0; i < added.size(); ++i) put(added.features[i], added.weights[i], 0.0f);
    offsets_.push_back(ids_.size());
  }

  // Appends previous neuron `was` with its weights, and up to `limit` features of `added` that it does not
  // have yet, with weights scaled by `share`: the largest |weight|, not 0.
  void append(std::size_t was, const Pattern& added, std::size_t limit, float share) {
    const Pattern kept = pattern_of(before_, was);
    const std::uint64_t at = before_.offsets[was];
    select_new(kept, added, limit);
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::uint32_t feature = features_[kept.features[i]];
      for (; next < new_.size() && added.features[new_[next]] < feature; ++next)
        put(added.features[new_[next]], share * added.weights[new_[next]], 0.0f);
      put(feature, kept.weights[i], sums_.empty() ? 0.0f : sums_[at + i]);
    }
    for (; next < new_.size(); ++next)
      put(added.features[new_[next]], share * added.weights[new_[next]], 0.0f);
    offsets_.push_back(ids_.size());
  }

  // Writes the result to `to`, and its accumulators, if there are some, to `sums`. Call it last.
  void finish(LinearTerm::Storage& to, AlignedArray<float>& sums) {
    to.offsets = std::move(offsets_);
    to.features = AlignedArray<std::uint32_t>(ids_.size());
    to.weights = AlignedArray<float>(ids_.size());
    std::ranges::copy(ids_, to.features.begin());
    std::ranges::copy(weights_, to.weights.begin());
    if (sums_.empty()) return;
    sums = AlignedArray<float>(ids_.size());
    std::ranges::copy(new_sums_, sums.begin());
  }

 private:
  void put(std::uint32_t feature, float weight, float sum) {
    ids_.push_back(feature);
    weights_.push_back(weight);
    if (!sums_.empty()) new_sums_.push_back(sum);
  }

  // Sets new_ to the indices in `added` of the features to add, ascending.
  void select_new(const Pattern& kept, const Pattern& added, std::size_t limit) {
    new_.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < added.size(); ++i) {
      while (k < kept.size() && features_[kept.features[k]] < added.features[i]) ++k;
      const bool is_kept = k < kept.size() && features_[kept.features[k]] == added.features[i];
      if (!is_kept && added.weights[i] != 0.0f) new_.push_back(i);
    }
    if (new_.size() <= limit) return;
    std::ranges::stable_sort(new_, std::ranges::greater(),
                             [&](std::size_t i) { return std::fabs(added.weights[i]); });
    new_.resize(limit);
    std::ranges::sort(new_);
  }

  const LinearTerm::Storage& before_;
  std::span<const std::uint32_t> features_;
  std::span<const float> sums_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::uint32_t> ids_;
  std::vector<float> weights_, new_sums_;
  std::vector<std::size_t> new_;  // scratch
};

// Number of label texts per label.
std::vector<std::uint32_t> texts_of(const Dataset& data) {
  std::vector<std::uint32_t> texts(data.label_count());
  for (std::size_t i = data.samples(); i < data.size(); ++i) ++texts[data.labels(i).front()];
  return texts;
}

}  // namespace

// Builds a term from the new samples alone (`added`), then merges it into `before` neuron by neuron.
LinearTerm LinearTerm::grown(const LinearTerm& before, const LayerConfig& config, const Growth& growth,
                             const More& more, int threads, AlignedArray<float>& sums) {
  if (!before.storage_.small.empty()) return grown(before.widened(), config, growth, more, threads, sums);
  const std::size_t neurons = growth.labels.size();
  const LinearTerm added = more.items != nullptr
                               ? LinearTerm(config, *more.items, 0, neurons, more.length, threads)
                               : LinearTerm(config, more.length, more.samples, neurons, threads, more.scale);
  const std::vector<std::uint32_t> new_samples = more.samples.label_frequencies(),
                                   new_texts = texts_of(more.samples);
  const std::vector<std::uint32_t> features = growth.features.now();
  const AlignedArray<float> sums_before = std::move(sums);
  PatternBuilder builder(before.storage_, features, sums_before.span());
  for (std::size_t n = 0; n < neurons; ++n) {
    const Pattern pattern = pattern_of(added.storage_, n);
    const std::uint32_t was = growth.labels.was[n];
    if (was == kNewId) {
      builder.append(pattern);
      continue;
    }
    const std::uint64_t size = before.storage_.offsets[was + 1] - before.storage_.offsets[was];
    const std::size_t limit = config.wide_features - std::min<std::uint64_t>(size, config.wide_features);
    const std::uint32_t texts = n < new_texts.size() ? new_texts[n] : 0;
    const std::uint32_t added_rows = n < new_samples.size() ? new_samples[n] + texts : 0;
    // Share of the new rows among all rows of the label: the weights of `added` are made from new rows only.
    const float share = added_rows > 0
                            ? static_cast<float>(added_rows) / static_cast<float>(more.frequencies[n] + texts)
                            : 0.0f;
    builder.append(was, pattern, limit, share);
  }
  LinearTerm term(config);
  builder.finish(term.storage_, sums);
  return term;
}

}  // namespace slide
