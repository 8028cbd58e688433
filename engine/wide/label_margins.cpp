#include "engine/wide/label_margins.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/statistics/label_sums.h"

namespace slide {

namespace {

constexpr std::size_t kLabels = 256;  // labels of one task

// Mean over the label's samples of <s, x> / |s| - <s - x, x> / |s - x|; `sum` is the label's. The mean of the
// first term is |s| / n.
double own_share(const Dataset& train, const FeatureScale& scale, std::span<const std::uint32_t> samples,
                 LabelSums::Sum& sum) {
  if (samples.empty() || sum.square <= 0.0) return 0.0;
  double to_others = 0.0;
  for (const std::uint32_t sample : samples) {
    sum.scaled.clear();
    const SparseRow row = scale.scaled(train.features(sample), sum.scaled);
    to_others += similarity_to_others(row, sum, samples.size());
  }
  return (std::sqrt(sum.square) - to_others) / double(samples.size());
}

}  // namespace

// Label by label: its sum, then the mean over its samples.
std::vector<float> label_margins(const Dataset& train, std::size_t labels, const FeatureScale& scale,
                                 double length, int threads) {
  const LabelSums sums(train, labels, scale);
  std::vector<LabelSums::Sum> sum_of_thread;
  for (int t = 0; t < threads; ++t) sum_of_thread.push_back(sums.make_sum());
  std::vector<float> margins(labels);
  parallel_for((labels + kLabels - 1) / kLabels, threads, [&](std::size_t task, int thread) {
    LabelSums::Sum& sum = sum_of_thread[static_cast<std::size_t>(thread)];
    for (std::size_t l = task * kLabels; l < std::min(labels, (task + 1) * kLabels); ++l) {
      sums.add_up(l, sum);
      margins[l] = static_cast<float>(length * own_share(train, scale, sums.samples(l), sum));
    }
  });
  return margins;
}

}  // namespace slide
