// Groups and times of samples (data.group, data.time), for splits into training, validation and test samples.
// Safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Returns pointers to data.group and data.time, each only where it names a file (not a column or the order of
// the samples).
std::vector<std::string*> key_files(DataConfig& config);

// Sets the group and time columns of `columns`, where the data are tables.
void name_key_columns(const DataConfig& config, TableColumns& columns);

// For --skip-bad: throws InputError where data.group or data.time names a file, whose lines would not match
// the samples after a skipped row.
void refuse_key_files(const DataConfig& config);

// Returns `first`, the first samples of data.train, with the groups and times that `config` names. `all`:
// number of samples of data.train. `options`: of reading data.train. Throws InputError where the groups or
// times do not match the samples.
Dataset with_sample_keys(const Dataset& first, std::size_t all, const DataConfig& config,
                         const ReadOptions& options);

// Moves the samples of run.train whose time is data.test_after or later into run.test. `options`: of reading
// data.train. Throws InputError where samples have no times, or one of the two sets would be empty.
void split_test_by_time(const DataConfig& config, const ReadOptions& options, RunData& run);

// Returns `data`; where data.time is the order of the samples, with positions as times.
Dataset with_configured_order(const Dataset& data, const DataConfig& config);

}  // namespace slide
