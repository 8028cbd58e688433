// Selection of feature crosses from the training data (FeatureCrosses::choose).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "datasets/rows/row_parser.h"
#include "engine/base/aligned.h"
#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/crosses/crossed_entries.h"
#include "engine/crosses/feature_crosses.h"
#include "engine/statistics/samples_of_labels.h"

namespace slide {

namespace {

// The upper `bits` of a hash of the pair.
std::size_t slot_of(std::uint32_t first, std::uint32_t second, int bits) {
  std::uint64_t key = std::uint64_t{first} << 32 | second;  // two rounds of multiply and shift
  key = (key ^ key >> 29) * 0x9e3779b97f4a7c15ULL;
  key = (key ^ key >> 32) * 0xbf58476d1ce4e5b9ULL;
  return key >> (64 - bits);
}

constexpr double kMinGain = 1 + 1e-6;  // min ratio of share and expected share: above rounding errors

struct Candidate {
  float score;
  FeatureCross pair;
};

bool ranks_before(const Candidate& a, const Candidate& b) {
  return a.score > b.score || (a.score == b.score && a.pair < b.pair);
}

// The `limit` candidates of largest score, each pair once with its largest score. Keeps up to four times as
// many between two cuts, so that adding takes O(log limit) amortised.
class TopCandidates {
 public:
  explicit TopCandidates(std::size_t limit) : limit_(limit) {}

  void add(const Candidate& candidate) {
    if (candidate.score < min_score_) return;
    all_.push_back(candidate);
    if (all_.size() >= 4 * limit_) cut();
  }
  void add(const TopCandidates& other) {
    for (const Candidate& candidate : other.all_) add(candidate);
  }
  // Drops all but the top candidates and returns these, unordered.
  std::vector<Candidate>& cut() {
    std::sort(all_.begin(), all_.end(), [](const Candidate& a, const Candidate& b) {
      return a.pair < b.pair || (a.pair == b.pair && a.score > b.score);
    });
    const auto same = [](const Candidate& a, const Candidate& b) { return a.pair == b.pair; };
    all_.erase(std::unique(all_.begin(), all_.end(), same), all_.end());
    if (all_.size() <= limit_) return all_;
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(limit_);
    std::nth_element(all_.begin(), end - 1, all_.end(), ranks_before);
    all_.erase(end, all_.end());
    min_score_ = all_.back().score;  // the smallest: nth_element() has put it last
    return all_;
  }

 private:
  std::size_t limit_;
  std::vector<Candidate> all_;
  float min_score_ = 0.0f;
};

// The training samples as choose() reads them.
class Samples {
 public:
  Samples(const Dataset& train, int threads)
      : train_(train),
        offsets_(train.samples() + 1),
        with_(train.feature_count()),
        by_label_(train.samples(), train.label_count(), [&](std::size_t i) { return train.labels(i); }) {
    list_kept(threads);
  }

  std::size_t size() const { return train_.samples(); }
  SparseRow row(std::size_t sample) const { return train_.features(sample); }
  // Features of a sample that form crosses, ascending.
  std::span<const std::uint32_t> kept(std::size_t sample) const {
    return kept_.span().subspan(offsets_[sample], offsets_[sample + 1] - offsets_[sample]);
  }
  // Number of samples that have a feature.
  std::uint32_t with(std::uint32_t feature) const { return with_[feature]; }
  std::span<const std::uint32_t> of_label(std::size_t label) const { return by_label_.of(label); }
  // Rows of samples are scattered in memory: prefetches those of the next labels.
  void prefetch_after(std::size_t label) const {
    constexpr std::size_t kEntries = kAlignment / sizeof(std::uint32_t);  // of a line
    by_label_.prefetch_after(
        label,
        [&](std::uint32_t sample) {
          train_.prefetch_features(sample);
          for (std::uint64_t at = offsets_[sample]; at < offsets_[sample + 1]; at += kEntries)
            prefetch(&kept_[at]);
        },
        [&](std::uint32_t sample) {
          train_.prefetch_offsets(sample);
          prefetch(&offsets_[sample]);
        });
  }

 private:
  // Lists the features that form crosses, sample by sample: counts them, then fills kept_. Counts with_.
  void list_kept(int threads) {
    parallel_for((size() + kCrossedRows - 1) / kCrossedRows, threads, [&](std::size_t part, int) {
      for (std::size_t i = part * kCrossedRows; i < std::min(size(), (part + 1) * kCrossedRows); ++i) {
        const auto used = std::ranges::count_if(row(i).values, [](float x) { return x != 0; });
        offsets_[i + 1] = std::min(kCrossedFeatures, static_cast<std::size_t>(used));
      }
    });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    kept_ = AlignedArray<std::uint32_t>(offsets_.back());
    parallel_for((size() + kCrossedRows - 1) / kCrossedRows, threads, [&](std::size_t part, int) {
      for (std::size_t i = part * kCrossedRows; i < std::min(size(), (part + 1) * kCrossedRows); ++i) {
        std::uint64_t at = offsets_[i];
        visit_crossed(row(i), [&](std::size_t entry) { kept_[at++] = row(i).ids[entry]; });
      }
    });
    for (std::size_t i = 0; i < size(); ++i) {
      for (std::size_t k = 0; k < row(i).ids.size(); ++k) with_[row(i).ids[k]] += row(i).values[k] != 0;
    }
  }

  const Dataset& train_;
  std::vector<std::uint64_t> offsets_;  // of kept_
  AlignedArray<std::uint32_t> kept_;
  std::vector<std::uint32_t> with_;
  SamplesOfLabels by_label_;
};

// Number of counter slots: a multiple of the number of crosses of the samples, so that few crosses collide,
// within bounds.
std::size_t slots_for(std::uint64_t crosses) {
  return std::bit_ceil(std::clamp<std::uint64_t>(16 * crosses, std::uint64_t{1} << 16, kCrossSlots));
}

std::size_t slots_for(const Samples& samples) {
  std::uint64_t crosses = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    crosses += samples.kept(i).size() * samples.kept(i).size() / 2;
  return slots_for(crosses);
}

// Counts per slot the samples that have one of the slot's crosses. Shared counters would make threads
// contend; so first, tasks list the slots of their samples by owner (a cache-sized range of all slots), then
// each owner counts its lists.
class CrossCounts {
 public:
  CrossCounts(const Samples& samples, int threads)
      : counts_(slots_for(samples)), owner_shift_(std::countr_zero(counts_.size()) - kOwnerBits) {
    std::vector<Lists> lists(std::min(kTiles, tiles_of(samples.size())));
    for (std::size_t first = 0; first < samples.size(); first += kTiles * kRows) {
      const std::size_t tiles = std::min(kTiles, tiles_of(samples.size() - first));
      parallel_for(tiles, threads, [&](std::size_t s, int) {
        for (auto& list : lists[s]) list.clear();
        const std::size_t begin = first + s * kRows, end = std::min(samples.size(), begin + kRows);
        for (std::size_t sample = begin; sample < end; ++sample) list_slots(samples.kept(sample), lists[s]);
      });
      parallel_for(kOwners, threads, [&](std::size_t owner, int) {
        std::uint32_t* own = &counts_[owner << owner_shift_];
        for (std::size_t s = 0; s < tiles; ++s)
          for (const std::uint16_t slot : lists[s][owner]) ++own[slot];
      });
    }
  }

  std::span<const std::uint32_t> slots() const { return counts_.span(); }

  static constexpr std::size_t kTiles = 64, kRows = 256;  // tiles of rows per round

 private:
  static constexpr int kOwnerBits = 8;
  static constexpr std::size_t kOwners = std::size_t{1} << kOwnerBits;
  static_assert(kCrossSlots / kOwners <= std::size_t{1} << 16);
  using Lists = std::array<std::vector<std::uint16_t>, kOwners>;

  static std::size_t tiles_of(std::size_t samples) { return (samples + kRows - 1) / kRows; }

  void list_slots(std::span<const std::uint32_t> kept, Lists& to) const {
    const std::size_t own = (std::size_t{1} << owner_shift_) - 1;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t j = i + 1; j < kept.size(); ++j) {
        const std::size_t slot = slot_of(kept[i], kept[j], owner_shift_ + kOwnerBits);
        to[slot >> owner_shift_].push_back(static_cast<std::uint16_t>(slot & own));
      }
    }
  }

  AlignedArray<std::uint32_t> counts_;
  const int owner_shift_;  // bits of a slot's index within its owner
};

// Scores the crosses of one label after another. Scratch memory, one object per thread.
class LabelCrosses {
 public:
  LabelCrosses(const Samples& samples, std::span<const std::uint32_t> slots, std::size_t features,
               std::size_t per_label, std::size_t limit)
      : samples_(samples),
        slots_(slots),
        bits_(std::countr_zero(slots.size())),
        per_label_(per_label),
        number_(features),
        best_(limit) {}

  const TopCandidates& best() const { return best_; }

  // Adds the `per_label` crosses of largest score of a label to best(). Labels of many samples are scored on
  // kCrossSamples of them, evenly spaced.
  void add_label(std::size_t label) {
    samples_.prefetch_after(label);
    const auto all = samples_.of_label(label);
    if (all.size() < kMinOfLabel) return;
    const std::size_t count = std::min(all.size(), kCrossSamples);
    sample_ids_.resize(count);
    for (std::size_t i = 0; i < count; ++i) sample_ids_[i] = all[i * all.size() / count];
    weight_ = double(all.size()) / double(count);
    number_features();
    list_entries();
    own_.clear();
    for (std::uint32_t first = 0; first < features_.size(); ++first) {
      if (ends_[first + 1] - ends_[first] >= kMinOfLabel) score_crosses_of(first);
    }
    if (own_.size() > per_label_) {
      const auto end = own_.begin() + static_cast<std::ptrdiff_t>(per_label_);
      std::nth_element(own_.begin(), end, own_.end(), ranks_before);
      own_.erase(end, own_.end());
    }
    for (const Candidate& candidate : own_) best_.add(candidate);
  }

 private:
  // Numbers the features that enough of the label's samples have, so that their counters are adjacent.
  void number_features() {
    features_.clear();
    listed_.clear();
    complements_.clear();
    for (const std::uint32_t sample : sample_ids_) {
      const SparseRow row = samples_.row(sample);
      for (std::size_t i = 0; i < row.ids.size(); ++i) {
        if (row.values[i] == 0) continue;
        if (number_[row.ids[i]]++ == 0) listed_.push_back(row.ids[i]);
      }
    }
    for (const std::uint32_t f : listed_) {
      const std::uint32_t with = std::exchange(number_[f], kNone);
      if (with < kMinOfLabel) continue;
      number_[f] = static_cast<std::uint32_t>(features_.size());
      features_.push_back(f);
      complements_.push_back(1.0 - std::min(1.0, with * weight_ / samples_.with(f)));
    }
  }

  // entries_: feature numbers, sample by sample. tails_: for each feature and each sample that has it, the
  // range of entries_ after it in this sample, which are the second features of its crosses.
  void list_entries() {
    entries_.clear();
    sample_ends_.clear();
    ends_.assign(features_.size() + 2, 0);
    for (const std::uint32_t sample : sample_ids_) {
      for (const std::uint32_t f : samples_.kept(sample)) {
        if (number_[f] == kNone) continue;
        entries_.push_back(number_[f]);
        ++ends_[number_[f] + 2];
      }
      sample_ends_.push_back(static_cast<std::uint32_t>(entries_.size()));
    }
    for (const std::uint32_t f : listed_) number_[f] = 0;
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    tails_.resize(entries_.size());
    std::uint32_t at = 0;
    for (const std::uint32_t end : sample_ends_) {
      for (; at < end; ++at) tails_[ends_[entries_[at] + 1]++] = {at + 1, end};
    }
    together_.resize(std::max(together_.size(), features_.size()));
    found_.resize(features_.size() + 1);
  }

  // Scores all crosses whose first feature is `first`.
  void score_crosses_of(std::uint32_t first) {
    std::size_t count = 0, kept = 0;
    for (std::uint32_t t = ends_[first]; t < ends_[first + 1]; ++t) {
      for (std::uint32_t at = tails_[t].begin; at < tails_[t].end; ++at) {
        const std::uint32_t second = entries_[at];
        found_[count] = second;  // branch-free: the branch is unpredictable
        count += together_[second]++ == 0 ? 1 : 0;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      found_[kept] = found_[i];
      kept += together_[found_[i]] >= kMinOfLabel ? 1 : 0;
      if (together_[found_[i]] < kMinOfLabel) together_[found_[i]] = 0;
    }
    slots_of_.resize(std::max(slots_of_.size(), kept));
    for (std::size_t i = 0; i < kept; ++i) {
      slots_of_[i] = slot_of(features_[first], features_[found_[i]], bits_);
      prefetch(&slots_[slots_of_[i]]);
    }
    for (std::size_t i = 0; i < kept; ++i) {
      // n, m and expected share as in FeatureCrosses::choose().
      const double n = std::exchange(together_[found_[i]], 0) * weight_;
      const std::uint32_t m = slots_[slots_of_[i]];
      if (m < kMinTogether) continue;
      const double share = std::min(1.0, n / (m + 1.0));
      const double expected = 1.0 - complements_[first] * complements_[found_[i]];
      if (share <= kMinGain * expected) continue;
      const auto score = static_cast<float>(n * std::log(share / expected));
      own_.push_back({score, {features_[first], features_[found_[i]]}});
    }
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Tail {
    std::uint32_t begin, end;  // in entries_
  };

  const Samples& samples_;
  const std::span<const std::uint32_t> slots_;
  const int bits_;  // bits of a slot index
  const std::size_t per_label_;
  std::vector<std::uint32_t> number_;  // by feature; 0 between labels
  TopCandidates best_;

  // State of the current label:
  std::vector<std::uint32_t> sample_ids_, listed_;  // its inspected samples; their features
  double weight_ = 1.0;                             // samples that one inspected sample stands for
  std::vector<std::uint32_t> features_;             // by number
  std::vector<double> complements_;                 // by number: 1 - p_a
  std::vector<std::uint32_t> entries_, sample_ends_;
  std::vector<Tail> tails_;                      // by number
  std::vector<std::uint32_t> ends_;              // tails_ of number i end where tails_ of i + 1 begin
  std::vector<std::uint32_t> together_, found_;  // by number, 0 between features; numbers
  std::vector<std::size_t> slots_of_;            // of found_
  std::vector<Candidate> own_;
};

}  // namespace

// Counts the samples of all pairs first, then scores the pairs label by label; each thread keeps the best of
// its labels.
FeatureCrosses FeatureCrosses::choose(const Dataset& train, std::uint32_t per_label, int threads) {
  const std::size_t features = train.feature_count();
  const std::size_t limit = std::min<std::uint64_t>(kMaxCrosses, kIdLimit - features);
  if (per_label == 0 || limit == 0) return FeatureCrosses({}, features);
  const Samples samples(train, threads);
  const CrossCounts counts(samples, threads);
  std::vector<std::unique_ptr<LabelCrosses>> by_thread(static_cast<std::size_t>(std::max(1, threads)));
  parallel_for(train.label_count(), threads, [&](std::size_t label, int thread) {
    auto& crosses = by_thread[static_cast<std::size_t>(thread)];
    if (!crosses)
      crosses = std::make_unique<LabelCrosses>(samples, counts.slots(), features, per_label, limit);
    crosses->add_label(label);
  });
  TopCandidates best(limit);
  for (auto& crosses : by_thread) {
    if (crosses) best.add(crosses->best());
    crosses.reset();
  }
  std::vector<FeatureCross> chosen;
  for (const Candidate& candidate : best.cut()) chosen.push_back(candidate.pair);
  std::sort(chosen.begin(), chosen.end());
  return FeatureCrosses(std::move(chosen), features);
}

// Memory of Samples, CrossCounts and one LabelCrosses per thread.
double FeatureCrosses::choosing_bytes_of(const Dataset& train, std::uint32_t per_label, int threads) {
  if (per_label == 0) return 0;
  constexpr double kCapacity = 1.5;  // of a vector that doubles, by its size, on average
  constexpr double kId = sizeof(std::uint32_t), kOffset = sizeof(std::uint64_t);
  std::uint64_t kept = 0, crosses = 0, crosses_of_round = 0;
  for (std::size_t i = 0; i < train.samples(); ++i) {
    const std::size_t own = std::min(kCrossedFeatures, train.features(i).ids.size());
    kept += own;
    crosses += own * own / 2;
    if (i < CrossCounts::kTiles * CrossCounts::kRows) crosses_of_round = crosses;
  }
  const auto features = double(train.feature_count()), labels = double(train.label_count());
  const double samples = double(kept + train.feature_count() + train.label_entries()) * kId +
                         (double(train.samples()) + 2 * labels) * kOffset;
  const double counts =
      double(slots_for(crosses)) * kId + kCapacity * double(crosses_of_round) * sizeof(std::uint16_t);
  const double candidates = std::min(4.0 * kMaxCrosses * threads, labels * per_label);
  const double labels_crosses = threads * features * kId + kCapacity * candidates * sizeof(Candidate);
  return samples + counts + labels_crosses;
}

}  // namespace slide
