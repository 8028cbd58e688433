// Dense features in a column of JSON lines (data.dense). Safe from any thread.
#pragma once

#include <string>

#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Effective value of data.dense for training on data.train: as configured, else the column found in the
// file; empty without one. Throws InputError where it is configured for data without columns.
std::string dense_column(const DataConfig& config);

// The name in data.dense; empty: there is none.
std::string dense_column_name(const DataConfig& config);

// Says in notes and warnings of a run which column is read, or why none is.
void note_dense_column(const DataConfig& config, RunData& data);

}  // namespace slide
