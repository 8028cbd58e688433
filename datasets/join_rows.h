// Puts the rows of several data sets one behind the other. Functions are safe to call from any thread.
#pragma once

#include <string>
#include <vector>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

// The format of all parts of a data set, read by `options`: that which they say, else that of the first part,
// or kAuto where it does not tell. Throws InputError where another part has another one, and for parts that
// cannot be joined: dense features, pipes and what is not there.
DataFormat format_of_parts(const std::vector<std::string>& parts, const ReadOptions& options);

// Puts the samples of all into `sink`, taking each once it is there. None has dense columns.
void join_rows(std::vector<Dataset> parts, CsrSink& sink, int threads);

// The same in memory; as many features and labels as the largest of them has.
Dataset joined_rows(std::vector<Dataset> parts, int threads);

}  // namespace slide
