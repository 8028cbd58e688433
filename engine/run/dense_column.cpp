#include "engine/run/dense_column.h"

#include <fmt/format.h>

#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/rows/data_parts.h"
#include "datasets/text/table.h"
#include "datasets/text/vector_columns.h"
#include "engine/base/error.h"

namespace slide {

namespace {

// The columns with vectors in the training file, where it is JSON Lines and data.dense is not set; else
// empty.
VectorColumns look(const DataConfig& config) {
  const bool open = config.format == DataFormat::kAuto || config.format == DataFormat::kJsonl;
  if (!open || !config.dense.empty() || config.text.empty() || config.train.empty()) return {};
  if (dense_paths(config.train)) return {};
  const std::string head = head_of_file(config.train);
  TableColumns columns{config.text, config.labels, config.label_separator, config.weight};
  columns.group = config.group;
  columns.time = config.time;
  if (detect_table(head, columns) != DataFormat::kJsonl) return {};
  return find_vector_columns(head, columns);
}

}  // namespace

std::string dense_column(const DataConfig& config) {
  if (!dense_column_name(config).empty() && dense_paths(config.train)) {
    fail_input("data.dense = {} names a column of dense features, and {} has such in a file; leave one out",
               config.dense, shown_path(config.train));
  }
  return config.dense.empty() ? look(config).found : config.dense;
}

std::string dense_column_name(const DataConfig& config) {
  return config.dense == kNoColumn ? std::string() : config.dense;
}

void note_dense_column(const DataConfig& config, RunData& data) {
  if (const std::string name = dense_column_name(config); !name.empty()) {
    data.notes.push_back(
        fmt::format("dense       the column '{}': {} numbers a sample", name, data.train.dense_count()));
  }
  if (const std::string warning = look(config).warning; !warning.empty())
    data.train_report.add_warning(fmt::format("{}: {}", shown_path(config.train), warning));
}

}  // namespace slide
