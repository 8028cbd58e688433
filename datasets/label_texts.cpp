#include "datasets/label_texts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "datasets/data_warnings.h"
#include "datasets/detect.h"
#include "datasets/join_rows.h"
#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/npz.h"
#include "datasets/reader.h"
#include "datasets/row_stream.h"
#include "datasets/sample_weights.h"
#include "datasets/text_model.h"
#include "datasets/xmc_header.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

// JSON, say, which none of these files is.
void refuse_foreign(std::string_view text, const std::string& path, const char* wanted) {
  const std::optional<std::string> kind = foreign_kind(text);
  if (!kind) return;
  const std::string_view name = std::string_view(*kind).substr(0, kind->find_first_of(",;"));
  fail_input("{}:1:1: this is {}; texts of labels are read from {}", path, name, wanted);
}

LabelTexts::Line line_of_label(std::string_view line, const std::string& path, std::size_t number) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos)
    fail_input("{}:{}: no TAB stands between a label and its text; write 'NAME<TAB>text'", path, number);
  const LabelTexts::Line parts{trimmed(line.substr(0, tab)), trimmed(line.substr(tab + 1))};
  if (parts.label.empty()) fail_input("{}:{}: no label stands before the TAB; name one", path, number);
  if (has_control(parts.label)) fail_input("{}:{}: {}", path, number, kControlInLabel);
  return parts;
}

// A text with its label.
struct Placed {
  std::uint32_t label;
  std::string_view text;
};

// Appends a row with the single label `label`.
void append_row(std::uint32_t label, std::span<const std::uint32_t> ids, std::span<const float> values,
                DatasetArrays& arrays) {
  arrays.feature_ids.insert(arrays.feature_ids.end(), ids.begin(), ids.end());
  arrays.feature_values.insert(arrays.feature_values.end(), values.begin(), values.end());
  arrays.feature_offsets.push_back(arrays.feature_ids.size());
  arrays.label_ids.push_back(label);
  arrays.label_offsets.push_back(arrays.label_ids.size());
}

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
    append_row(label, row.ids, row.values, arrays);
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
  refuse_foreign(text, path, "a line 'id:value ...' for each label, label 0 first");
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

LabelTexts::LabelTexts(const std::string& path) {
  if (path == kNames) return;
  file_ = std::make_unique<const FileBytes>(path);
  std::string_view rest = without_byte_order_mark(file_->text());
  refuse_foreign(rest, path, "a line 'NAME<TAB>text' for each label");
  for (std::size_t number = 1; !rest.empty(); ++number)
    lines_.push_back(line_of_label(take_line(rest), path, number));
  if (lines_.empty()) fail_input("{}:1: the file is empty; write 'NAME<TAB>text' for each label", path);
  warning_ = encoding_warning(file_->text(), path);
}

LabelTextRows label_text_rows(const LabelTexts& texts, const TextModel& names, bool normalize) {
  LabelTextRows result;
  std::vector<Placed> placed;
  texts.for_each(names.parts().label_names, [&](std::string_view label, std::string_view text) {
    if (const std::optional<std::uint32_t> id = names.label_id(label))
      placed.push_back({*id, text});
    else
      ++result.unknown;
  });
  std::ranges::stable_sort(placed, {}, &Placed::label);
  Tokenizer tokenizer(names.options());
  Row row;
  DatasetArrays arrays;
  for (const Placed& at : placed) {
    names.features_of(at.text, normalize, tokenizer, row);
    if (row.feature_count == 0) {
      ++result.empty;
      continue;
    }
    append_row(at.label, std::span(row.ids).first(row.feature_count),
               std::span(row.values).first(row.feature_count), arrays);
  }
  result.rows = Dataset(std::move(arrays), names.feature_count(), names.label_count());
  return result;
}

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
