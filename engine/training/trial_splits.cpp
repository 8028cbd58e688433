#include "engine/training/trial_splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "datasets/rows/data_parts.h"
#include "datasets/rows/split.h"
#include "datasets/sidecar/sample_keys.h"
#include "engine/base/error.h"
#include "engine/statistics/file_order.h"

namespace slide {

namespace {

constexpr double kValidationShare = 0.15, kDecisionShare = 0.5;
constexpr std::size_t kMaxValidation = 10000;
constexpr std::size_t kEnoughValidation = 5000;  // scores of fewer depend too much on chance: more folds
constexpr std::size_t kMaxFolds = 5;
constexpr double kMaxUnseen = 0.5;  // share of the last samples' labels that occur nowhere before
constexpr std::uint32_t kBatches = 50;

bool has_keys(const Dataset& data) {
  const SampleKeys* keys = data.keys().get();
  return keys != nullptr && !(keys->groups.empty() && keys->times.empty());
}

// Whether the held-out samples have labels mostly that no training sample has.
bool is_sorted_by_label(const Split& split) {
  const std::vector<std::uint32_t> known = split.train.label_frequencies();
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < split.validation.samples(); ++i) {
    unseen += static_cast<std::size_t>(std::ranges::count_if(
        split.validation.labels(i), [&](std::uint32_t label) { return known[label] == 0; }));
  }
  return static_cast<double>(unseen) > kMaxUnseen * static_cast<double>(split.validation.label_entries());
}

// Splits with disjoint held-out samples, until these are kEnoughValidation or the folds kMaxFolds.
std::vector<Split> folds_of(const Config& start, const Dataset& data) {
  std::vector<Split> folds;
  for (std::size_t held = 0; held < kEnoughValidation && folds.size() < kMaxFolds;) {
    Split fold = split_dataset(data, kValidationShare, kMaxValidation, start.train.seed, folds.size(),
                               shown_path(start.data.train));
    if (fold.validation.samples() == 0) break;  // there are no more
    folds.push_back(std::move(fold));
    held += folds.back().validation.size();
  }
  return folds;
}

std::string order_note(const FileOrder& order, bool by_label) {
  const char* const what = order.labels && order.features ? "labels and features change"
                           : order.labels                 ? "labels change"
                                                          : "features change";
  if (by_label) {
    return fmt::format(
        "{} along the training samples, which are sorted by label: trials are scored on random samples",
        what);
  }
  return fmt::format(
      "{} along the training samples: trials are scored on the last of them; data.time=none chooses at "
      "random",
      what);
}

// Halves the held-out samples into validation and decision samples. All are for validation where a half would
// be empty.
TrialSplit halved(Split fold, std::uint64_t seed) {
  try {
    Split halves = split_dataset(fold.validation, kDecisionShare, fold.validation.size(), seed);
    return {std::move(fold.train), std::move(halves.train), std::move(halves.validation)};
  } catch (const InputError&) {
    return {std::move(fold.train), std::move(fold.validation), {}};
  }
}

}  // namespace

// A validation file; else the last samples of an ordered file; else random samples (or by groups and times).
TrialSplits trial_splits(const Config& start, const Dataset& data, const std::optional<Dataset>& validation,
                         int threads) {
  TrialSplits splits;
  splits.chosen_by = validation ? "file" : split_rule(data);
  std::vector<Split> folds;
  if (validation) {
    folds.push_back({data, *validation});
  } else if (!has_keys(data) && start.data.time != kNoTime) {
    if (const FileOrder order = order_of_file(data, start.train.seed, threads); order.matters()) {
      const Dataset ordered = with_file_order(data);
      folds = folds_of(start, ordered);
      const bool by_label = is_sorted_by_label(folds.front());
      splits.note = order_note(order, by_label);
      by_label ? folds.clear() : void(splits.chosen_by = split_rule(ordered));
    }
  }
  if (folds.empty()) folds = folds_of(start, data);
  for (Split& fold : folds) splits.folds.push_back(halved(std::move(fold), start.train.seed));
  return splits;
}

// Sets the unit of each decision sample: its group, its batch by time, or itself.
TrialDecision::TrialDecision(std::span<const TrialSplit> folds) {
  for (const TrialSplit& fold : folds) {
    const auto first = static_cast<std::uint32_t>(unit_.size());
    const auto samples = static_cast<std::uint32_t>(fold.decision.samples());
    const SampleKeys* keys = fold.decision.keys().get();
    unit_.resize(first + samples);
    const auto units = std::span(unit_).subspan(first);
    std::iota(units.begin(), units.end(), first);
    if (keys != nullptr && !keys->groups.empty()) {
      std::ranges::copy(keys->groups, units.begin());
    } else if (keys != nullptr && !keys->times.empty()) {
      std::vector<std::uint32_t> order(samples);
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return keys->times[i]; });
      for (std::uint64_t place = 0; place < samples; ++place)
        units[order[place]] = static_cast<std::uint32_t>(place * std::min(kBatches, samples) / samples);
    }
  }
  if (!unit_.empty()) units_ = std::size_t{std::ranges::max(unit_)} + 1;
}

// Sums the scores by unit, then compares the means over samples by resampling units.
Difference TrialDecision::compare(std::span<const float> first, std::span<const float> second,
                                  const Resampling& resampling) const {
  if (first.size() != samples() || second.size() != samples())
    throw Error("scores of other samples than those of the decision");
  if (unit_.empty()) return {};
  const auto by_unit = [&](std::span<const float> scores) {
    SampleRatios ratios{{"score"}, std::vector<Metrics::Ratio>(units_)};
    for (std::size_t i = 0; i < scores.size(); ++i) {
      Metrics::Ratio& unit = ratios.ratios[unit_[i]];
      unit.sum += static_cast<double>(scores[i]);
      unit.over += 1.0;
    }
    std::erase_if(ratios.ratios, [](const Metrics::Ratio& unit) { return unit.over == 0.0; });
    return ratios;
  };
  return slide::compare(by_unit(first), by_unit(second), resampling).front();
}

}  // namespace slide
