#include "engine/run/score_files.h"

#include <algorithm>
#include <utility>

#include "datasets/blank_rows.h"
#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/label_lists.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/npz_matrix.h"
#include "datasets/formats/text_pair.h"
#include "datasets/join_rows.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/xmc_header.h"
#include "datasets/text/table.h"
#include "datasets/text_learner.h"
#include "engine/base/error.h"
#include "engine/run/interaction_data.h"
#include "engine/run/log_truth.h"
#include "engine/run/score_rows.h"

namespace slide {

namespace {

// Whether the file is a text matrix of labels, with a first line `samples labels`.
bool is_label_text(const std::string& path, DataFormat format) {
  return format == DataFormat::kXmc && !text_pair(path) && has_features_header(head_of_file(path));
}

// XMC text of labels alone: a header `samples labels`, then a line of labels per sample.
Dataset read_label_text(const std::string& path, LabelIndex& index) {
  const FileBytes bytes(path);
  const XmcHeader header = parse_xmc_header(without_byte_order_mark(bytes.text()), path);
  LabelLists lists = read_labels(path, header.samples, static_cast<std::uint32_t>(header.features), path);
  if (!index.named()) index.limit_to(lists.count);
  DatasetArrays arrays;
  arrays.label_offsets = std::move(lists.offsets);
  arrays.label_ids = std::move(lists.ids);
  return labels_of(std::move(arrays), lists.count);
}

bool is_labels_alone(const std::string& path, DataFormat format) {
  const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  return format == DataFormat::kNpz && !is_npz_pair(path) && !name.starts_with('X');
}

// An array of labels, whose name ends in .npy and does not begin with X.
bool is_label_array(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".npy") && !name.starts_with('X') && !is_file_list(path);
}

// Labels from a .npy array: ids, or an indicator matrix, whose columns limit the labels.
Dataset read_label_array(const std::string& path, LabelIndex& index) {
  const FileBytes bytes(path);
  const NpyHeader header = read_npy_header(bytes.text(), {path, "the array", "save labels with numpy.save"});
  LabelLists lists = read_labels(path, header.shape.empty() ? 0 : header.shape.front(), 0, path);
  if (!index.named() && header.shape.size() == 2) index.limit_to(lists.count);
  DatasetArrays arrays;
  arrays.label_offsets = std::move(lists.offsets);
  arrays.label_ids = std::move(lists.ids);
  return labels_of(std::move(arrays), lists.count);
}

Dataset read_label_matrix(const std::string& path, LabelIndex& index) {
  const FileBytes bytes(path);
  const NpzMatrix matrix = read_npz_labels({bytes.text(), path});
  DatasetArrays arrays;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t entry = matrix.ends[row]; entry < matrix.ends[row + 1]; ++entry) {
      if (matrix.values[entry] != 0)
        arrays.label_ids.push_back(static_cast<std::uint32_t>(matrix.ids[entry]));
    }
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  if (!index.named()) index.limit_to(static_cast<std::uint32_t>(matrix.columns));
  return labels_of(std::move(arrays), static_cast<std::uint32_t>(matrix.columns));
}

// The labels of a text or a table by their names.
Dataset read_named_labels(const std::string& path, DataFormat format, const TruthOptions& wanted,
                          LabelIndex& index) {
  TextOptions options;  // minimal text options
  options.tokens = TokenKind::kBlanks;
  options.word_ngrams = options.min_count = options.max_features = 1;
  ReadOptions reading;
  reading.format = format;
  reading.threads = wanted.threads;
  reading.columns = wanted.columns;
  reading.text = learn_text_file(path, reading, options);
  if (reading.text == nullptr) fail_input("{}: this is no file of text with labels", path);
  return labels_by_index(read_warned(path, reading, wanted), *reading.text, index);
}

// The labels of a data file that numbers them; its features are dropped.
Dataset read_numbered_labels(const std::string& path, DataFormat format, const TruthOptions& wanted,
                             LabelIndex& index) {
  ReadOptions reading;
  reading.format = format;
  reading.normalize = false;
  reading.columns = wanted.columns;
  const Dataset data = read_warned(path, reading, wanted);
  const bool states_label_count =
      format == DataFormat::kXmc || format == DataFormat::kNpz || format == DataFormat::kIdx;
  if (!index.named() && states_label_count) index.limit_to(data.label_count());
  const DatasetView view = data.view();
  DatasetArrays arrays;
  arrays.label_offsets.assign(view.label_offsets.begin(), view.label_offsets.end());
  arrays.label_ids.assign(view.label_ids.begin(), view.label_ids.end());
  return labels_of(std::move(arrays), data.label_count());
}

DataFormat format_of(const std::string& path, const TruthOptions& options) {
  if (options.format) return *options.format;
  if (const auto table = detect_table(head_of_file(path), options.columns)) return *table;
  return is_npz_pair(path) ? DataFormat::kNpz : detect_file(path).value_or(DataFormat::kAuto);
}

// Reads the labels of several files, concatenated.
Dataset read_label_parts(const std::vector<std::string>& parts, const TruthOptions& options,
                         LabelIndex& index) {
  std::vector<Dataset> labels;
  for (const std::string& part : parts) labels.push_back(read_labels(part, options, index));
  return joined_rows(std::move(labels), options.threads);
}

bool has_names(DataFormat format) {
  return format == DataFormat::kText || format == DataFormat::kInteractions || is_table(format);
}

}  // namespace

TruthOptions truth_options(const DataConfig& data) {
  TruthOptions reading;
  reading.columns = {data.text, data.labels, data.label_separator, ""};
  reading.log = log_options(data);
  reading.known = data.known;
  const bool names_log_columns = !data.user.empty() || !data.item.empty();
  if (data.kind == DataKind::kInteractions || names_log_columns) reading.format = DataFormat::kInteractions;
  if (data.format != DataFormat::kAuto) reading.format = data.format;
  return reading;
}

Dataset read_labels(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  if (const std::vector<std::string> parts = parts_of(path); parts.size() > 1) {
    if (!has_names(format_of(parts.front(), options))) return read_label_parts(parts, options, index);
  } else if (parts.front() != path) {
    return read_labels(parts.front(), options, index);
  }
  const DataFormat found = format_of(path, options);
  if (has_names(found)) {
    if (!index.named() && index.knows_numbers())
      fail_input("{}: this names its labels, but other files number them; give the names by --labels", path);
    index.name_by_data();
    if (found == DataFormat::kInteractions) return read_log_items(path, options, index);
    return read_named_labels(path, found, options, index);
  }
  if (index.grows())
    fail_input("{}: this numbers its labels, but other files name them; give the names by --labels", path);
  index.number_by_data();
  Dataset labels = is_label_array(path)           ? read_label_array(path, index)
                   : is_label_text(path, found)   ? read_label_text(path, index)
                   : is_labels_alone(path, found) ? read_label_matrix(path, index)
                                                  : read_numbered_labels(path, found, options, index);
  return labels;
}

// True labels, and the rows that score files may have: also those of blank lines.
Truth read_truth(const std::string& path, const TruthOptions& options, LabelIndex& index) {
  if (format_of(parts_of(path).front(), options) == DataFormat::kInteractions)
    return read_log_truth(path, options, index);
  Truth truth{read_labels(path, options, index), {}};
  truth.rows.samples = truth.labels.size();
  if (text_pair(path)) return truth;
  ReadOptions reading;
  reading.format = format_of(path, options);
  reading.columns = options.columns;
  truth.rows.blank = blank_rows(path, reading);
  return truth;
}

// Scores become features: ids are labels, values are scores. `order`: rank of each entry in its row.
Dataset read_scores(const std::string& path, const ScoredRows& rows, LabelIndex& index,
                    std::vector<std::uint32_t>* order) {
  const std::string origin = path == "-" ? "standard input" : path;
  const FileBytes bytes(path == "-" ? "/dev/stdin" : path);
  const std::string_view text = without_byte_order_mark(bytes.text());
  DatasetArrays arrays = is_npz(text)            ? parse_score_matrix({text, origin}, rows, index, order)
                         : rows.users != nullptr ? parse_user_scores(text, origin, rows, index, order)
                                                 : parse_scores(text, origin, rows, index, order);
  std::uint32_t bound = index.named() ? static_cast<std::uint32_t>(index.names()) : index.limit();
  for (const std::uint32_t label : arrays.feature_ids) bound = std::max(bound, label + 1);
  arrays.label_offsets = std::vector<std::uint64_t>(arrays.feature_offsets.size());
  return {std::move(arrays), bound, bound};
}

}  // namespace slide
