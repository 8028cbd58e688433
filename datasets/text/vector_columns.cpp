#include "datasets/text/vector_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "datasets/rows/json_record.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"

namespace slide {

namespace {

constexpr std::size_t kVectorLines = 200;
constexpr std::size_t kLengthLines = 20;  // with lists, for their length

// Lists of numbers of one column, by their length.
struct Lists {
  std::map<std::size_t, std::size_t> lines;  // number of lines by length of the list
  bool whole = true;
  // The most frequent length.
  std::pair<std::size_t, std::size_t> usual() const {
    return *std::ranges::max_element(lines, {}, [](const auto& entry) { return entry.second; });
  }
};

bool has_role(const std::string& name, const TableColumns& columns, const std::vector<std::string>& texts) {
  return std::ranges::find(texts, name) != texts.end() || name == columns.labels || name == columns.weight ||
         name == columns.group || name == columns.time;
}

// Calls visit(vectors) with the lists of numbers of each line that is whole JSON, while that returns true.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (is_blank_line(line) || !json_form_fault(line).empty()) continue;  // the last line may be cut off
    if (!visit(json_vectors(line))) return;
  }
}

}  // namespace

// Chooses the only list column with one length in nine tenths of the first lines; warns where several
// qualify, or where one has it in half of them. Lists of integers are no vectors.
VectorColumns find_vector_columns(std::string_view head, const TableColumns& columns) {
  const std::vector<std::string> texts = column_names(columns.text);
  std::map<std::string, Lists> lists;
  std::size_t lines = 0;
  for_each_line(without_byte_order_mark(head), [&](const std::vector<JsonVector>& vectors) {
    for (const JsonVector& vector : vectors) {
      if (has_role(vector.name, columns, texts)) continue;
      Lists& of = lists[vector.name];
      ++of.lines[vector.length];
      of.whole = of.whole && vector.whole;
    }
    return ++lines < kVectorLines;
  });
  VectorColumns result;
  std::vector<std::string> equal;
  for (const auto& [name, of] : lists) {
    const auto [length, times] = of.usual();
    if (of.whole || length < 2) continue;
    if (10 * times >= 9 * lines) {
      equal.push_back(name);
    } else if (2 * times >= lines && result.warning.empty()) {
      result.warning = fmt::format(
          "the column '{}' is a list of {} numbers in {} of the first {} lines and is not read; set "
          "data.dense={} to be told where it is not, or data.dense=none",
          name, length, times, lines, name);
    }
  }
  if (equal.size() == 1) return {equal.front(), ""};
  if (equal.size() > 1) {
    result.warning = fmt::format(
        "the columns '{}' are lists of numbers and are not read; name the one of dense features by "
        "data.dense, "
        "or set data.dense=none",
        fmt::join(equal, "' and '"));
  }
  return result;
}

// The most frequent length of the lists in `column`, among the first kLengthLines of them; 0 without any.
std::size_t vector_length(std::string_view text, const std::string& column) {
  Lists lists;
  std::size_t seen = 0;
  for_each_line(text, [&](const std::vector<JsonVector>& vectors) {
    for (const JsonVector& vector : vectors) {
      if (vector.name != column || vector.length == 0) continue;
      ++lists.lines[vector.length];
      ++seen;
    }
    return seen < kLengthLines;
  });
  return seen == 0 ? 0 : lists.usual().first;
}

}  // namespace slide
