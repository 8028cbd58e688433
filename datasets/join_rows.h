// Concatenation of data sets. Functions are safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Common format of all parts of a data set: options.format, else the format of the first part, or kAuto where
// that is unclear. Throws InputError where another part has another format, and for parts that cannot be
// joined: dense features, pipes, missing files.
DataFormat format_of_parts(const std::vector<std::string>& parts, const ReadOptions& options);

// Writes all samples to `sink`; releases each part after copying it. All parts have equally many dense
// columns.
void join_rows(std::vector<Dataset> parts, CsrSink& sink, int threads);

// The same in memory, without dense columns; numbers of features and labels are the maxima over the parts.
Dataset joined_rows(std::vector<Dataset> parts, int threads);

}  // namespace slide
