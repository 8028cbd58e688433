// Records of CSV and TSV, by RFC 4180: fields stand between delimiters, those in quotes may hold delimiters,
// line breaks and, doubled, quotes. A quote within a field that does not begin with one is a character as any
// other. Lines end in LF or CR LF. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// Takes the first record off `text`, which is not empty: without its line end.
std::string_view take_csv_record(std::string_view& text, char delimiter);

// Length of the records that the text begins with, up to one whose quotes stay open.
std::size_t whole_csv_records(std::string_view text, char delimiter);

// Takes a record apart. The fields view the record, or `unquoted` where quotes were doubled. Throws RowFault
// for quotes that are not closed, or closed before the end of their field.
void split_csv_record(std::string_view record, char delimiter, std::vector<std::string_view>& fields,
                      std::string& unquoted);

}  // namespace slide
