#include "engine/knn/hard_negative_features.h"

#include <algorithm>
#include <cmath>

#include "engine/base/prefetch.h"

namespace slide {

namespace {

// Adds `more` to the weight of feature `id` and lists the feature on its first nonzero addition. Branch-free:
// the branch is unpredictable.
void add(std::uint32_t id, float more, HardNegativeFeatures::Scratch& to, std::size_t& count) {
  float& similarity = to.similarity[id];
  to.ids[count] = id;
  count += ((similarity == 0.0f) & (more > 0.0f)) ? 1 : 0;
  similarity += more;
}

// Sets in.found to the `limit` most similar of the `count` listed features, unordered.
void find_largest(std::size_t limit, std::size_t count, HardNegativeFeatures::Scratch& in) {
  in.found.assign(in.ids.begin(), in.ids.begin() + static_cast<std::ptrdiff_t>(count));
  keep_strongest(in.found, limit, in.similarity);
}

// Ensures room for `count` + `more` + 1 ids.
void make_room(std::size_t count, std::size_t more, HardNegativeFeatures::Scratch& in) {
  if (in.ids.size() <= count + more) in.ids.resize(2 * (count + more) + 1);
}

void clear(std::size_t count, HardNegativeFeatures::Scratch& scratch) {
  for (std::size_t i = 0; i < count; ++i) scratch.similarity[scratch.ids[i]] = 0.0f;
}

}  // namespace

// Chooses up to kSamples of the samples of each feature, evenly spaced.
HardNegativeFeatures::HardNegativeFeatures(const Dataset& train, const FeatureScale& scale,
                                           std::size_t wanted)
    : train_(train),
      scale_(scale),
      wanted_(std::min<std::size_t>(wanted, train.feature_count())),
      samples_(train.feature_count() * kSamples),
      counts_(train.feature_count()),
      by_feature_(train.feature_count()) {
  std::vector<std::uint64_t> left(train.feature_count()), size;
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t f : train.features(i).ids) ++left[f];
  }
  size = left;
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t f : train.features(i).ids) {
      const std::uint64_t at = size[f] - left[f]--;  // rank among the samples of f
      if (counts_[f] == kSamples || at * kSamples < counts_[f] * size[f]) continue;
      samples_[f * kSamples + counts_[f]++] = static_cast<std::uint32_t>(i);
    }
  }
}

HardNegativeFeatures::Scratch HardNegativeFeatures::make_scratch() const {
  Scratch scratch;
  scratch.similarity.assign(train_.feature_count(), 0.0f);
  return scratch;
}

// Sets scratch.list as cooccurring() returns it. A feature of a single sample gets an empty list: the labels
// of this sample have all its features.
void HardNegativeFeatures::make_list(std::uint32_t feature, Scratch& scratch) const {
  const std::size_t samples = counts_[feature] > 1 ? counts_[feature] : 0;
  const std::span own_samples(samples_.data() + feature * kSamples, samples);
  for (const std::uint32_t sample : own_samples) train_.prefetch_offsets(sample);
  for (const std::uint32_t sample : own_samples) train_.prefetch_features(sample);
  std::size_t count = 0;
  for (const std::uint32_t sample : own_samples) {
    scratch.scaled.clear();
    const SparseRow row = scale_.scaled(train_.features(sample), scratch.scaled);
    const auto at = std::lower_bound(row.ids.begin(), row.ids.end(), feature) - row.ids.begin();
    const float own = std::fabs(row.values[static_cast<std::size_t>(at)]);
    // Of a long row every step-th feature, others for another list: else a row of n features, each of a label
    // of its own, costs n^2.
    const std::size_t step = (row.ids.size() + kMaxOfRow - 1) / kMaxOfRow;
    make_room(count, std::min(row.ids.size(), kMaxOfRow), scratch);
    for (std::size_t i = step < 2 ? 0 : feature % step; i < row.ids.size(); i += step)
      add(row.ids[i], own * std::fabs(row.values[i]), scratch, count);
  }
  find_largest(kListed * wanted_, count, scratch);
  scratch.list.assign(1, {static_cast<std::uint32_t>(scratch.found.size()), 0.0f});
  for (const std::uint32_t id : scratch.found) scratch.list.push_back({id, scratch.similarity[id]});
  std::sort(scratch.list.begin() + 1, scratch.list.end(), [](const Cooccurring& a, const Cooccurring& b) {
    return a.weight > b.weight || (a.weight == b.weight && a.feature < b.feature);
  });
  clear(count, scratch);
}

// Copies the list into a block and returns its address.
const HardNegativeFeatures::Cooccurring* HardNegativeFeatures::keep(
    const std::vector<Cooccurring>& list) const {
  if (list.size() > free_) {
    free_ = std::max(kBlock, list.size());
    blocks_.emplace_back(free_);
    end_ = blocks_.back().data() + free_;
  }
  Cooccurring* place = end_ - free_;
  std::ranges::copy(list, place);
  free_ -= list.size();
  return place;
}

double HardNegativeFeatures::bytes_of(double labels, double features, double wanted) {
  const double lists = std::min(features, kStrongest * labels), cooccurring = kListed * wanted + 1;
  return features * (kSamples * sizeof(std::uint32_t) + sizeof(std::uint8_t) + sizeof(void*)) +
         lists * cooccurring * sizeof(Cooccurring);
}

double HardNegativeFeatures::scratch_bytes_of(double features) {
  return features * sizeof(float);
}

// Computes the list on first use, outside the lock; of several threads the first one stores its list.
const HardNegativeFeatures::Cooccurring* HardNegativeFeatures::cooccurring(std::uint32_t feature,
                                                                           Scratch& scratch) const {
  std::atomic<const Cooccurring*>& known = by_feature_[feature];
  if (const Cooccurring* list = known.load(std::memory_order_acquire)) return list;
  make_list(feature, scratch);
  const std::lock_guard lock(mutex_);
  if (const Cooccurring* list = known.load(std::memory_order_relaxed))
    return list;  // another thread has stored it meanwhile
  const Cooccurring* list = keep(scratch.list);
  known.store(list, std::memory_order_release);
  return list;
}

// Merges the lists of the label's strongest features, each times |s[t]|, without the features that occur in
// s.
void HardNegativeFeatures::find(const LabelSums::Sum& sum, Scratch& scratch,
                                std::vector<std::uint32_t>& out) const {
  constexpr std::size_t kLine = kAlignment / sizeof(Cooccurring);
  scratch.strongest = sum.ids;
  keep_strongest(scratch.strongest, kStrongest, sum.values);
  const Cooccurring* lists[kStrongest];
  for (std::size_t t = 0; t < scratch.strongest.size(); ++t) {
    lists[t] = cooccurring(scratch.strongest[t], scratch);
    for (std::size_t i = 0; i < kTaken * wanted_; i += kLine) prefetch(lists[t] + i);
  }
  std::size_t count = 0;
  make_room(count, kStrongest * kTaken * wanted_, scratch);
  for (std::size_t t = 0; t < scratch.strongest.size(); ++t) {
    const float weight = std::fabs(sum.values[scratch.strongest[t]]);
    const std::span all(lists[t] + 1, lists[t]->feature);
    std::size_t left = kTaken * wanted_;
    for (auto candidate = all.begin(); candidate != all.end() && left > 0; ++candidate) {
      if (sum.listed[candidate->feature] != 0) continue;
      add(candidate->feature, weight * candidate->weight, scratch, count);
      --left;
    }
  }
  find_largest(wanted_, count, scratch);
  out.insert(out.end(), scratch.found.begin(), scratch.found.end());
  clear(count, scratch);
}

}  // namespace slide
