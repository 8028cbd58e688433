// Tables with named columns: JSON Lines, or CSV (with commas or semicolons) or TSV with a header record
// (json_record.h, csv_record.h). TableColumns names the columns of texts, labels, weights and so on.
//
// Functions take `head`, the first bytes of a file, or the whole text. Table is immutable, safe from any
// thread with one LabelledLine per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Format of the table that begins with `head`; nullopt where it is no table with the text columns.
std::optional<DataFormat> detect_table(std::string_view head, const TableColumns& columns);

// Delimiter of the fields of a table: a TAB for TSV, '\0' for JSON Lines; for CSV a comma, or a semicolon
// where the header has the text columns only when it is cut at semicolons.
char delimiter_of(DataFormat format, std::string_view head, const std::string& text_columns);

// Table format by file name, compressed or not: .csv, or .jsonl and .ndjson; nullopt otherwise.
std::optional<DataFormat> table_format_of_name(std::string_view path);

// Whether a text has a header: any line that is not blank.
bool has_header_line(std::string_view text);

// Comma-separated column names of the table that begins with `head`, shortened for messages; empty where it
// is no table, probably.
std::string column_list(std::string_view head);

class Table {
 public:
  // The table that begins with `text`. Labels::kOptional: only the text columns are read. `dense_columns`:
  // length of the lists in the dense column; nullopt: the most frequent one among the first lists. Throws
  // InputError, naming `origin`, where the text columns are not named, or the header of CSV or TSV lacks a
  // named column.
  Table(std::string_view text, const std::string& origin, DataFormat format, const TableColumns& columns,
        Labels labels, std::optional<std::uint32_t> dense_columns = {});

  // Bytes and lines before the first record.
  std::size_t header_bytes() const { return header_bytes_; }
  std::uint64_t header_lines() const { return header_lines_; }
  bool has_weights() const { return !columns_.weight.empty(); }
  // Length of the lists in the dense column; 0 without one.
  std::size_t dense_columns() const { return dense_columns_; }
  // '\0' for JSON Lines, where a record is a line; records of CSV and TSV may span lines.
  char delimiter() const { return delimiter_; }

  // Removes and returns the first record of `text` (not empty), without its line end.
  std::string_view take_record(std::string_view& text) const;
  // Parses a record; line breaks in its text become blanks. Throws RowFault.
  void split(std::string_view record, LabelledLine& result) const;
  // The label cell of the record that split() has just parsed, unsplit; nullopt where it is a list or
  // missing.
  std::optional<std::string_view> label_cell(const LabelledLine& parts) const;

 private:
  void read_header(std::string_view text, const std::string& origin);
  void split_fields(std::string_view record, LabelledLine& result) const;
  void split_object(std::string_view record, LabelledLine& result) const;
  void check_dense(const JsonRecord& object, std::string_view record) const;

  TableColumns columns_;
  std::vector<std::string> texts_;  // names of the text columns
  char delimiter_;
  std::size_t header_bytes_ = 0;
  std::uint64_t header_lines_ = 0;
  std::size_t dense_columns_ = 0;
  bool dense_known_ = false;  // dense_columns_ is given, not found in the lists
  std::size_t fields_ = 0;    // of a CSV or TSV record
  // Indices of fields.
  std::vector<std::size_t> text_fields_;
  std::size_t label_field_ = 0, weight_field_ = 0, group_field_ = 0, time_field_ = 0;
};

// The records of a table: its text after the header.
TextSource without_header(const TextSource& source, const Table& table);

}  // namespace slide
