#include "datasets/blank_rows.h"

#include <optional>
#include <string_view>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/text/table.h"

namespace slide {

namespace {

bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] == '#';
}

// Appends the blank rows of one file to `blank`. `rows`: number of rows before the file; grows by its rows.
void add_blank_rows(const std::string& path, const ReadOptions& options, std::uint64_t& rows,
                    std::vector<std::uint64_t>& blank) {
  const FileBytes bytes(path);
  std::string_view rest = without_byte_order_mark(bytes.text());
  std::optional<Table> table;
  if (is_table(options.format)) {
    table.emplace(rest, path, options.format, options.columns, Labels::kRequired);
    rest.remove_prefix(table->header_bytes());
  }
  while (!rest.empty()) {
    const std::string_view line = table ? table->take_record(rest) : take_line(rest);
    if (options.format == DataFormat::kLibsvm && is_comment(line)) continue;
    if (is_blank_line(line)) blank.push_back(rows);
    ++rows;
  }
}

}  // namespace

std::vector<std::uint64_t> blank_rows(const std::string& path, const ReadOptions& options) {
  std::vector<std::uint64_t> blank;
  const bool has_lines = options.format == DataFormat::kText || options.format == DataFormat::kLibsvm ||
                         is_table(options.format);
  if (!has_lines || is_stream(path)) return blank;
  std::uint64_t rows = 0;
  for (const std::string& part : parts_of(path)) add_blank_rows(part, options, rows, blank);
  return blank;
}

}  // namespace slide
