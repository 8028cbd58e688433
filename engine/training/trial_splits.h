// Splits of the samples for a hyperparameter search: samples to train trials on, to score them on, and to
// decide at the end between the best trial and the start.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/inference/resampling.h"

namespace slide {

struct TrialSplit {
  Dataset train;
  Dataset validation;  // score trials
  Dataset decision;    // further held-out samples, which choose no trial; may be empty
};

// Splits of a search: one, or where that would hold out fewer than 5,000 samples, up to five with disjoint
// held-out samples. Held out are 15 % of the samples with labels, 10,000 at most, as split_dataset() chooses
// them, or the samples of a validation file. Half of the held-out samples, chosen by the same rule, are
// decision samples.
//
// Samples without groups and times are held out at random, unless they stand in an order that matters
// (statistics/file_order.h): then the last samples are held out, as future samples will follow them. Where
// more than half of the labels of the last samples occur nowhere before, the file is sorted by label, and
// held-out samples are random again. data.time = none skips this test.
struct TrialSplits {
  std::vector<TrialSplit> folds;
  std::string chosen_by;  // split_rule(), or "file"
  std::string note;       // on the order of the samples, one line; empty without a finding
};

// Throws InputError when the data are too few to split.
TrialSplits trial_splits(const Config& start, const Dataset& data, const std::optional<Dataset>& validation,
                         int threads);

// The decision between two trials, by their scores on the decision samples.
class TrialDecision {
 public:
  explicit TrialDecision(std::span<const TrialSplit> folds);

  std::size_t samples() const { return unit_.size(); }

  // The difference of two trials' scores, each with one score per decision sample in order of the folds, with
  // interval and p-value of compare() in resampling.h. Units are resampled: single samples, all samples of a
  // group, or, where samples have times, 50 batches of successive samples, as adjacent samples are not
  // independent (batch means: Law, Kelton, "Simulation modeling and analysis", chapter 9).
  Difference compare(std::span<const float> first, std::span<const float> second,
                     const Resampling& resampling) const;

 private:
  std::vector<std::uint32_t> unit_;  // by decision sample
  std::size_t units_ = 0;
};

}  // namespace slide
