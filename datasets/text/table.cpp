#include "datasets/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datasets/rows/json_record.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/text/csv_record.h"
#include "datasets/text/vector_columns.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

std::string_view behind_blank_lines(std::string_view text) {
  text = without_byte_order_mark(text);
  while (!text.empty()) {
    std::string_view rest = text;
    if (!is_blank_line(take_line(rest))) break;
    text = rest;
  }
  return text;
}

bool begins_object(std::string_view text) {
  return trimmed(text).starts_with('{');
}

// The column names of a table with fields, from its header.
std::vector<std::string> field_names(std::string_view record, char delimiter) {
  std::vector<std::string_view> fields;
  std::string unquoted;
  split_csv_record(record, delimiter, fields, unquoted);
  std::vector<std::string> names;
  for (const std::string_view field : fields) names.emplace_back(trimmed(field));
  return names;
}

bool has_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return !wanted.empty() && std::ranges::all_of(wanted, [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  });
}

bool has_columns(std::string_view text, char delimiter, const std::vector<std::string>& wanted) {
  try {
    std::string_view rest = text;
    return !text.empty() && has_all(field_names(take_csv_record(rest, delimiter), delimiter), wanted);
  } catch (const RowFault&) {
    return false;
  }
}

// Index of a column. Throws InputError where it is missing or repeated.
std::size_t place_of(const std::vector<std::string>& names, const std::string& name, const char* key,
                     const std::string& where) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    fail_input("{}: there is no column '{}', which {} names; the columns are {}", where, name, key,
               shown_part(fmt::format("{}", fmt::join(names, ", "))));
  }
  if (std::find(found + 1, names.end(), name) != names.end())
    fail_input("{}: two columns are called '{}', which {} names; rename one", where, name, key);
  return static_cast<std::size_t>(found - names.begin());
}

void append_text(std::string_view text, std::string& to) {
  if (text.empty()) return;
  if (!to.empty()) to += ' ';
  for (const char c : text) to += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
}

void add_label(std::string_view name, LabelledLine& result) {
  if (has_control(name)) throw RowFault{1, kControlInLabel};
  if (!name.empty()) result.labels.push_back(name);
}

void add_separated(std::string_view names, const std::string& separator, LabelledLine& result) {
  while (true) {
    const std::size_t end = std::min(names.find(separator), names.size());
    add_label(trimmed(names.substr(0, end)), result);
    if (end == names.size()) return;
    names.remove_prefix(end + separator.size());
  }
}

float weight_of(std::string_view text, const std::string& column) {
  text = trimmed(text);
  if (text.empty()) return 1.0F;
  if (const std::optional<float> weight = weight_in(text)) return *weight;
  throw RowFault{
      1, fmt::format("the weight '{}' in the column '{}' is no number from 0 on", shown_part(text), column)};
}

// The group or time of a sample.
std::string_view key_in(std::string_view text, const std::string& column, const char* key) {
  text = trimmed(text);
  if (!text.empty()) return text;
  throw RowFault{1, fmt::format("the column '{}', which {} names, is empty or not there; give every sample a "
                                "value",
                                column, key)};
}

}  // namespace

std::optional<DataFormat> detect_table(std::string_view head, const TableColumns& columns) {
  if (columns.text.empty()) return {};
  const std::vector<std::string> wanted = column_names(columns.text);
  const std::string_view text = behind_blank_lines(head);
  if (begins_object(text)) return DataFormat::kJsonl;
  for (const DataFormat format : {DataFormat::kCsv, DataFormat::kTsv}) {
    if (has_columns(text, delimiter_of(format, head, columns.text), wanted)) return format;
  }
  return {};
}

char delimiter_of(DataFormat format, std::string_view head, const std::string& text_columns) {
  if (format != DataFormat::kCsv) return format == DataFormat::kTsv ? '\t' : '\0';
  const std::vector<std::string> wanted = column_names(text_columns);
  const std::string_view text = behind_blank_lines(head);
  return !has_columns(text, ',', wanted) && has_columns(text, ';', wanted) ? ';' : ',';
}

std::optional<DataFormat> table_format_of_name(std::string_view path) {
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (path.ends_with(packed)) path.remove_suffix(packed.size());
  }
  if (path.ends_with(".csv")) return DataFormat::kCsv;
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson")) return DataFormat::kJsonl;
  return {};
}

bool has_header_line(std::string_view text) {
  return !behind_blank_lines(text).empty();
}

std::string column_list(std::string_view head) {
  std::string_view rest = behind_blank_lines(head);
  if (rest.empty()) return {};
  std::vector<std::string> names;
  if (begins_object(rest)) {
    names = json_columns(take_line(rest));
  } else {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const bool has_semicolons = std::ranges::count(line, ';') > std::ranges::count(line, ',');
    const char delimiter = line.find('\t') != std::string_view::npos ? '\t' : has_semicolons ? ';' : ',';
    try {
      names = field_names(take_csv_record(rest, delimiter), delimiter);
    } catch (const RowFault&) {
      return {};
    }
    if (names.size() < 2) return {};
  }
  return shown_part(fmt::format("{}", fmt::join(names, ", ")));
}

// Reads the header; without a given number of dense columns, takes the most frequent one of the first lists.
Table::Table(std::string_view text, const std::string& origin, DataFormat format, const TableColumns& columns,
             Labels labels, std::optional<std::uint32_t> dense_columns)
    : columns_(columns),
      texts_(column_names(columns.text)),
      delimiter_(delimiter_of(format, text, columns.text)),
      dense_columns_(dense_columns.value_or(0)),
      dense_known_(dense_columns.has_value()) {
  if (texts_.empty()) {
    const std::string shown = column_list(text);
    fail_input(
        "{}:1:1: this is a table; name its columns of text and labels by data.text and data.labels{}{}",
        origin, shown.empty() ? "" : ": there are ", shown);
  }
  if (labels == Labels::kOptional) columns_.labels = columns_.weight = columns_.group = columns_.time = "";
  read_header(text, origin);
  if (columns_.dense.empty())
    dense_columns_ = 0;
  else if (delimiter_ != '\0')
    fail_input("{}: '{}', which data.dense names, is a column of JSON lines; write the samples as these",
               origin, columns_.dense);
  else if (!dense_known_)
    dense_columns_ = vector_length(text.substr(header_bytes_), columns_.dense);
}

// Reads the names of the columns and sets header_bytes_, header_lines_ and the fields of the configured
// columns. JSON Lines have no header.
void Table::read_header(std::string_view text, const std::string& origin) {
  const std::string_view records =
      delimiter_ == '\0' ? without_byte_order_mark(text) : behind_blank_lines(text);
  header_bytes_ = static_cast<std::size_t>(records.data() - text.data());
  header_lines_ = static_cast<std::uint64_t>(std::ranges::count(text.substr(0, header_bytes_), '\n'));
  if (delimiter_ == '\0' || records.empty()) return;
  const std::string where = fmt::format("{}:{}:1", origin, header_lines_ + 1);
  std::string_view rest = records;
  std::vector<std::string> names;
  try {
    names = field_names(take_csv_record(rest, delimiter_), delimiter_);
  } catch (const RowFault& fault) {
    fail_input("{}: the names of the columns: {}", where, fault.message);
  }
  const std::size_t end = text.size() - rest.size();
  header_lines_ +=
      static_cast<std::uint64_t>(std::ranges::count(text.substr(header_bytes_, end - header_bytes_), '\n'));
  header_bytes_ = end;
  fields_ = names.size();
  for (const std::string& name : texts_) text_fields_.push_back(place_of(names, name, "data.text", where));
  if (!columns_.labels.empty()) label_field_ = place_of(names, columns_.labels, "data.labels", where);
  if (!columns_.weight.empty()) weight_field_ = place_of(names, columns_.weight, "data.weight", where);
  if (!columns_.group.empty()) group_field_ = place_of(names, columns_.group, "data.group", where);
  if (!columns_.time.empty()) time_field_ = place_of(names, columns_.time, "data.time", where);
}

TextSource without_header(const TextSource& source, const Table& table) {
  return {source.text.substr(table.header_bytes()), source.origin, source.file};
}

std::string_view Table::take_record(std::string_view& text) const {
  return delimiter_ == '\0' ? take_line(text) : take_csv_record(text, delimiter_);
}

// A blank record has neither labels nor text.
void Table::split(std::string_view record, LabelledLine& result) const {
  result.labels.clear();
  result.scratch.clear();
  result.weight = 1.0F;
  result.group = result.time = {};
  result.dense = {};
  if (!is_blank_line(record)) {
    delimiter_ == '\0' ? split_object(record, result) : split_fields(record, result);
  }
  result.text = result.scratch;
}

std::optional<std::string_view> Table::label_cell(const LabelledLine& parts) const {
  if (columns_.labels.empty()) return {};
  if (delimiter_ != '\0') return parts.fields[label_field_];
  if (parts.object.labels_are_list || parts.object.labels.empty()) return {};
  return parts.object.labels.front();
}

// Takes text, labels, weight and keys of a CSV or TSV record. Throws RowFault.
void Table::split_fields(std::string_view record, LabelledLine& result) const {
  split_csv_record(record, delimiter_, result.fields, result.unquoted);
  if (result.fields.size() != fields_) {
    throw RowFault{1,
                   fmt::format("{} fields, but there are {} columns; put fields with delimiters into quotes",
                               result.fields.size(), fields_)};
  }
  for (const std::size_t field : text_fields_) append_text(result.fields[field], result.scratch);
  if (!columns_.labels.empty()) add_separated(result.fields[label_field_], columns_.label_separator, result);
  if (has_weights()) result.weight = weight_of(result.fields[weight_field_], columns_.weight);
  if (!columns_.group.empty())
    result.group = key_in(result.fields[group_field_], columns_.group, "data.group");
  if (!columns_.time.empty()) result.time = key_in(result.fields[time_field_], columns_.time, "data.time");
}

void Table::check_dense(const JsonRecord& object, std::string_view record) const {
  const char* const advice = dense_known_ ? "" : ", or leave the column out by data.dense=none";
  if (object.dense.empty()) {
    throw RowFault{1, fmt::format("there are no numbers in a column '{}', which data.dense names; give every "
                                  "sample its own{}; the columns are {}",
                                  columns_.dense, advice, column_list(record))};
  }
  if (object.dense.size() != dense_columns_) {
    throw RowFault{
        1, fmt::format("the column '{}' has {} numbers, but {} are needed; give every sample as many{}",
                       columns_.dense, object.dense.size(), dense_columns_, advice)};
  }
}

// Takes text, labels, weight, keys and dense features of a JSON object. Throws RowFault.
void Table::split_object(std::string_view record, LabelledLine& result) const {
  JsonRecord& object = result.object;
  parse_json_record(record,
                    {texts_, columns_.labels, columns_.weight, columns_.group, columns_.time, columns_.dense},
                    object);
  if (std::ranges::find(object.has_text, true) == object.has_text.end()) {
    throw RowFault{1, fmt::format("there is no column '{}', which data.text names; the columns are {}",
                                  fmt::join(texts_, "' or '"), column_list(record))};
  }
  if (!columns_.dense.empty()) check_dense(object, record);
  result.dense = object.dense;
  for (const std::string& text : object.texts) append_text(text, result.scratch);
  for (const std::string& name : object.labels) {
    if (object.labels_are_list) {
      add_label(trimmed(name), result);
    } else {
      add_separated(name, columns_.label_separator, result);
    }
  }
  if (has_weights()) result.weight = weight_of(object.weight, columns_.weight);
  if (!columns_.group.empty()) result.group = key_in(object.group, columns_.group, "data.group");
  if (!columns_.time.empty()) result.time = key_in(object.time, columns_.time, "data.time");
}

}  // namespace slide
