#include "datasets/label_lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "datasets/file_bytes.h"
#include "datasets/line_chunks.h"
#include "datasets/npy.h"
#include "datasets/npz.h"
#include "datasets/npz_matrix.h"
#include "datasets/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::string_view kBetween = ", \t\r";

struct Source {
  const std::string& path;
  std::size_t samples;
  std::uint32_t limit;
  const std::string& owner;
};

[[noreturn]] void fail_rows(const Source& from, std::size_t rows) {
  fail_input("{}: labels of {} samples, but {} has {} rows; they must be of the same samples", from.path,
             rows, from.owner, from.samples);
}

void end_sample(LabelLists& lists) {
  const auto first = lists.ids.begin() + static_cast<std::ptrdiff_t>(lists.offsets.back());
  std::sort(first, lists.ids.end());
  lists.ids.erase(std::unique(first, lists.ids.end()), lists.ids.end());
  lists.offsets.push_back(lists.ids.size());
}

// Appends label `id` of a sample; `place`: its position in messages.
void add_label(std::uint64_t id, const Source& from, const std::string& place, LabelLists& lists) {
  if (id >= (from.limit == 0 ? kIdLimit : from.limit)) {
    fail_input(
        "{}: label {} of {} is out of range; ids must be below {}: correct the id or the number of labels",
        from.path, id, place, from.limit == 0 ? kIdLimit : from.limit);
  }
  lists.ids.push_back(static_cast<std::uint32_t>(id));
  lists.count = std::max(lists.count, static_cast<std::uint32_t>(id + 1));
}

LabelLists of_npz(std::string_view bytes, const Source& from) {
  const NpzMatrix matrix = read_npz_matrix({bytes, from.path});
  if (matrix.rows != from.samples) fail_rows(from, matrix.rows);
  LabelLists lists;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t i = matrix.ends[row]; i < matrix.ends[row + 1]; ++i) {
      if (matrix.values[i] != 0) add_label(matrix.ids[i], from, fmt::format("row {}", row), lists);
    }
    end_sample(lists);
  }
  lists.count = static_cast<std::uint32_t>(matrix.columns);
  return lists;
}

LabelLists of_npy(std::string_view bytes, const Source& from) {
  const NpyName name{from.path, "the array",
                     "save whole numbers with numpy.save, one or a row for each sample"};
  const NpyArray array(std::string(bytes), name);
  const NpyHeader& header = array.header();
  std::vector<std::uint64_t> values;
  if (!array.whole_numbers(values)) name.fail("the array has no whole numbers");
  if (header.shape.empty() || header.shape.size() > 2) name.fail("the array has not one or two dimensions");
  if (header.shape[0] != from.samples) fail_rows(from, header.shape[0]);
  const std::size_t each = header.shape.size() == 2 ? header.shape[1] : 1;
  LabelLists lists;
  for (std::size_t row = 0; row < from.samples; ++row) {
    for (std::size_t i = 0; i < each; ++i) {
      const std::uint64_t id = values[header.by_column ? i * from.samples + row : row * each + i];
      if (static_cast<std::int64_t>(id) >= 0) add_label(id, from, fmt::format("row {}", row), lists);
    }
    end_sample(lists);
  }
  return lists;
}

// Parses a number at the start of `rest` and removes it.
template <class T>
bool take(std::string_view& rest, T& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc()) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

void skip_between(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
}

// Number of labels in a line `samples labels`, if it is one.
std::optional<std::uint32_t> labels_of_header(std::string_view line, std::size_t samples) {
  std::uint64_t rows = 0;
  std::uint32_t labels = 0;
  std::string_view rest = line;
  if (!take(rest, rows) || rows != samples || !rest.starts_with(' ')) return std::nullopt;
  rest.remove_prefix(1);
  if (!take(rest, labels) || !is_blank_line(rest)) return std::nullopt;
  return labels;
}

void add_line(std::string_view line, std::size_t number, const Source& from, LabelLists& lists) {
  std::string_view rest = line;
  for (skip_between(rest); !rest.empty(); skip_between(rest)) {
    std::uint64_t id = 0;
    float value = 1.0F;
    const std::size_t column = line.size() - rest.size() + 1;
    bool good = take(rest, id);
    if (good && rest.starts_with(':')) {
      rest.remove_prefix(1);
      good = take(rest, value) && std::isfinite(value);
    }
    if (!good || (!rest.empty() && kBetween.find(rest.front()) == std::string_view::npos)) {
      fail_input(
          "{}:{}:{}: '{}' is no label; give the ids of a sample on a line, from 0, with commas between",
          from.path, number, column, shown_part(line.substr(column - 1)));
    }
    if (value != 0) add_label(id, from, fmt::format("line {}", number), lists);
  }
  end_sample(lists);
}

LabelLists of_text(std::string_view text, const Source& from) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                     (text.empty() || text.ends_with('\n') ? 0 : 1);
  LabelLists lists;
  std::optional<std::uint32_t> all;
  std::size_t number = 1;
  if (lines > from.samples) {
    std::string_view rest = text;
    all = labels_of_header(take_line(rest), from.samples);
    if (all) {
      text = rest;
      ++number;
    }
  }
  const std::size_t first = number;
  for (; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (number - first >= from.samples) {
      if (is_blank_line(line)) continue;
      fail_rows(from, lines - (all ? 1 : 0));
    }
    add_line(line, number, from, lists);
  }
  if (lists.offsets.size() != from.samples + 1) fail_rows(from, lists.offsets.size() - 1);
  if (all && *all < lists.count) {
    fail_input("{}:1:1: the first line says that there are {} labels, but there is label {}", from.path, *all,
               lists.count - 1);
  }
  if (all) lists.count = *all;
  return lists;
}

}  // namespace

LabelLists read_labels(const std::string& path, std::size_t samples, std::uint32_t limit,
                       const std::string& owner) {
  const FileBytes file(path);
  const Source from{path, samples, limit, owner};
  const std::string_view bytes = file.text();
  LabelLists lists = is_npz(bytes)   ? of_npz(bytes, from)
                     : is_npy(bytes) ? of_npy(bytes, from)
                                     : of_text(bytes, from);
  if (limit != 0) lists.count = limit;
  return lists;
}

}  // namespace slide
