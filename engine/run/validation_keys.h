// Groups and times of samples for the choice of validation samples (data.group, data.time). Safe from any
// thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "engine/config/config.h"
#include "engine/run/run_sets.h"

namespace slide {

// The two keys where they name files: neither columns of tables nor the order of the samples.
std::vector<std::string*> key_files(DataConfig& config);

// Names the columns, where the data are tables.
void name_key_columns(const DataConfig& config, TableColumns& columns);

// Throws InputError where a key names a file, whose lines would not match after skipped rows.
void refuse_key_files(const DataConfig& config);

// Adds the groups and times that `config` names to `first`, the first training samples among `all` in
// data.train. `options`: of reading data.train. Throws InputError where they do not match the samples.
Dataset with_sample_keys(const Dataset& first, std::size_t all, const DataConfig& config,
                         const ReadOptions& options);

// Moves the samples from data.test_after on into the test. `options`: of reading data.train. Throws
// InputError where none or all are.
void hold_later_out(const DataConfig& config, const ReadOptions& options, RunData& run);

// The same samples, with their order as times where `config` says so.
Dataset in_wanted_order(const Dataset& data, const DataConfig& config);

}  // namespace slide
