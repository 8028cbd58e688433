// A table whose columns have names: JSON lines, an object on each line, or CSV or TSV behind a line of names
// (json_record.h, csv_record.h). Some of its columns are the texts, labels and weights of samples
// (TableColumns).
//
// Immutable once made, and then safe to use from any thread, each with its own LabelledLine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/labelled_line.h"
#include "datasets/read_options.h"
#include "datasets/text_source.h"

namespace slide {

// The format of a table that begins with `head` and has the columns of texts. Nothing where that is none.
std::optional<DataFormat> detect_table(std::string_view head, const TableColumns& columns);

// The format of a table by its name, packed or not: .csv, or .jsonl and .ndjson. Nothing for other names.
std::optional<DataFormat> table_format_of_name(std::string_view path);

// Whether the text has a line that is not blank: that of the names of the columns.
bool has_head(std::string_view text);

// The names of the columns of a table that begins with `head`, for messages: with commas between them. Empty
// where this is hardly a table.
std::string columns_shown(std::string_view head);

class Table {
 public:
  // The table that begins with `text`. With Labels::kOptional, texts alone are read. Throws InputError that
  // names `origin` when columns are not named, or not there.
  Table(std::string_view text, const std::string& origin, DataFormat format, const TableColumns& columns,
        Labels labels);

  // Bytes and lines before the first record.
  std::size_t head_bytes() const { return head_bytes_; }
  std::uint64_t head_lines() const { return head_lines_; }
  bool has_weights() const { return !columns_.weight.empty(); }
  // Of CSV and TSV, where records may have several lines; 0 for JSON lines.
  char delimiter() const { return delimiter_; }

  // Takes the first record off `text`, which is not empty, without its line end.
  std::string_view take_record(std::string_view& text) const;
  // Takes a record apart; blanks stand for what breaks lines in its text. Throws RowFault.
  void split(std::string_view record, LabelledLine& result) const;
  // The labels of a record that was just split as they stand there; nothing where they are a list.
  std::optional<std::string_view> label_cell(const LabelledLine& parts) const;

 private:
  void read_head(std::string_view text, const std::string& origin);
  void split_fields(std::string_view record, LabelledLine& result) const;
  void split_object(std::string_view record, LabelledLine& result) const;

  TableColumns columns_;
  std::vector<std::string> texts_;  // names of their columns
  char delimiter_;
  std::size_t head_bytes_ = 0;
  std::uint64_t head_lines_ = 0;
  std::size_t fields_ = 0;  // of a record of CSV, and which of them:
  std::vector<std::size_t> text_fields_;
  std::size_t label_field_ = 0, weight_field_ = 0, group_field_ = 0, time_field_ = 0;
};

// The text behind the head of its table.
TextSource behind_head(const TextSource& source, const Table& table);

}  // namespace slide
