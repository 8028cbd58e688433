// How sure measures are: intervals by drawing the samples anew, and a paired test of two predictors on the
// same samples.
//
// Both work on measures that are ratios of two sums over samples (Metrics::Ratio). Draws come from Rng
// streams of their own, one for each of the `count` rounds, so results depend on the seed alone. Functions
// are safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/inference/metrics.h"
#include "engine/inference/ranking.h"

namespace slide {

// What each sample adds to each measure.
struct SampleRatios {
  std::vector<std::string> names;      // of the measures
  std::vector<Metrics::Ratio> ratios;  // [samples, names]
  std::size_t samples() const { return names.empty() ? 0 : ratios.size() / names.size(); }
};

// Of the measures of `none`, as measured() takes it.
SampleRatios sample_ratios(const Ranking& ranking, const Dataset& truth, const Metrics& none, int threads);
// Adds f1_micro and f1_samples at a threshold (f1.h).
void add_f1(SampleRatios& ratios, const Dataset& scores, const Dataset& truth, float threshold);

struct Resampling {
  std::uint32_t count = 1000;  // rounds, at least 1
  std::uint64_t seed = 1;
  int threads = 0;
};

struct Interval {
  double low = 0, high = 0;
};

// For each measure the 2.5th and the 97.5th percentile over the rounds, in each of which as many samples are
// drawn as there are, with replacement (Efron and Tibshirani, "An introduction to the bootstrap", 1993,
// section 13.3). Percentiles between two rounds are interpolated.
std::vector<Interval> bootstrap(const SampleRatios& ratios, const Resampling& resampling);

struct Difference {
  double value = 0;  // the first less the second
  Interval interval;
  double p = 1;
};

// For each measure the difference of two predictors on the same samples, its interval as above, the same
// samples drawn for both, and the p-value of a two-sided paired randomisation test (Smucker, Allan,
// Carterette, "A comparison of statistical significance tests for information retrieval evaluation", CIKM
// 2007): in each round the two change places in a sample with probability 1/2, for a mean the same as if the
// sign of its difference was drawn; p is the share of rounds, with what was found as one of them, whose
// difference is as large. Throws Error where measures or numbers of samples differ.
std::vector<Difference> compare(const SampleRatios& first, const SampleRatios& second,
                                const Resampling& resampling);

}  // namespace slide
