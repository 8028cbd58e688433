// Warnings about data that are valid but probably misread: joined labels, a header taken for a sample, text
// in another encoding. Training, `slide inspect` and all other readers warn of the same. Pure functions, safe
// from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Adds warnings of a text in options.format, which is not kAuto, to `report`. Of labelled text and tables all
// bytes are checked to be UTF-8, of logs the first MiB; labels and columns are those of the first 1000 lines.
void add_text_warnings(const TextSource& source, const ReadOptions& options, ReadReport& report);

// Adds that each of the labels of training data, of three samples or more, occurs once, or of 50 and more
// nine in ten, or that all have the same one, unless `report` has a warning that may be the reason. O(n log
// n) for n labels of samples.
void add_label_warnings(const Dataset& train, const std::string& path, ReadReport& report);

// The same of a log of interactions without a user of two items, of which nothing but the number of users per
// item is learnt.
void add_log_warnings(const Dataset& train, const std::string& path, ReadReport& report);

// The same of samples to measure a model of `labels` labels by: that there is nothing to measure, because
// none has a label, or none of those that the model has. `log`: of interactions.
void add_measure_warnings(const Dataset& samples, std::uint64_t labels, bool log, const std::string& path,
                          ReadReport& report);

// That most of `ids` ids cannot occur, for there are far fewer entries in all samples; "" else. `what`:
// "label" or "feature".
std::string gap_warning(const char* what, std::uint64_t ids, std::uint64_t entries);

// Adds the same of labels of training data whose file does not say how many there are.
void add_gap_warning(const Dataset& train, const std::string& path, ReadReport& report);

}  // namespace slide
