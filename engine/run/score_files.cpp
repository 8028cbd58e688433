#include "engine/run/score_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "datasets/data_parts.h"
#include "datasets/detect.h"
#include "datasets/file_bytes.h"
#include "datasets/join_rows.h"
#include "datasets/label_lists.h"
#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/npz.h"
#include "datasets/npz_matrix.h"
#include "datasets/reader.h"
#include "datasets/row_parser.h"
#include "datasets/text_learner.h"
#include "datasets/text_pair.h"
#include "datasets/xmc_header.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/run/label_names.h"

namespace slide {

namespace {

using Entry = std::pair<std::uint32_t, float>;

// Throws for a label that a row must not have.
void check_label(std::uint64_t label, const LabelIndex& index, const std::string& where) {
  const std::uint64_t limit = index.limit() == 0 ? kIdLimit : index.limit();
  if (label >= limit)
    fail_input("{}: label {} is out of range; there are {} labels, counted from 0", where, label, limit);
}

// --- True labels

Dataset labels_of(DatasetArrays arrays, std::uint32_t labels) {
  arrays.feature_offsets = std::vector<std::uint64_t>(arrays.label_offsets.size());
  return {std::move(arrays), 0, labels};
}

// Whether the file is a text matrix of labels, with a first line `samples labels`.
bool is_label_text(const std::string& path, DataFormat format) {
  return format == DataFormat::kXmc && !text_pair(path) && has_features_header(head_of_file(path));
}

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

Dataset read_label_matrix(const std::string& path, LabelIndex& index) {
  const FileBytes bytes(path);
  const NpzMatrix matrix = read_npz_matrix({bytes.text(), path});
  DatasetArrays arrays;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t e = matrix.ends[row]; e < matrix.ends[row + 1]; ++e) {
      if (matrix.values[e] != 0) arrays.label_ids.push_back(static_cast<std::uint32_t>(matrix.ids[e]));
    }
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  if (!index.named()) index.limit_to(static_cast<std::uint32_t>(matrix.columns));
  return labels_of(std::move(arrays), static_cast<std::uint32_t>(matrix.columns));
}

// Reads the labels of text files by name.
Dataset read_named_labels(const std::string& path, int threads, LabelIndex& index) {
  TextOptions options;  // minimal text options
  options.tokens = TokenKind::kBlanks;
  options.word_ngrams = options.min_count = options.max_features = 1;
  ReadOptions reading;
  reading.format = DataFormat::kText;
  reading.threads = threads;
  reading.text = learn_text_file(path, reading, options);
  if (reading.text == nullptr) fail_input("{}: this is no file of text with labels", path);
  const Dataset text = read_dataset(path, reading);
  std::vector<std::uint32_t> ids(reading.text->label_count());
  for (std::uint32_t label = 0; label < ids.size(); ++label) {
    const std::string_view name = reading.text->label_name(label);
    const auto found = index.find(name);
    if (!found) fail_input("{}: the label '{}' is not among the names of labels", path, shown_part(name));
    ids[label] = *found;
  }
  DatasetArrays arrays;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const std::uint32_t label : text.labels(i)) arrays.label_ids.push_back(ids[label]);
    std::sort(arrays.label_ids.begin() + static_cast<std::ptrdiff_t>(arrays.label_offsets.back()),
              arrays.label_ids.end());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return labels_of(std::move(arrays), static_cast<std::uint32_t>(index.names()));
}

Dataset read_numbered_labels(const std::string& path, DataFormat format, int threads, LabelIndex& index) {
  ReadOptions reading;
  reading.format = format;
  reading.normalize = false;
  reading.threads = threads;
  const Dataset data = read_dataset(path, reading);
  const bool tells_labels =
      format == DataFormat::kXmc || format == DataFormat::kNpz || format == DataFormat::kIdx;
  if (!index.named() && tells_labels) index.limit_to(data.label_count());
  const DatasetView view = data.view();
  DatasetArrays arrays;
  arrays.label_offsets.assign(view.label_offsets.begin(), view.label_offsets.end());
  arrays.label_ids.assign(view.label_ids.begin(), view.label_ids.end());
  return labels_of(std::move(arrays), data.label_count());
}

DataFormat format_of(const std::string& path, std::optional<DataFormat> format) {
  if (format) return *format;
  return is_npz_pair(path) ? DataFormat::kNpz : detect_file(path).value_or(DataFormat::kAuto);
}

// Reads the labels of several files, concatenated.
Dataset read_label_parts(const std::vector<std::string>& parts, std::optional<DataFormat> format, int threads,
                         LabelIndex& index) {
  std::vector<Dataset> labels;
  for (const std::string& part : parts) labels.push_back(read_labels(part, format, threads, index));
  return joined_rows(std::move(labels), threads);
}

// --- Scores

// A line of scores and its position.
struct ScoreLine {
  const std::string& origin;
  std::size_t number;
  std::string_view text;

  std::string place(std::string_view part) const {
    return fmt::format("{}:{}:{}", origin, number, part.data() - text.data() + 1);
  }
};

float score_of(std::string_view text, const ScoreLine& line) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_float = std::abs(value) <= std::numeric_limits<float>::max();
  if (error == std::errc() && stop == text.data() + text.size() && is_float) return static_cast<float>(value);
  fail_input("{}: '{}' is no finite score", line.place(text), shown_part(text));
}

std::uint32_t label_of(std::string_view text, const ScoreLine& line, LabelIndex& index) {
  if (index.named()) {
    if (const auto found = index.find(text)) return *found;
    fail_input("{}: the label '{}' is not among the names of labels", line.place(text), shown_part(text));
  }
  std::uint64_t label = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), label);
  if (error != std::errc() || stop != text.data() + text.size())
    fail_input("{}: '{}' is no number of a label; --labels gives names", line.place(text), shown_part(text));
  check_label(label, index, line.place(text));
  return static_cast<std::uint32_t>(label);
}

void parse_line(const ScoreLine& line, LabelIndex& index, std::vector<Entry>& row) {
  const char* separators = index.named() ? "\t" : " \t";
  row.clear();
  for (std::size_t at = 0; at < line.text.size();) {
    const std::size_t end = std::min(line.text.find_first_of(separators, at), line.text.size());
    const std::string_view part = line.text.substr(at, end - at);
    at = end + 1;
    if (is_blank_line(part)) continue;
    const std::size_t colon = part.rfind(':');
    if (colon == std::string_view::npos)
      fail_input("{}: '{}' is no label:score", line.place(part), shown_part(part));
    row.emplace_back(label_of(part.substr(0, colon), line, index), score_of(part.substr(colon + 1), line));
  }
  std::ranges::sort(row);
  const auto twice = std::ranges::adjacent_find(row, {}, &Entry::first);
  if (twice == row.end()) return;
  const std::string name =
      index.named() ? shown_part(index.name(twice->first)) : std::to_string(twice->first);
  fail_input("{}:{}:1: the label '{}' is there twice", line.origin, line.number, name);
}

[[noreturn]] void fail_rows(const std::string& origin, std::size_t rows, std::size_t samples) {
  fail_input("{}: {} rows of scores for {} samples; they must be of the same samples", origin, rows, samples);
}

DatasetArrays parse_scores(std::string_view text, const std::string& origin, std::size_t samples,
                           LabelIndex& index) {
  DatasetArrays arrays;
  std::vector<Entry> row;
  std::size_t number = 0;
  while (!text.empty()) {
    const ScoreLine line{origin, ++number, take_line(text)};
    if (number > samples) {
      const auto more = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
      fail_rows(origin, number + more + (text.empty() || text.back() == '\n' ? 0 : 1), samples);
    }
    parse_line(line, index, row);
    for (const auto& [label, score] : row) {
      arrays.feature_ids.push_back(label);
      arrays.feature_values.push_back(score);
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
  }
  if (number != samples) fail_rows(origin, number, samples);
  return arrays;
}

DatasetArrays parse_score_matrix(const NamedBytes& bytes, std::size_t samples, const LabelIndex& index) {
  if (index.grows()) {
    fail_input("{}: columns are numbers, but the data name their labels; give the names by --labels",
               bytes.path);
  }
  NpzMatrix matrix = read_npz_matrix(bytes, Repeated::kRefuse);
  if (matrix.rows != samples) fail_rows(bytes.path, matrix.rows, samples);
  DatasetArrays arrays;
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    for (std::size_t e = matrix.ends[r]; e < matrix.ends[r + 1]; ++e)
      check_label(matrix.ids[e], index, fmt::format("{}: row {}", bytes.path, r));
  }
  arrays.feature_offsets = std::move(matrix.ends);
  arrays.feature_ids.assign(matrix.ids.begin(), matrix.ids.end());
  arrays.feature_values = std::move(matrix.values);
  return arrays;
}

}  // namespace

LabelIndex::LabelIndex(const std::string& names_file) : named_(true) {
  const NameList names = read_names(names_file);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (ids_.contains(names[i]))
      fail_input("{}:{}:1: the name '{}' is there twice", names_file, i + 1, shown_part(names[i]));
    add(names[i]);
  }
  if (names.size() == 0) fail_input("{}: there are no names of labels", names_file);
  fixed_ = true;
  limit_ = static_cast<std::uint32_t>(names_.size());
}

std::optional<std::uint32_t> LabelIndex::find(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  return grows() ? std::optional(add(name)) : std::nullopt;
}

std::uint32_t LabelIndex::add(std::string_view name) {
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

Dataset read_labels(const std::string& path, std::optional<DataFormat> format, int threads,
                    LabelIndex& index) {
  if (const std::vector<std::string> parts = parts_of(path); parts.size() > 1) {
    if (format_of(parts.front(), format) != DataFormat::kText)
      return read_label_parts(parts, format, threads, index);
  } else if (parts.front() != path) {
    return read_labels(parts.front(), format, threads, index);
  }
  const DataFormat found = format_of(path, format);
  if (found == DataFormat::kText) {
    if (!index.named() && index.knows_numbers())
      fail_input("{}: this names its labels, but other files number them; give the names by --labels", path);
    index.name_by_data();
    return read_named_labels(path, threads, index);
  }
  if (index.grows())
    fail_input("{}: this numbers its labels, but other files name them; give the names by --labels", path);
  index.number_by_data();
  Dataset labels = is_label_text(path, found)     ? read_label_text(path, index)
                   : is_labels_alone(path, found) ? read_label_matrix(path, index)
                                                  : read_numbered_labels(path, found, threads, index);
  for (const std::uint32_t label : labels.view().label_ids) check_label(label, index, path);
  return labels;
}

Dataset read_scores(const std::string& path, std::size_t samples, LabelIndex& index) {
  const std::string origin = path == "-" ? "standard input" : path;
  const FileBytes bytes(path == "-" ? "/dev/stdin" : path);
  DatasetArrays arrays = is_npz(bytes.text()) ? parse_score_matrix({bytes.text(), origin}, samples, index)
                                              : parse_scores(bytes.text(), origin, samples, index);
  std::uint32_t bound = index.named() ? static_cast<std::uint32_t>(index.names()) : index.limit();
  for (const std::uint32_t label : arrays.feature_ids) bound = std::max(bound, label + 1);
  arrays.label_offsets = std::vector<std::uint64_t>(arrays.feature_offsets.size());
  return {std::move(arrays), bound, bound};
}

}  // namespace slide
