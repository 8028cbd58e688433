#include "datasets/text/vocabulary_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace slide {

namespace {

struct Candidate {
  std::uint64_t hash;
  std::uint32_t samples;
  const char* name;
};

float weight_of(const TextOptions& options, std::uint64_t samples, std::uint64_t with_feature) {
  if (options.weighting == Weighting::kCounts) return 1.0F;
  const std::uint64_t found = std::min(samples, with_feature);  // the features of a bucket may share samples
  return static_cast<float>(1 + std::log(double(1 + samples) / double(1 + found)));
}

// Number of samples with a feature, recovered from its weight as exactly as possible.
std::uint64_t samples_with(const TextOptions& options, std::uint64_t samples, float weight) {
  if (options.weighting == Weighting::kCounts) return 0;  // unused
  const double with = double(1 + samples) / std::exp(double(weight) - 1) - 1;
  return static_cast<std::uint64_t>(std::llround(std::clamp(with, 0.0, double(samples))));
}

// New features, and counts for the buckets.
struct Choice {
  std::vector<Candidate> chosen;
  std::vector<std::uint64_t> buckets;
  void to_bucket(std::uint64_t hash, std::uint32_t samples) {
    if (!buckets.empty()) buckets[hash % buckets.size()] += samples;
  }
};

// Keeps the most frequent candidates, in order, besides `known` existing ones.
void keep_most(const TextOptions& options, std::size_t known, Choice& choice) {
  std::vector<Candidate>& chosen = choice.chosen;
  std::sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) {
    return a.samples != b.samples ? a.samples > b.samples : a.hash < b.hash;
  });
  const std::size_t limit =
      options.max_features == 0 ? kIdLimit - 1 - choice.buckets.size() : options.max_features;
  const std::size_t room = limit - std::min(limit, known);
  for (std::size_t i = room; i < chosen.size(); ++i) choice.to_bucket(chosen[i].hash, chosen[i].samples);
  if (chosen.size() > room) chosen.resize(room);
}

// Appends the chosen features and the buckets to `parts`.
void append_features(const TextOptions& options, const Choice& choice, TextModelParts& parts) {
  for (const Candidate& feature : choice.chosen) {
    parts.hashes.push_back(feature.hash);
    parts.weights.push_back(weight_of(options, parts.samples, feature.samples));
    parts.feature_names.add(feature.name);
  }
  for (const std::uint64_t samples : choice.buckets)
    parts.weights.push_back(weight_of(options, parts.samples, samples));
}

}  // namespace

// Features of at least min_count samples get ids; the others count for their hash buckets.
void choose_features(const TextOptions& options, const std::vector<FeatureCounter>& counts,
                     TextModelParts& parts) {
  Choice choice{{}, std::vector<std::uint64_t>(options.hash_buckets)};
  for (const FeatureCounter& counter : counts) {
    counter.for_each([&](const FeatureCount& entry, const char* name) {
      if (entry.samples >= options.min_count) {
        choice.chosen.push_back({entry.hash, entry.samples, name});
      } else {
        choice.to_bucket(entry.hash, entry.samples);
      }
    });
  }
  keep_most(options, 0, choice);
  append_features(options, choice, parts);
}

// Keeps the ids of known features, adds new ones behind them, and weighs all by the samples of both data
// sets.
void add_features(const TextModel& before, const TextOptions& options,
                  const std::vector<FeatureCounter>& counts, TextModelParts& parts) {
  const TextModelParts& old = before.parts();
  std::vector<std::uint64_t> with(old.weights.size());
  for (std::size_t f = 0; f < with.size(); ++f) with[f] = samples_with(options, old.samples, old.weights[f]);
  const auto known = static_cast<std::ptrdiff_t>(old.hashes.size());
  Choice choice{{}, {with.begin() + known, with.end()}};
  for (const FeatureCounter& counter : counts) {
    counter.for_each([&](const FeatureCount& entry, const char* name) {
      if (const auto id = before.known_feature(entry.hash)) {
        with[*id] += entry.samples;
      } else if (entry.samples >= options.min_count) {
        choice.chosen.push_back({entry.hash, entry.samples, name});
      } else {
        choice.to_bucket(entry.hash, entry.samples);
      }
    });
  }
  keep_most(options, old.hashes.size(), choice);
  parts.hashes = old.hashes;
  parts.feature_names = old.feature_names;
  for (std::size_t f = 0; f < old.hashes.size(); ++f)
    parts.weights.push_back(weight_of(options, parts.samples, with[f]));
  append_features(options, choice, parts);
}

}  // namespace slide
