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

// Draws `share` of the samples that have labels for validation, at most `most` and at least one, by `seed`;
// all other samples are for training, in file order, and behind them all texts of labels. Splits of one seed
// and another `fold`, from 0, share no sample for validation as long as (fold + 1) * share <= 1. Throws
// InputError when less than two samples have labels.
Split split_dataset(const Dataset& data, double share, std::size_t most, std::uint64_t seed,
                    std::size_t fold = 0);

}  // namespace slide
