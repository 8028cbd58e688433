#include "engine/inference/resampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/inference/decisions.h"

namespace slide {

namespace {

using Ratio = Metrics::Ratio;

constexpr std::size_t kSamplesAtOnce = 1024;
constexpr double kLow = 0.025, kHigh = 0.975;
// Tolerance: sums of the same numbers in another order differ by less, for metrics up to 1.
constexpr double kTolerance = 1e-12;

// Rng stream numbers: bootstrap draws, swaps.
constexpr std::uint64_t kDraws = 0, kSwaps = 1;

void add(std::span<Ratio> sums, const Ratio* ratios) {
  for (std::size_t m = 0; m < sums.size(); ++m) {
    sums[m].sum += ratios[m].sum;
    sums[m].over += ratios[m].over;
  }
}

const Ratio* row_of(const SampleRatios& ratios, std::size_t sample) {
  return ratios.ratios.data() + sample * ratios.names.size();
}

// Values of `metrics` metrics in each round, [metrics, rounds], computed by round(r, values).
std::vector<double> rounds_of(std::size_t metrics, const Resampling& resampling,
                              const std::function<void(std::size_t, std::span<double>)>& round) {
  std::vector<double> values(metrics * resampling.count);
  parallel_for(resampling.count, resolve_threads(resampling.threads), [&](std::size_t r, int) {
    std::vector<double> found(metrics);
    round(r, found);
    for (std::size_t m = 0; m < metrics; ++m) values[m * resampling.count + r] = found[m];
  });
  return values;
}

double percentile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<Interval> intervals_of(std::vector<double> values, std::size_t rounds) {
  std::vector<Interval> intervals(values.size() / rounds);
  for (std::size_t m = 0; m < intervals.size(); ++m) {
    const auto all = std::span(values).subspan(m * rounds, rounds);
    std::ranges::sort(all);
    intervals[m] = {percentile(all, kLow), percentile(all, kHigh)};
  }
  return intervals;
}

// Bootstrap: metrics, or their differences, over samples drawn with replacement.
void draw_samples(const SampleRatios& first, const SampleRatios* second, Rng rng, std::span<double> values) {
  std::vector<Ratio> sums(values.size()), others(values.size());
  const auto samples = static_cast<std::uint32_t>(first.samples());
  for (std::uint32_t i = 0; i < samples; ++i) {
    const std::uint32_t drawn = rng.below(samples);
    add(sums, row_of(first, drawn));
    if (second != nullptr) add(others, row_of(*second, drawn));
  }
  for (std::size_t m = 0; m < values.size(); ++m)
    values[m] = sums[m].value() - (second == nullptr ? 0.0 : others[m].value());
}

// Randomisation test: differences after swapping the two predictors in about half of the samples.
void swap_predictors(const SampleRatios& first, const SampleRatios& second, Rng rng,
                     std::span<double> values) {
  std::vector<Ratio> sums(values.size()), others(values.size());
  for (std::size_t i = 0; i < first.samples(); ++i) {
    const bool swapped = (rng.next() >> 63) != 0;
    add(sums, row_of(swapped ? second : first, i));
    add(others, row_of(swapped ? first : second, i));
  }
  for (std::size_t m = 0; m < values.size(); ++m) values[m] = sums[m].value() - others[m].value();
}

std::vector<double> totals(const SampleRatios& ratios) {
  std::vector<Ratio> sums(ratios.names.size());
  for (std::size_t i = 0; i < ratios.samples(); ++i) add(sums, row_of(ratios, i));
  std::vector<double> values;
  for (const Ratio& sum : sums) values.push_back(sum.value());
  return values;
}

}  // namespace

// ratios [samples x metrics]: the metrics of each sample alone, as numerators and denominators.
SampleRatios sample_ratios(const Ranking& ranking, const Dataset& truth, const Metrics& empty, int threads) {
  SampleRatios result;
  result.names = empty.names();
  const std::size_t metrics = result.names.size();
  result.ratios.resize(truth.size() * metrics);
  const std::size_t parts = (truth.size() + kSamplesAtOnce - 1) / kSamplesAtOnce;
  parallel_for(parts, resolve_threads(threads), [&](std::size_t part, int) {
    std::vector<Ratio> ratios;
    const std::size_t end = std::min(truth.size(), (part + 1) * kSamplesAtOnce);
    for (std::size_t sample = part * kSamplesAtOnce; sample < end; ++sample) {
      Metrics one = empty;
      one.add(ranking[sample], truth.labels(sample));
      ratios.clear();
      one.append_ratios(ratios);
      std::ranges::copy(ratios, result.ratios.begin() + static_cast<std::ptrdiff_t>(sample * metrics));
    }
  });
  return result;
}

// Appends two metrics to each row of ratios: F1 over all pairs, 2 hits / (predicted + true), and the sample's
// own F1.
void add_f1(SampleRatios& ratios, const Dataset& scores, const Dataset& truth, const Thresholds& thresholds) {
  std::vector<Ratio> all;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    all.insert(all.end(), row_of(ratios, i), row_of(ratios, i) + ratios.names.size());
    const DecisionCounts counts = decided(scores, truth, i, thresholds);
    all.push_back(
        {2.0 * static_cast<double>(counts.hits), static_cast<double>(counts.predicted + counts.positives)});
    all.push_back({counts.rates().f1, 1.0});
  }
  ratios.names.insert(ratios.names.end(), {"f1_micro", "f1_samples"});
  ratios.ratios = std::move(all);
}

std::vector<Interval> bootstrap(const SampleRatios& ratios, const Resampling& resampling) {
  if (ratios.samples() == 0) return std::vector<Interval>(ratios.names.size());
  const auto round = [&](std::size_t r, std::span<double> values) {
    draw_samples(ratios, nullptr, Rng(resampling.seed, Purpose::kResampling, kDraws, r), values);
  };
  return intervals_of(rounds_of(ratios.names.size(), resampling, round), resampling.count);
}

// Intervals by bootstrap; p by an approximate randomization test: the share of rounds, each swapping the
// predictors of random samples, whose difference is at least as large, with 1 added to both counts.
std::vector<Difference> compare(const SampleRatios& first, const SampleRatios& second,
                                const Resampling& resampling) {
  if (first.names != second.names || first.samples() != second.samples())
    throw Error("measures of different samples or kinds cannot be compared");
  const std::size_t metrics = first.names.size(), rounds = resampling.count;
  std::vector<Difference> differences(metrics);
  if (first.samples() == 0) return differences;
  const auto draw = [&](std::size_t r, std::span<double> values) {
    draw_samples(first, &second, Rng(resampling.seed, Purpose::kResampling, kDraws, r), values);
  };
  const std::vector<Interval> intervals = intervals_of(rounds_of(metrics, resampling, draw), rounds);
  const auto swap = [&](std::size_t r, std::span<double> values) {
    swap_predictors(first, second, Rng(resampling.seed, Purpose::kResampling, kSwaps, r), values);
  };
  const std::vector<double> swapped = rounds_of(metrics, resampling, swap);
  const std::vector<double> one = totals(first), two = totals(second);
  for (std::size_t m = 0; m < metrics; ++m) {
    const double found = one[m] - two[m];
    const auto as_large = std::ranges::count_if(
        std::span(swapped).subspan(m * rounds, rounds),
        [&](double difference) { return std::abs(difference) >= std::abs(found) - kTolerance; });
    differences[m] = {found, intervals[m],
                      static_cast<double>(1 + as_large) / static_cast<double>(1 + rounds)};
  }
  return differences;
}

}  // namespace slide
