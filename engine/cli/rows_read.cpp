#include "engine/cli/rows_read.h"

#include <fmt/format.h>

#include "datasets/rows/data_parts.h"
#include "engine/cli/line_source.h"

namespace slide::cli {

void RowsRead::warn_if_empty(const std::string& data, bool of_users, Warnings& warnings) const {
  if (rows_ > 0 || data == "-") return;
  warnings.add(
      {fmt::format("{}: the file is empty: it holds no {}, so that nothing is predicted; check its path",
                   shown_path(data), of_users ? "user" : "sample")});
}

void RowsRead::warn_of_unknown(const std::string& data, const Model& model, Warnings& warnings) const {
  const std::string origin = data == "-" ? kStandardInput : data;
  const bool items = model.config.data.kind == DataKind::kInteractions;
  report_unknown(unknown_, origin, 0, items ? FeatureKind::kItems : FeatureKind::kNumbers, warnings);
  const std::string foreign = foreign_warning(words_, origin, texts_, FeatureKind::kWords);
  if (!foreign.empty()) warnings.add({foreign});
}

}  // namespace slide::cli
