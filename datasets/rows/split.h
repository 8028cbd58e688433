// Splits a data set into disjoint training and validation parts. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datasets/rows/dataset.h"

namespace slide {

// Copies the rows `samples` of `data`, in this order. Label texts, the rows from data.samples() on, must come
// last among them.
Dataset copy_rows(const Dataset& data, std::span<const std::uint32_t> samples);

struct Split {
  Dataset train;
  Dataset validation;
};

// Takes `share` of the labelled samples for validation, at least one and at most `limit`; all other samples
// are for training, in file order, followed by all label texts.
// - Without keys (SampleKeys), samples are drawn by `seed`. Different folds of one seed, from 0, have
//   disjoint validation parts while (fold + 1) * share <= 1.
// - With groups, labelled samples of one group are on one side. Groups are drawn by `seed`; the share is met
//   up to half a group. Each group is in the validation part of at most one fold; a fold without remaining
//   groups has an empty validation part.
// - With times, the latest samples are taken, ties by later position. Validation parts of folds after the
//   first are empty.
// - With both, groups are ordered by their latest times, and the number of latest groups that comes nearest
//   to the share is taken.
// Throws InputError where fewer than two samples have labels, and where groups are so large that fold 0 would
// have an empty side. `origin` names the data in messages.
Split split_dataset(const Dataset& data, double share, std::size_t limit, std::uint64_t seed,
                    std::size_t fold = 0, const std::string& origin = "the data");

// Rule of split_dataset() for these samples, for messages: "random", "group", "time", "order", "group and
// time" or "group and order".
const char* split_rule(const Dataset& data);

}  // namespace slide
