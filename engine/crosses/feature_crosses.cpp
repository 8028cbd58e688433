#include "engine/crosses/feature_crosses.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "datasets/rows/row_parser.h"
#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

std::uint32_t hash_of(std::uint64_t mixed_first, std::uint32_t second) {
  return static_cast<std::uint32_t>((mixed_first + second) * 0x9e3779b97f4a7c15ULL >> 32);
}

}  // namespace

// The crosses of one row.
struct FeatureCrosses::Found {
  std::size_t count = 0;
  std::array<std::uint32_t, kCrossesOfRow> ids;
  std::array<float, kCrossesOfRow> values;
};

// A pair of a row's features that may be a cross.
struct FeatureCrosses::Likely {
  std::uint32_t hash;
  std::uint16_t first, second;  // numbers of the features
};

// Builds the three lookups of find(): member_of_ by feature; bits_, at most a sixteenth set; slots_, at most
// a quarter full.
FeatureCrosses::FeatureCrosses(std::vector<FeatureCross> crosses, std::size_t features)
    : crosses_(std::move(crosses)), features_(features) {
  if (!are_valid(crosses_, features_))
    fail_run("crosses of features that do not ascend, or beyond {}", features_);
  if (!active()) return;
  member_of_.resize(features_);
  for (const FeatureCross& pair : crosses_) {
    member_of_[pair.first] |= kFirst;
    member_of_[pair.second] |= kSecond;
  }
  slots_.resize(std::bit_ceil(4 * crosses_.size()));
  bits_.resize(std::bit_ceil(crosses_.size() / 4 + 1));
  for (std::size_t p = 0; p < crosses_.size(); ++p) {
    const std::uint32_t hash = hash_of(mix64(crosses_[p].first), crosses_[p].second);
    bits_[hash / 64 & (bits_.size() - 1)] |= std::uint64_t{1} << hash % 64;
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::uint32_t>(p + 1);
  }
}

bool FeatureCrosses::are_valid(std::span<const FeatureCross> crosses, std::size_t features) {
  if (features > kIdLimit || crosses.size() > kIdLimit - features) return false;
  for (std::size_t p = 0; p < crosses.size(); ++p) {
    if (crosses[p].first >= crosses[p].second || crosses[p].second >= features) return false;
    if (p > 0 && !(crosses[p - 1] < crosses[p])) return false;
  }
  return true;
}

FeatureCrosses FeatureCrosses::grown(const IdGrowth& features) const {
  const std::vector<std::uint32_t> now = active() ? features.now() : std::vector<std::uint32_t>();
  std::vector<FeatureCross> crosses = crosses_;
  for (FeatureCross& pair : crosses) pair = {now[pair.first], now[pair.second]};
  return FeatureCrosses(std::move(crosses), features.size());
}

std::size_t FeatureCrosses::max_entries(std::size_t features) const {
  const std::size_t paired = std::min(features, kCrossedFeatures);
  return features + std::min(crosses_.size(), paired * (paired - std::min<std::size_t>(paired, 1)) / 2);
}

// Lists the pairs of `ids`, the members of crosses among a row's features, that the Bloom filter has; returns
// their number.
std::size_t FeatureCrosses::list_likely(std::span<const std::uint32_t> ids, Likely* likely) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((member_of_[ids[i]] & kFirst) == 0) continue;
    const std::uint64_t mixed = mix64(ids[i]);
    for (std::size_t j = i + 1; j < ids.size(); ++j) {  // branch-free: the branch is unpredictable
      const std::uint32_t hash = hash_of(mixed, ids[j]);
      likely[count] = {hash, static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j)};
      count += bits_[hash / 64 & (bits_.size() - 1)] >> hash % 64 & 1;
    }
  }
  return count;
}

// Pairs of the row's features that pass the Bloom filter are looked up in the hash table.
void FeatureCrosses::find(const SparseRow& row, Found& found) const {
  std::array<std::uint32_t, kCrossedFeatures> ids;
  std::array<float, kCrossedFeatures> roots;
  std::size_t entries = 0;
  visit_crossed(row, [&](std::size_t i) {
    if (member_of_[row.ids[i]] == 0) return;
    ids[entries] = row.ids[i];
    roots[entries++] = std::sqrt(std::fabs(row.values[i]));
  });
  std::array<Likely, kCrossesOfRow> likely;
  const std::size_t count = list_likely({ids.data(), entries}, likely.data());
  // Random access: prefetch all slots first, then the crosses.
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t l = 0; l < count; ++l) prefetch(&slots_[likely[l].hash & mask]);
  for (std::size_t l = 0; l < count; ++l) {
    if (const std::uint32_t entry = slots_[likely[l].hash & mask]; entry != 0) prefetch(&crosses_[entry - 1]);
  }
  found.count = 0;
  for (std::size_t l = 0; l < count; ++l) {
    const auto [hash, first, second] = likely[l];
    const FeatureCross pair = {ids[first], ids[second]};
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0 && crosses_[slots_[slot] - 1] != pair) slot = (slot + 1) & mask;
    if (slots_[slot] == 0) continue;
    found.ids[found.count] = static_cast<std::uint32_t>(features_ + slots_[slot] - 1);
    found.values[found.count++] = kCrossScale * roots[first] * roots[second];
  }
}

void FeatureCrosses::put(const SparseRow& row, const Found& found, std::uint32_t* ids, float* values) {
  const std::size_t own = row.ids.size();
  std::copy_n(row.ids.data(), own, ids);
  std::copy_n(row.values.data(), own, values);
  std::copy_n(found.ids.data(), found.count, ids + own);
  std::copy_n(found.values.data(), found.count, values + own);
}

SparseRow FeatureCrosses::crossed(const SparseRow& row, std::vector<std::uint32_t>& ids,
                                  std::vector<float>& values) const {
  if (!active()) return row;
  Found found;
  find(row, found);
  if (found.count == 0) return row;
  const std::size_t at = ids.size(), value_at = values.size(), count = row.ids.size() + found.count;
  ids.resize(at + count);
  values.resize(value_at + count);
  put(row, found, ids.data() + at, values.data() + value_at);
  return {{ids.data() + at, count}, {values.data() + value_at, count}};
}

namespace {

struct CrossedRows {
  Dataset data;  // without crosses
  std::vector<std::uint64_t> feature_offsets, label_offsets;
  AlignedArray<std::uint32_t> ids;
  AlignedArray<float> values;

  // The features here and the labels of `data`, with offsets that begin at 0. Refers to this object.
  DatasetView view() {
    DatasetView view = data.view();
    const std::uint64_t first = data.size() == 0 ? 0 : view.label_offsets.front();
    label_offsets.assign(1, 0);
    for (std::size_t i = 0; i < data.size(); ++i) label_offsets.push_back(view.label_offsets[i + 1] - first);
    view.feature_offsets = feature_offsets;
    view.feature_ids = ids.span();
    view.feature_values = values.span();
    view.label_ids = view.label_ids.subspan(first, data.label_entries());
    view.label_offsets = label_offsets;
    return view;
  }
};

}  // namespace

// Finds the crosses of each row twice, to count and to store them: as fast as keeping those of the first
// pass.
Dataset FeatureCrosses::crossed(const Dataset& data, int threads) const {
  if (!active()) return data;
  if (data.feature_count() > features_ || (data.dense_count() > 0 && data.feature_count() < features_))
    fail_run("crosses of {} features for data of {}, {} of them dense", features_, data.feature_count(),
             data.dense_count());
  const auto rows = std::make_shared<CrossedRows>();
  rows->data = data;
  auto& offsets = rows->feature_offsets;
  offsets.assign(data.size() + 1, 0);
  const auto find_all = [&](auto&& use) {
    parallel_for((data.size() + kCrossedRows - 1) / kCrossedRows, threads, [&](std::size_t part, int) {
      Found found;
      for (std::size_t i = part * kCrossedRows; i < std::min(data.size(), (part + 1) * kCrossedRows); ++i) {
        find(data.features(i), found);
        use(i, found);
      }
    });
  };
  find_all(
      [&](std::size_t i, const Found& found) { offsets[i + 1] = data.features(i).ids.size() + found.count; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  rows->ids = AlignedArray<std::uint32_t>(offsets.back());
  rows->values = AlignedArray<float>(offsets.back());
  find_all([&](std::size_t i, const Found& found) {
    put(data.features(i), found, rows->ids.data() + offsets[i], rows->values.data() + offsets[i]);
  });
  return Dataset(rows, rows->view(), static_cast<std::uint32_t>(features_ + crosses_.size()),
                 data.label_count())
      .with_label_weights_of(data)
      .with_label_texts(data.label_texts())
      .with_keys(data.keys());
}

}  // namespace slide
