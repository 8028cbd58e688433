// data.group and data.time: what samples for validation are chosen by. Safe to call from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/read_options.h"
#include "engine/config/config.h"

namespace slide {

// The two keys where they name files, which they do unless the data are tables, and columns then, or samples
// go by their order.
std::vector<std::string*> key_files(DataConfig& config);

// Names the columns where the data are tables.
void name_key_columns(const DataConfig& config, TableColumns& columns);

// Throws InputError where there is a file, whose lines would not hold where rows are left out.
void refuse_key_files(const DataConfig& config);

// The first training samples of `all` in data.train, with the groups and times that `config` names for them.
// `options`: how data.train is read. Throws InputError where they do not fit the samples.
Dataset with_sample_keys(const Dataset& first, std::size_t all, const DataConfig& config,
                         const ReadOptions& options);

// The same samples, with their order for times where `config` says so.
Dataset in_wanted_order(const Dataset& data, const DataConfig& config);

}  // namespace slide
