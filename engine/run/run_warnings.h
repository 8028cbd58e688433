// Checks of a run's data after they are read: errors and warnings. Safe from any thread, for different data.
#pragma once

#include <string>

#include "datasets/text/text_model.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Throws InputError where data.label_separator is set, but data.train has no column of labels: it is neither
// a table nor lines LABELS<TAB>TEXT. `text`: the text model of data.train, or nullptr.
void check_separator(const DataConfig& config, const TextModel* text);

// Throws InputError for "-", which is no file to train on or to evaluate while training.
void refuse_standard_input(const std::string& file);

// Returns a warning where the evaluation samples at `path` are in a file that training reads by `config`. ""
// where they are not, for logs, whose items are held out, and where data.train_first or data.test_last
// separates them.
std::string training_file_warning(const std::string& path, const DataConfig& config);

// Returns a warning where the header of XMC text at `path` has fewer features or labels than a model: the
// file is probably of another data set. "" for other files and pipes. unknown.h counts ids beyond those of a
// model.
std::string header_warning(const std::string& path, std::size_t features, std::size_t labels);

// Appends to the reports of `data` the warnings that need all samples: training data without repeated labels,
// interactions with one item a user, and test or validation data without known labels, or mostly with
// unknown ones.
void add_warnings(const DataConfig& config, RunData& data);

}  // namespace slide
