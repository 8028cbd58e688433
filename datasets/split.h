// Parts of a data set as data sets of their own: a training part and a validation part that share no sample.
// Pure functions of their arguments, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datasets/dataset.h"

namespace slide {

// A copy of the rows `samples` of `data`, in this order, texts of labels behind the others.
Dataset copy_rows(const Dataset& data, std::span<const std::uint32_t> samples);

struct Split {
  Dataset train;
  Dataset validation;
};

// Takes `share` of the samples that have labels for validation, at most `most` and at least one; all other
// samples are for training, in file order, and behind them all texts of labels. Throws InputError when less
// than two samples have labels.
// - Without keys (SampleKeys) they are drawn by `seed`. Splits of one seed and another `fold`, from 0, share
//   no sample for validation as long as (fold + 1) * share <= 1.
// - With groups, samples of one group that have labels are on one side. Groups are drawn by `seed`, so that
//   the share is met but for half a group at most; no two folds have one for validation, and a fold for which
//   none is left has an empty validation part.
// - With times the latest samples are taken, of equal times the last. Validation parts of folds after the
//   first are empty.
// - With both, groups are in the order of their latest times, and those are taken which come nearest.
// Throws InputError where groups are so large that fold 0 would have no samples on one side. `origin` stands
// for the name of the data in messages.
Split split_dataset(const Dataset& data, double share, std::size_t most, std::uint64_t seed,
                    std::size_t fold = 0, const std::string& origin = "the data");

// How split_dataset() chooses among these samples, for people: "random", "group", "time", "order", "group and
// time" or "group and order".
const char* split_rule(const Dataset& data);

}  // namespace slide
