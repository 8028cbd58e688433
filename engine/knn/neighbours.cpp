#include "engine/knn/neighbours.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"

namespace slide {

using kernels::from_bf16, kernels::to_bf16;

namespace {

constexpr std::size_t kAtOnce = 1024;  // samples per task
constexpr std::size_t kMaxTasks = 16;  // max tasks that fill the inverted index

double length_of(std::span<const float> values) {
  double square = 0.0;
  for (const float v : values) square += double(v) * v;
  return std::sqrt(square);
}

}  // namespace

Neighbours::Neighbours(const NeighbourConfig& config, const Dataset& train, const FeatureScale& scale,
                       int threads)
    : config_(config) {
  if (train.size() > UINT32_MAX) fail_run("{} samples are too many for neighbours", train.size());
  storage_.labels.reserve(train.label_entries());
  storage_.feature_offsets.reserve(train.size() + 1);
  storage_.label_offsets.reserve(train.size() + 1);
  takes_dense(train) ? store_dense(train) : store_sparse(train, scale, threads);
  build_index(train.feature_count(), threads);
}

// Stores the labelled samples with features, in order: scaled to unit length, as bfloat16, without values
// below kMinValue. Two passes: count the entries of each sample, then fill.
void Neighbours::store_sparse(const Dataset& train, const FeatureScale& scale, int threads) {
  // Calls use(sample, ids, values of unit length) for each sample that is kept.
  const auto each_kept = [&](auto&& use) {
    parallel_for((train.size() + kAtOnce - 1) / kAtOnce, threads, [&](std::size_t part, int) {
      std::vector<float> scaled, values;
      for (std::size_t i = part * kAtOnce; i < std::min(train.size(), (part + 1) * kAtOnce); ++i) {
        scaled.clear();
        const SparseRow row = scale.scaled(train.features(i), scaled);
        const double length = length_of(row.values);
        if (train.labels(i).empty() || length == 0) continue;
        values.resize(row.values.size());
        std::ranges::transform(row.values, values.begin(),
                               [&](float value) { return static_cast<float>(value / length); });
        use(i, row.ids, std::span<const float>(values));
      }
    });
  };
  const auto counts = [](float value) { return std::fabs(value) >= kMinValue; };
  std::vector<std::uint32_t> entries(train.size());  // by sample: number of entries; then its row number
  each_kept([&](std::size_t i, std::span<const std::uint32_t>, std::span<const float> values) {
    entries[i] = static_cast<std::uint32_t>(std::ranges::count_if(values, counts));
  });
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (entries[i] == 0) continue;
    const auto labels = train.labels(i);
    storage_.labels.insert(storage_.labels.end(), labels.begin(), labels.end());
    storage_.label_offsets.push_back(storage_.labels.size());
    storage_.feature_offsets.push_back(storage_.feature_offsets.back() + entries[i]);
    entries[i] = static_cast<std::uint32_t>(storage_.samples() - 1);
  }
  resize_large(storage_.features, storage_.feature_offsets.back());
  resize_large(storage_.values, storage_.feature_offsets.back());
  each_kept([&](std::size_t i, std::span<const std::uint32_t> ids, std::span<const float> values) {
    std::uint64_t at = storage_.feature_offsets[entries[i]];
    for (std::size_t k = 0; k < ids.size(); ++k) {
      if (!counts(values[k])) continue;
      storage_.features[at] = ids[k];
      storage_.values[at++] = to_bf16(values[k]);
    }
  });
}

// Stores the labelled rows of nonzero length, scaled to unit length.
void Neighbours::store_dense(const Dataset& train) {
  const std::size_t columns = train.dense_count();
  std::vector<float> row(columns);
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < train.size(); ++i) {
    const auto labels = train.labels(i);
    train.dense().copy_row(i, row.data());
    if (labels.empty() || length_of(row) == 0) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    storage_.labels.insert(storage_.labels.end(), labels.begin(), labels.end());
    storage_.feature_offsets.push_back(0);
    storage_.label_offsets.push_back(storage_.labels.size());
  }
  storage_.dense = DenseSamples(columns, kept.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    train.dense().copy_row(kept[k], row.data());
    const double scale = 1.0 / length_of(row);
    for (float& x : row) x = static_cast<float>(scale * x);
    storage_.dense.set_row(k, row.data());
  }
}

Neighbours::Neighbours(const NeighbourConfig& config, Storage storage, std::size_t features)
    : config_(config), storage_(std::move(storage)) {
  build_index(features, 1);
}

// Builds the inverted index by a counting sort in tasks: each task counts its samples per feature, then knows
// where its postings begin.
void Neighbours::build_index(std::size_t features, int threads) {
  const std::size_t entries = storage_.features.size();
  const std::size_t tasks = std::clamp<std::size_t>(entries / (4 * features + 1), 1, kMaxTasks);
  // [tasks][features]: number of the task's postings; then the index of its next posting
  std::vector<std::vector<std::uint64_t>> next(tasks);
  const auto each_entry = [&](std::size_t task, auto&& use) {
    for (std::size_t i = samples() * task / tasks; i < samples() * (task + 1) / tasks; ++i)
      for (std::uint64_t at = storage_.feature_offsets[i]; at < storage_.feature_offsets[i + 1]; ++at)
        use(i, at);
  };
  parallel_for(tasks, threads, [&](std::size_t task, int) {
    next[task].resize(features);
    each_entry(task, [&](std::size_t, std::uint64_t at) { ++next[task][storage_.features[at]]; });
  });
  offsets_.assign(features + 1, 0);
  for (std::size_t f = 0; f < features; ++f) {
    std::uint64_t end = offsets_[f];
    for (auto& of_task : next) end += std::exchange(of_task[f], end);
    offsets_[f + 1] = end;
  }
  posted_ = AlignedArray<std::uint32_t>(entries);
  const bool bytes = storage_.small.in_bytes();
  posted_q_ = AlignedArray<std::int8_t>(bytes ? entries : 0);
  posted_values_ = AlignedArray<std::uint16_t>(bytes ? 0 : entries);
  parallel_for(tasks, threads, [&](std::size_t task, int) {
    each_entry(task, [&](std::size_t i, std::uint64_t at) {
      const std::uint64_t to = next[task][storage_.features[at]]++;
      posted_[to] = static_cast<std::uint32_t>(i);
      if (bytes)
        posted_q_[to] = storage_.small.q[at];
      else
        posted_values_[to] = storage_.values[at];
    });
  });
  compute_norms(threads);
}

// Computes factors and norms from the feature weights.
void Neighbours::compute_norms(int threads) {
  const std::vector<std::uint16_t>& weights = storage_.feature_weights;
  factors_.resize(weights.size());
  std::ranges::transform(weights, factors_.begin(), from_bf16);
  weights.empty() ? norms_.clear() : storage_.compute_norms(factors_, threads, norms_);
}

void Neighbours::Storage::compute_norms(std::span<const float> factors, int threads,
                                        std::vector<float>& norms) const {
  norms.resize(samples());
  parallel_for((samples() + kAtOnce - 1) / kAtOnce, threads, [&](std::size_t part, int) {
    for (std::size_t i = part * kAtOnce; i < std::min(samples(), (part + 1) * kAtOnce); ++i)
      norms[i] = norm_with(factors, i);
  });
}

// Two independent sums hide the latency of additions.
float Neighbours::Storage::norm_with(std::span<const float> factors, std::size_t sample) const {
  const std::uint64_t end = feature_offsets[sample + 1];
  const auto weighted = [&](std::uint64_t at) { return double(value(sample, at)) * factors[features[at]]; };
  double even = 0.0, odd = 0.0;
  std::uint64_t at = feature_offsets[sample];
  for (; at + 1 < end; at += 2) {
    const double a = weighted(at), b = weighted(at + 1);
    even += a * a;
    odd += b * b;
  }
  if (at < end) even += weighted(at) * weighted(at);
  const double square = even + odd;
  return square > 0 ? static_cast<float>(1.0 / std::sqrt(square)) : 0.0f;
}

void Neighbours::set_feature_weights(std::vector<std::uint16_t> weights, int threads) {
  storage_.feature_weights = std::move(weights);
  compute_norms(threads);
}

const LabelCooccurrence& Neighbours::cooccurrence() const {
  std::call_once(cooccurrence_->counted, [this] {
    cooccurrence_->labels = LabelCooccurrence(storage_.label_offsets, storage_.labels);
  });
  return cooccurrence_->labels;
}

double Neighbours::power_mean(double probability, double weight) const {
  const double sum = (1.0 - config_.share) * std::pow(probability, config_.mean) +
                     config_.share * std::pow(weight, config_.mean);
  return std::pow(sum, 1.0 / config_.mean);
}

void Neighbours::set_mix(double share, double power, double cooccurrence) {
  config_.share = share;
  config_.power = power;
  config_.cooccurrence = cooccurrence;
}

// Arrays by feature and by sample are zero between calls; the others are sized for one search.
Neighbours::Scratch Neighbours::make_scratch() const {
  Scratch scratch;
  if (dense()) return scratch;
  scratch.query.assign(offsets_.size() - 1, 0.0f);
  scratch.partial.assign(samples(), 0.0f);
  scratch.touched.resize(kPostings + 1);
  scratch.scores.reserve(kPostings);
  scratch.largest.reserve(2 * candidates());
  scratch.keys.reserve(kPostings);
  return scratch;
}

double Neighbours::scratch_bytes_of(double samples, double feature_count) {
  return (samples + feature_count) * sizeof(float);
}

double Neighbours::bytes_of(double samples, double feature_count, double feature_entries,
                            double label_entries, double dense) {
  return DenseSamples::bytes_of(dense, samples) +
         2 * feature_entries * (sizeof(std::uint32_t) + sizeof(std::uint16_t)) +
         label_entries * sizeof(std::uint32_t) + (2 * samples + feature_count) * sizeof(std::uint64_t);
}

double Neighbours::weight_bytes_of(double samples, double feature_count) {
  return feature_count * (sizeof(std::uint16_t) + sizeof(float)) + samples * sizeof(float);
}

// bytes_of() assumes bfloat16 values; int8 values, stored and posted, save a byte each.
std::size_t Neighbours::bytes() const {
  const double held =
      bytes_of(double(samples()), double(offsets_.size() - 1), double(storage_.features.size()),
               double(storage_.labels.size()), double(storage_.dense.columns()));
  const double saved = 2.0 * double(posted_q_.size()) * (sizeof(std::uint16_t) - sizeof(std::int8_t));
  const double weights = factors_.empty() ? 0.0 : weight_bytes_of(double(samples()), double(features()));
  return static_cast<std::size_t>(held - saved + weights) + storage_.small.exponents.size() +
         (config_.cooccurrence > 0 ? cooccurrence().bytes() : 0);
}

}  // namespace slide
