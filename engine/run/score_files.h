// Reads external scores, and the true labels to evaluate them, from files. Functions are safe from any
// thread, with different LabelIndex objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/run/label_index.h"
#include "engine/run/truth.h"

namespace slide {

// Options from the keys of [data] that say how files are read.
TruthOptions truth_options(const DataConfig& data);

// The labels of a data file, in any format that can be read, or labels alone: a matrix of SciPy in an .npz,
// or what read_labels() of label_lists.h takes in an .npy, whose name does not begin with X. Labels without a
// name or a score are kept: they count as missed. The first file that is read with an index says whether
// labels have names; data with a header, and matrices, how many labels there are. For interactions, the
// labels of a sample are all items of its user. The result has no features. Throws InputError.
Dataset read_labels(const std::string& path, const TruthOptions& options, LabelIndex& index);

// Reads the labels of the samples that scores are for. For interactions, as in `slide test`, the labels of a
// user are its items that it does not have in options.known.
Truth read_truth(const std::string& path, const TruthOptions& options, LabelIndex& index);

// Scores as features (ranking.h), a row a sample, from a matrix of SciPy in .npz or text with a sample a
// line, as `slide predict` prints it: `label:score` separated by blanks, or where labels have names
// `name:score` separated by tabs, or objects of JSON. A matrix may name its columns (`labels`). Rows of
// interactions name their users (in a matrix: its member `users`), in any order, each once. Rows of users
// that are not in `rows` are left out and counted in rows.report. "-" is standard input. Rows of blank lines
// are left out where there are such. Throws InputError for another number of rows than samples, with or
// without those, and with line and column for anything else at fault: a label twice, unknown or out of range,
// a score that is not finite. `order`, unless nullptr, gets for each entry its place among equal scores of
// its row.
Dataset read_scores(const std::string& path, const ScoredRows& rows, LabelIndex& index,
                    std::vector<std::uint32_t>* order = nullptr);

}  // namespace slide
