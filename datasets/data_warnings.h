// Warnings about data that are valid but probably misread: joined labels, a header taken for a sample, text
// in another encoding. Training, `slide inspect` and all other readers give the same warnings. Pure
// functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Adds warnings of a text in options.format, which is not kAuto, to `report`. Checks for UTF-8 all bytes of
// labelled text and tables, and the first MiB of logs. Checks labels and columns in the first 1000 lines.
void add_text_warnings(const TextSource& source, const ReadOptions& options, ReadReport& report);

// Adds a warning where the labels of three or more training samples all occur once, where nine in ten of 50
// or more labels occur once, or where all samples have the same single label. Adds none where `report` has a
// warning already, which may be the reason. O(n log n) for n labels of samples.
void add_label_warnings(const Dataset& train, const std::string& path, ReadReport& report);

// Adds a warning where no user of a log has two items: such a log teaches only the number of users per item.
void add_log_warnings(const Dataset& train, const std::string& path, ReadReport& report);

// Adds a warning where there is nothing to measure: no sample has a label, or none has one of the `labels`
// labels of the model. `log`: samples are users of an interaction log.
void add_measure_warnings(const Dataset& samples, std::uint64_t labels, bool log, const std::string& path,
                          ReadReport& report);

// A warning where most of `ids` ids cannot occur, because all samples together have far fewer entries; else
// "". `what`: "label" or "feature".
std::string gap_warning(const char* what, std::uint64_t ids, std::uint64_t entries);

// Adds gap_warning() for the labels of training data whose file does not state the number of labels.
void add_gap_warning(const Dataset& train, const std::string& path, ReadReport& report);

}  // namespace slide
