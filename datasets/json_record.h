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
  std::string weight, group, time;  // as they stand there; empty: none
};

// The names of the columns that are wanted; empty: none.
struct RecordColumns {
  const std::vector<std::string>& texts;
  std::string_view labels{}, weight{}, group{}, time{};
};

// Reads one line. Columns: null is an empty text and no label; numbers and truth values are their JSON. Other
// columns may hold anything. Throws RowFault for a line that is no object, is nested too
// deep (kMaxNesting) or holds an object where a column is wanted.
void parse_json_record(std::string_view line, const RecordColumns& columns, JsonRecord& record);

// The names of the columns of a line, as far as it can be read.
std::vector<std::string> json_columns(std::string_view line);

}  // namespace slide
