// Items of the users of a log of interactions, as labels to evaluate scores by. Safe from any thread, with
// different LabelIndex objects.
#pragma once

#include <string>

#include "datasets/rows/dataset.h"
#include "engine/run/label_index.h"
#include "engine/run/truth.h"

namespace slide {

// Labels are all items of each user, by name. Rows stand in the order of the users' names. Throws InputError.
Dataset read_log_items(const std::string& path, const TruthOptions& options, LabelIndex& index);

// Labels are the items that a user does not have in options.known, if that is given. Throws InputError.
Truth read_log_truth(const std::string& path, const TruthOptions& options, LabelIndex& index);

}  // namespace slide
