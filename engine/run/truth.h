// True labels to evaluate scores by, and the options for reading them from files. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/text_model.h"

namespace slide {

// How to read the true labels of data.
struct TruthOptions {
  std::optional<DataFormat> format = {};  // none: from the content
  TableColumns columns = {};
  LogOptions log = {};     // of interactions
  std::string known = {};  // interactions: log of the items that users have, which are no labels; or empty
  int threads = 0;
  ReadReport* report = nullptr;  // receives warnings, after those it has
};

// The samples that a file of scores must be of.
struct ScoredRows {
  std::size_t samples = 0;
  std::vector<std::uint64_t> blank = {};  // blank lines of the data, by number among all lines (blank_rows.h)
  // Interactions: the user of each row, whom scores name; else nullptr.
  std::shared_ptr<const NameList> users = nullptr;
  ReadReport* report = nullptr;  // receives a warning where scores of other users are left out
};

// Samples with their labels.
struct Truth {
  Dataset labels;
  ScoredRows rows;
};

class LabelIndex;

// Adds the warnings to options.report, if there is one.
void add_warnings(const ReadReport& report, const TruthOptions& options);
// read_dataset() with its warnings in options.report. Throws InputError.
Dataset read_warned(const std::string& path, ReadOptions reading, const TruthOptions& options);
// Rows of labels alone.
Dataset labels_of(DatasetArrays arrays, std::uint32_t labels);
// Renumbers the labels of `rows` by name, from ids of `names` to ids of `index`; names that the index lacks
// are added to it. O(n log n) a row.
Dataset labels_by_index(const Dataset& rows, const TextModel& names, LabelIndex& index);

}  // namespace slide
