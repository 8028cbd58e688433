// Records of JSON lines: an object on each line. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slide {

// What is wanted of a record, and what it holds of that. Members keep their memory from record to record.
struct JsonRecord {
  std::vector<std::string> texts;   // of the wanted columns; the strings of a list with blanks between them
  std::vector<bool> has_text;       // whether the record has the column
  std::vector<std::string> labels;  // elements of the column, or
  bool labels_are_list = false;     // false: one string, of labels with separators between them
  std::string weight;               // as it stands there; empty: none
};

// Reads one line. Columns: null is an empty text and no label; numbers and truth values are their JSON. Other
// columns may hold anything. Throws RowFault for a line that is no object, is nested too
// deep (kMostNesting) or holds an object where a column is wanted.
void parse_json_record(std::string_view line, const std::vector<std::string>& text_columns,
                       std::string_view label_column, std::string_view weight_column, JsonRecord& record);

// The names of the columns of a line, as far as it can be read.
std::vector<std::string> json_columns(std::string_view line);

}  // namespace slide
