// What the data of a run are warned of, and refused for, once they are read. Safe to call from any thread.
#pragma once

#include "datasets/text/text_model.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Throws InputError where labels have no separator that could be another than a comma. `text`: of data.train,
// or nullptr.
void check_separator(const DataConfig& config, const TextModel* text);

// Adds to the reports of `data`, training data as read and what it is measured by, what is seen of all
// samples.
void add_warnings(const DataConfig& config, RunData& data);

}  // namespace slide
