#include "engine/run/truth.h"

#include <algorithm>
#include <utility>

#include "datasets/reader.h"
#include "engine/run/label_index.h"

namespace slide {

void add_warnings(const ReadReport& report, const TruthOptions& options) {
  if (options.report == nullptr) return;
  for (const std::string& warning : report.warnings) options.report->add_warning(warning);
}

Dataset read_warned(const std::string& path, ReadOptions reading, const TruthOptions& options) {
  ReadReport report;
  reading.report = &report;
  reading.threads = options.threads;
  Dataset rows = read_dataset(path, reading);
  add_warnings(report, options);
  return rows;
}

Dataset labels_of(DatasetArrays arrays, std::uint32_t labels) {
  arrays.feature_offsets = std::vector<std::uint64_t>(arrays.label_offsets.size());
  return {std::move(arrays), 0, labels};
}

// Renumbers the labels, by their names, to the ids of `index`; ids ascend in each row.
Dataset labels_by_index(const Dataset& rows, const TextModel& names, LabelIndex& index) {
  std::vector<std::uint32_t> ids(names.label_count());
  for (std::uint32_t label = 0; label < ids.size(); ++label)
    ids[label] = index.find_carried(names.label_name(label));
  DatasetArrays arrays;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::uint32_t label : rows.labels(i)) arrays.label_ids.push_back(ids[label]);
    std::sort(arrays.label_ids.begin() + static_cast<std::ptrdiff_t>(arrays.label_offsets.back()),
              arrays.label_ids.end());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return labels_of(std::move(arrays), static_cast<std::uint32_t>(index.names()));
}

}  // namespace slide
