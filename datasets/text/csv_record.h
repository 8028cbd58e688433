// CSV and TSV records by RFC 4180: quoted fields may contain delimiters, line breaks and doubled quotes. A
// quote in a field that does not start with one is an ordinary character. Lines end in LF or CR LF. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// Removes and returns the first record of `text` (not empty), without its line end.
std::string_view take_csv_record(std::string_view& text, char delimiter);

// Number of bytes of complete records at the start of the text, before one with unclosed quotes.
std::size_t whole_csv_records(std::string_view text, char delimiter);

// Splits a record. Fields are views of the record, or of `unquoted` where quotes were doubled. Throws
// RowFault for quotes that are unclosed, or closed before the end of their field.
void split_csv_record(std::string_view record, char delimiter, std::vector<std::string_view>& fields,
                      std::string& unquoted);

}  // namespace slide
