// Statistical uncertainty of metrics: bootstrap confidence intervals, and a paired significance test of two
// predictors on the same samples.
//
// Both work on metrics that are ratios of two sums over samples (Metrics::Ratio). Each of the `count` rounds
// uses its own Rng stream, so that results depend on the seed only. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/inference/metrics.h"
#include "engine/inference/ranking.h"
#include "engine/inference/thresholds.h"

namespace slide {

// Contribution of each sample to each metric.
struct SampleRatios {
  std::vector<std::string> names;      // of the metrics
  std::vector<Metrics::Ratio> ratios;  // [samples, names]
  std::size_t samples() const { return names.empty() ? 0 : ratios.size() / names.size(); }
};

// For the metrics of `empty`, as in measured().
SampleRatios sample_ratios(const Ranking& ranking, const Dataset& truth, const Metrics& empty, int threads);
// Appends f1_micro and f1_samples at thresholds (decisions.h).
void add_f1(SampleRatios& ratios, const Dataset& scores, const Dataset& truth, const Thresholds& thresholds);

struct Resampling {
  std::uint32_t count = 1000;  // rounds, at least 1
  std::uint64_t seed = 1;
  int threads = 0;
};

struct Interval {
  double low = 0, high = 0;
};

// Percentile bootstrap (Efron and Tibshirani, "An introduction to the bootstrap", 1993, section 13.3): for
// each metric the 2.5th and 97.5th percentile over rounds that each draw as many samples as there are, with
// replacement. Percentiles are interpolated between rounds.
std::vector<Interval> bootstrap(const SampleRatios& ratios, const Resampling& resampling);

struct Difference {
  double value = 0;  // first minus second
  Interval interval;
  double p = 1;
};

// For each metric, the difference of two predictors on the same samples, its bootstrap interval (same draws
// for both), and the p-value of a two-sided paired randomisation test (Smucker, Allan, Carterette, "A
// comparison of statistical significance tests for information retrieval evaluation", CIKM 2007): each round
// swaps the two predictors in each sample with probability 1/2; p is the share of rounds, the observed one
// included, with an absolute difference at least as large as the observed one. Throws Error where metrics or
// numbers of samples differ.
std::vector<Difference> compare(const SampleRatios& first, const SampleRatios& second,
                                const Resampling& resampling);

}  // namespace slide
