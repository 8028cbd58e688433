// Groups and times of samples (data.group, data.time), by which validation and test samples are chosen. Safe
// from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// Pointers to data.group and data.time, where they name files, not columns or the order of the samples.
std::vector<std::string*> key_files(DataConfig& config);

// Sets the group and time columns of `columns`, where the data are tables.
void name_key_columns(const DataConfig& config, TableColumns& columns);

// For --skip-bad. Throws InputError where a key names a file: its lines would not match after a skipped row.
void refuse_key_files(const DataConfig& config);

// Adds the groups and times that `config` names to `first`, the first training samples among `all` in
// data.train. `options`: of reading data.train. Throws InputError where they do not match the samples.
Dataset with_sample_keys(const Dataset& first, std::size_t all, const DataConfig& config,
                         const ReadOptions& options);

// Moves the samples of run.train whose time is data.test_after or later into run.test. `options`: of reading
// data.train. Throws InputError where samples have no times, or one of the two sets would be empty.
void split_test_by_time(const DataConfig& config, const ReadOptions& options, RunData& run);

// `data`, with the order of the samples as their times where data.time says so.
Dataset with_configured_order(const Dataset& data, const DataConfig& config);

}  // namespace slide
