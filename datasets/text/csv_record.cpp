#include "datasets/text/csv_record.h"

#include <algorithm>

#include "datasets/rows/row_parser.h"

namespace slide {

namespace {

// Position after the quote that closes the one at `open`, or npos.
std::size_t end_of_quotes(std::string_view text, std::size_t open) {
  for (std::size_t at = open + 1;;) {
    const std::size_t quote = text.find('"', at);
    if (quote == std::string_view::npos) return quote;
    if (quote + 1 >= text.size() || text[quote + 1] != '"') return quote + 1;
    at = quote + 2;
  }
}

// Extent of a record without its line end, or of the text where quotes are unclosed.
struct Extent {
  std::size_t bytes = 0;  // up to the line end, or the end of the text
  bool open = false;      // ends within quotes
};

// Walks field by field: only a quote at the start of a field protects delimiters and line ends.
Extent first_record(std::string_view text, char delimiter) {
  std::size_t at = 0;
  while (true) {
    if (at < text.size() && text[at] == '"') {
      at = end_of_quotes(text, at);
      if (at == std::string_view::npos) return {text.size(), true};
    }
    while (at < text.size() && text[at] != delimiter && text[at] != '\n') ++at;
    if (at == text.size() || text[at] == '\n') return {at, false};
    ++at;
  }
}

// Content of quotes, with doubled quotes reduced.
std::string_view without_doubled(std::string_view content, std::string& unquoted) {
  if (content.find('"') == std::string_view::npos) return content;
  const std::size_t begin = unquoted.size();
  for (std::size_t i = 0; i < content.size(); ++i) {
    unquoted += content[i];
    if (content[i] == '"') ++i;
  }
  return std::string_view(unquoted).substr(begin);
}

}  // namespace

std::string_view take_csv_record(std::string_view& text, char delimiter) {
  const Extent extent = first_record(text, delimiter);
  std::string_view record = text.substr(0, extent.bytes);
  text.remove_prefix(extent.bytes < text.size() ? extent.bytes + 1 : extent.bytes);
  while (!extent.open && !record.empty() && record.back() == '\r') record.remove_suffix(1);
  return record;
}

std::size_t whole_csv_records(std::string_view text, char delimiter) {
  std::size_t whole = 0;
  while (whole < text.size()) {
    const Extent extent = first_record(text.substr(whole), delimiter);
    if (extent.open) break;
    whole = std::min(whole + extent.bytes + 1, text.size());
  }
  return whole;
}

// Fields are views of the record; only fields with doubled quotes are copied, to `unquoted`.
void split_csv_record(std::string_view record, char delimiter, std::vector<std::string_view>& fields,
                      std::string& unquoted) {
  fields.clear();
  unquoted.clear();
  unquoted.reserve(record.size());  // avoids reallocation, which would invalidate views
  for (std::size_t at = 0;;) {
    std::size_t end = 0;
    if (at < record.size() && record[at] == '"') {
      end = end_of_quotes(record, at);
      if (end == std::string_view::npos)
        throw RowFault{at + 1, "quotes open here and are never closed; close them, or double a lone quote"};
      if (end < record.size() && record[end] != delimiter)
        throw RowFault{end + 1, "text behind closing quotes; double the quotes within a field"};
      fields.push_back(without_doubled(record.substr(at + 1, end - at - 2), unquoted));
    } else {
      end = std::min(record.find(delimiter, at), record.size());
      fields.push_back(record.substr(at, end - at));
    }
    if (end == record.size()) return;
    at = end + 1;
  }
}

}  // namespace slide
