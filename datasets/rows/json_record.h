// Records of JSON Lines: one object per line. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// The wanted columns of a record. Members keep their memory between records.
struct JsonRecord {
  std::vector<std::string> texts;   // of the wanted columns; strings of a list are joined by blanks
  std::vector<bool> has_text;       // whether the record has the column
  std::vector<std::string> labels;  // elements of the labels column, or
  bool labels_are_list = false;     // false: one string, with separators between labels
  std::string weight, group, time;  // as written; empty: none
  std::vector<float> dense;         // the list of numbers in the dense column
};

// Names of the wanted columns; empty: none.
struct RecordColumns {
  const std::vector<std::string>& texts;
  std::string_view labels{}, weight{}, group{}, time{}, dense{};
};

// Parses one line. In wanted columns, null is an empty text and no label; numbers and booleans are their JSON
// text. Other columns are ignored. Throws RowFault for a line that is not an object, nests deeper than
// kMaxNesting, has an object in a wanted column, or something else than finite numbers in the dense one.
void parse_json_record(std::string_view line, const RecordColumns& columns, JsonRecord& record);

// Error message, with a remedy, for a first line of JSON that is no whole object; else empty.
std::string json_form_fault(std::string_view line);

// Names of the columns of a line, as far as it can be parsed.
std::vector<std::string> json_columns(std::string_view line);

// A column that holds a list of numbers.
struct JsonVector {
  std::string name;
  std::size_t length = 0;
  bool whole = true;  // all are written as integers
};

// The columns of a line that hold lists of numbers, in their order; none where it is no object.
std::vector<JsonVector> json_vectors(std::string_view line);

}  // namespace slide
