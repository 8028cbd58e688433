// Table with named columns: JSON Lines, or CSV (with commas or semicolons) or TSV with a header record
// (json_record.h, csv_record.h). Some columns are texts, labels and weights of samples (TableColumns).
//
// Immutable, safe from any thread with separate LabelledLine objects.
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

// Format of a table that begins with `head` and has the text columns; nullopt where there is none.
std::optional<DataFormat> detect_table(std::string_view head, const TableColumns& columns);

// What separates the fields of a table that begins with `head`, whose text columns are named: of CSV a comma,
// or where only semicolons make these columns, a semicolon; '\0' for JSON Lines.
char delimiter_of(DataFormat format, std::string_view head, const std::string& text_columns);

// Table format by file name, compressed or not: .csv, or .jsonl and .ndjson; nullopt otherwise.
std::optional<DataFormat> table_format_of_name(std::string_view path);

// Whether the text has a nonblank line, which is the header.
bool has_head(std::string_view text);

// Column names of a table that begins with `head`, comma-separated, for messages; empty where it is probably
// not a table.
std::string columns_shown(std::string_view head);

class Table {
 public:
  // Table that begins with `text`. Labels::kOptional: reads only texts. `dense_columns`: what length the
  // lists of the dense column have; nullopt: that of most of the first. Throws InputError, naming `origin`,
  // where columns are not named or missing.
  Table(std::string_view text, const std::string& origin, DataFormat format, const TableColumns& columns,
        Labels labels, std::optional<std::uint32_t> dense_columns = {});

  // Bytes and lines before the first record.
  std::size_t head_bytes() const { return head_bytes_; }
  std::uint64_t head_lines() const { return head_lines_; }
  bool has_weights() const { return !columns_.weight.empty(); }
  // Length of the lists of the dense column; 0: there is none.
  std::size_t dense_columns() const { return dense_columns_; }
  // For CSV and TSV, whose records may span lines; 0 for JSON Lines.
  char delimiter() const { return delimiter_; }

  // Removes and returns the first record of `text` (not empty), without its line end.
  std::string_view take_record(std::string_view& text) const;
  // Parses a record; line breaks in its text become blanks. Throws RowFault.
  void split(std::string_view record, LabelledLine& result) const;
  // The labels of a record that was just split as they stand there; nothing where they are a list.
  std::optional<std::string_view> label_cell(const LabelledLine& parts) const;

 private:
  void read_head(std::string_view text, const std::string& origin);
  void split_fields(std::string_view record, LabelledLine& result) const;
  void split_object(std::string_view record, LabelledLine& result) const;
  void check_dense(const JsonRecord& object, std::string_view record) const;

  TableColumns columns_;
  std::vector<std::string> texts_;  // names of the text columns
  char delimiter_;
  std::size_t head_bytes_ = 0;
  std::uint64_t head_lines_ = 0;
  std::size_t dense_columns_ = 0;
  bool dense_known_ = false;  // by the caller, not from the lists
  std::size_t fields_ = 0;    // of a CSV record; and the indices of the columns:
  std::vector<std::size_t> text_fields_;
  std::size_t label_field_ = 0, weight_field_ = 0, group_field_ = 0, time_field_ = 0;
};

// The text after the header of its table.
TextSource behind_head(const TextSource& source, const Table& table);

}  // namespace slide
