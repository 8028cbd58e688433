#include "datasets/label_features.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "datasets/formats/npz.h"
#include "datasets/join_rows.h"
#include "datasets/reader.h"
#include "datasets/row_stream.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/rows/xmc_header.h"
#include "engine/base/error.h"

namespace slide {

namespace {

// Row i of `rows` with label i; rows without features are dropped.
LabelTextRows rows_of_labels(const Dataset& rows) {
  LabelTextRows result;
  DatasetArrays arrays;
  for (std::uint32_t label = 0; label < rows.size(); ++label) {
    const SparseRow row = rows.features(label);
    if (std::ranges::all_of(row.values, [](float value) { return value == 0; })) {
      ++result.empty;
      continue;
    }
    append_label_row(label, row.ids, row.values, arrays);
  }
  result.rows = Dataset(std::move(arrays), rows.feature_count(), static_cast<std::uint32_t>(rows.size()));
  return result;
}

// The features of all rows of a file; ignores labels.
Dataset read_feature_rows(const std::string& path, ReadOptions options) {
  const FileBytes bytes(path);
  const std::string_view text = without_byte_order_mark(bytes.text());
  if (is_npz(text)) {
    options.format = DataFormat::kNpz;
    return parse_features(text, path, options);
  }
  refuse_foreign_label_texts(text, path, "a line 'id:value ...' for each label, label 0 first");
  if (is_blank_line(text.substr(0, text.find('\n'))))
    fail_input("{}:1:1: the first line is blank; give a header or the features of label 0", path);
  const bool header = has_xmc_header(text) || has_features_header(text) || is_lone_features_header(text);
  options.format = header ? DataFormat::kXmc : DataFormat::kLibsvm;
  RowStream stream(path, options);
  const RowPart part = stream.read(text);
  if (!part.faults.empty()) fail_input("{}", part.faults.front());
  stream.finish();
  return part.rows;
}

Dataset weighing(const Dataset& data, float weight) {
  return with_weights(data, std::vector<float>(data.size(), weight));
}

}  // namespace

LabelTextRows read_label_features(const std::string& path, const ReadOptions& options, std::size_t labels,
                                  const std::string& data) {
  const Dataset rows = read_feature_rows(path, options);
  if (rows.label_entries() > 0)
    fail_input("{}: rows have labels of their own; give the features of a label in each row, and no labels",
               path);
  if (rows.size() < labels)
    fail_input("{}: it has {} rows, but {} has {} labels; give the features of each, label 0 first", path,
               rows.size(), data, labels);
  return rows_of_labels(rows);
}

Dataset with_label_texts(const Dataset& train, const Dataset& texts, float weight, int threads) {
  if (train.dense_count() > 0) fail_run("texts of labels beside dense columns");
  const bool weigh = weight != 1 || !train.weights().empty();
  std::vector<Dataset> parts = {train, texts};
  if (weigh && train.weights().empty()) parts.front() = weighing(train, 1);
  if (weigh) parts.back() = weighing(texts, weight);
  return joined_rows(std::move(parts), threads).with_label_texts(texts.size()).with_keys(train.keys());
}

}  // namespace slide
