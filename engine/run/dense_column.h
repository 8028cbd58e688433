// Dense features in a column of JSON lines (data.dense). Safe from any thread.
#pragma once

#include <string>

#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// What data.dense is for training on data.train: as it is set, else the column that is found in the file, or
// empty. Throws InputError where it is set for other data.
std::string dense_column(const DataConfig& config);

// The name in data.dense; empty: there is none.
std::string dense_column_name(const DataConfig& config);

// Says in notes and warnings of a run which column is read, or why none is.
void note_dense_column(const DataConfig& config, RunData& data);

}  // namespace slide
