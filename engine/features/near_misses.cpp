#include "engine/features/near_misses.h"

#include <algorithm>
#include <cmath>

#include "engine/base/aligned.h"
#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"

namespace slide {

namespace {

constexpr std::size_t kTogether = 256;  // features

// For each feature up to NearMisses::kSamples of its samples, spread evenly over the data.
struct FewSamples {
  std::vector<std::uint32_t> samples;  // [feature][kSamples]
  std::vector<std::uint8_t> counts;    // by feature

  explicit FewSamples(const Dataset& train)
      : samples(train.feature_count() * NearMisses::kSamples), counts(train.feature_count()) {
    std::vector<std::uint64_t> left(train.feature_count()), size;
    for (std::size_t i = 0; i < train.size(); ++i) {
      for (const std::uint32_t f : train.features(i).ids) ++left[f];
    }
    size = left;
    for (std::size_t i = 0; i < train.size(); ++i) {
      for (const std::uint32_t f : train.features(i).ids) {
        const std::uint64_t at = size[f] - left[f]--;  // among the samples of f
        if (counts[f] == NearMisses::kSamples || at * NearMisses::kSamples < counts[f] * size[f]) continue;
        samples[f * NearMisses::kSamples + counts[f]++] = static_cast<std::uint32_t>(i);
      }
    }
  }
  std::span<const std::uint32_t> of(std::size_t feature) const {
    return std::span(samples).subspan(feature * NearMisses::kSamples, counts[feature]);
  }
};

// Weights of features, zero but for those that it lists. Without a jump, which no processor would guess.
void add(std::uint32_t id, float more, NearMisses::Scratch& to, std::size_t& count) {
  float& likeness = to.likeness[id];
  to.ids[count] = id;
  count += ((likeness == 0.0f) & (more > 0.0f)) ? 1 : 0;
  likeness += more;
}

}  // namespace

// Finds companions; one for each thread.
class NearMisses::Finder {
 public:
  Finder(const Dataset& train, const FeatureScale& scale, const FewSamples& few, Scratch scratch)
      : train_(train), scale_(scale), few_(few), scratch_(std::move(scratch)) {}

  // Appends the `most` companions of feature `t`; returns how many there are. What a single sample has is of
  // no use: its labels have all of that themselves.
  std::size_t append(std::uint32_t t, std::size_t most, std::vector<Companion>& to) {
    const std::span<const std::uint32_t> samples = few_.of(t);
    if (samples.size() < 2) return 0;
    std::size_t count = 0;
    for (const std::uint32_t sample : samples) {
      scaled_.clear();
      const SparseRow row = scale_.scaled(train_.features(sample), scaled_);
      const auto at = std::lower_bound(row.ids.begin(), row.ids.end(), t) - row.ids.begin();
      const float shared = std::fabs(row.values[static_cast<std::size_t>(at)]);
      for (std::size_t i = 0; i < row.ids.size(); ++i)
        add(row.ids[i], shared * std::fabs(row.values[i]), scratch_, count);
    }
    std::vector<std::uint32_t>& found = scratch_.strongest;
    found.assign(scratch_.ids.begin(), scratch_.ids.begin() + static_cast<std::ptrdiff_t>(count));
    keep_strongest(found, most, scratch_.likeness);
    const std::size_t before = to.size();
    for (const std::uint32_t id : found) to.push_back({id, scratch_.likeness[id]});
    std::sort(to.begin() + static_cast<std::ptrdiff_t>(before), to.end(),
              [](const Companion& a, const Companion& b) {
                return a.weight > b.weight || (a.weight == b.weight && a.feature < b.feature);
              });
    for (std::size_t i = 0; i < count; ++i) scratch_.likeness[scratch_.ids[i]] = 0.0f;
    return found.size();
  }

 private:
  const Dataset& train_;
  const FeatureScale& scale_;
  const FewSamples& few_;
  Scratch scratch_;
  std::vector<float> scaled_;
};

NearMisses::NearMisses(const Dataset& train, const FeatureScale& scale, std::size_t wanted, int threads)
    : wanted_(wanted), offsets_(train.feature_count() + 1) {
  const std::size_t features = train.feature_count();
  const FewSamples few(train);
  std::vector<Finder> finders;
  for (int t = 0; t < std::max(1, threads); ++t) finders.emplace_back(train, scale, few, make_scratch());
  std::vector<std::vector<Companion>> chunks((features + kTogether - 1) / kTogether);
  parallel_for(chunks.size(), threads, [&](std::size_t chunk, int thread) {
    for (std::size_t f = chunk * kTogether; f < std::min(features, (chunk + 1) * kTogether); ++f) {
      offsets_[f + 1] = finders[static_cast<std::size_t>(thread)].append(static_cast<std::uint32_t>(f),
                                                                         kListed * wanted, chunks[chunk]);
    }
  });
  for (std::size_t f = 0; f < features; ++f) offsets_[f + 1] += offsets_[f];
  companions_.reserve(offsets_.back());
  for (std::vector<Companion>& chunk : chunks) {
    companions_.insert(companions_.end(), chunk.begin(), chunk.end());
    chunk = {};
  }
}

NearMisses::Scratch NearMisses::make_scratch() const {
  Scratch scratch;
  scratch.likeness.assign(offsets_.size() - 1, 0.0f);
  scratch.ids.resize(offsets_.size());
  return scratch;
}

// Each label's lists lie anywhere: they are all asked for at once.
void NearMisses::find(const LabelSums::Sum& sum, Scratch& scratch, std::vector<std::uint32_t>& out) const {
  constexpr std::size_t kLine = kAlignment / sizeof(Companion);
  std::size_t count = 0;
  scratch.strongest = sum.ids;
  keep_strongest(scratch.strongest, kStrongest, sum.values);
  for (const std::uint32_t t : scratch.strongest) {
    for (std::size_t i = 0; i < kTaken * wanted_; i += kLine) prefetch(companions_.data() + offsets_[t] + i);
  }
  for (const std::uint32_t t : scratch.strongest) {
    const float weight = std::fabs(sum.values[t]);
    std::size_t left = kTaken * wanted_;
    for (std::uint64_t i = offsets_[t]; i < offsets_[t + 1] && left > 0; ++i) {
      const Companion& companion = companions_[i];
      if (sum.listed[companion.feature] != 0) continue;
      add(companion.feature, weight * companion.weight, scratch, count);
      --left;
    }
  }
  std::vector<std::uint32_t>& found = scratch.strongest;
  found.assign(scratch.ids.begin(), scratch.ids.begin() + static_cast<std::ptrdiff_t>(count));
  keep_strongest(found, wanted_, scratch.likeness);
  out.insert(out.end(), found.begin(), found.end());
  for (std::size_t i = 0; i < count; ++i) scratch.likeness[scratch.ids[i]] = 0.0f;
}

}  // namespace slide
