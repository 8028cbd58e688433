// `slide inspect DATA`: how data are read.
#pragma once

#include "engine/config/config.h"
#include "engine/run/data_look.h"

namespace slide::cli {

// Prints what was read of data.train, a line a subject.
void print_data_look(const DataLook& look);

// Prints the labels of the samples that data.train names, by falling number of samples. Throws InputError
// where it names none, and with `strict` for a warning.
struct LabelList {
  int threads;
  bool strict, json;
};
void list_labels(Config config, const LabelList& wanted);

}  // namespace slide::cli
