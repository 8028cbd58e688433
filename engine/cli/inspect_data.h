// `slide inspect DATA`: how data are read.
#pragma once

#include <string>

#include "engine/config/config.h"
#include "engine/run/data_look.h"
#include "engine/training/memory_plan.h"

namespace slide::cli {

// ", of the column 'NAME'", or nothing for no name.
std::string of_column(const std::string& name);
// Number and column of a model's dense features, for print_model(). `columns` > 0.
std::string dense_text(std::size_t columns, const DataConfig& config);

// Prints the facts of data.train, a line for each, the most important first.
void print_data_look(const DataLook& look);

// Prints the memory and settings of training by a configuration. Together with print_data_look() it fits a
// screen of 80 by 24 characters.
void print_short_plan(const std::string& configuration, const MemoryPlan& plan);

// Prints the labels of the samples that data.train names, by falling number of samples. Throws InputError
// where it names none, and with `strict` for a warning.
struct LabelList {
  int threads;
  bool strict, json;
};
void list_labels(Config config, const LabelList& wanted);

}  // namespace slide::cli
