// `slide inspect DATA`: how data are read.
#pragma once

#include "engine/run/data_look.h"

namespace slide::cli {

// Prints what was read of data.train, a line a subject.
void print_data_look(const DataLook& look);

}  // namespace slide::cli
