#include "datasets/formats/label_lists.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/formats/npy.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/npz_matrix.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
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

// Labels of a sparse matrix [samples x labels]: its nonzero entries.
LabelLists of_npz(std::string_view bytes, const Source& from) {
  const NpzMatrix matrix = read_npz_labels({bytes, from.path});
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

// Meaning of rows of numbers: label ids, or a column of 0 and 1 for each label; kEither: undecided.
enum class Rows { kIds, kIndicator, kEither };

// Detects an indicator matrix: rows of equal length with 0 and 1 only, where a row has a number twice. Lists
// of ids never have an id twice.
class IndicatorTest {
 public:
  // Adds an entry of the current row.
  void add(std::uint64_t value) {
    ++count_;
    if (value > 1) binary_ = false;
    if (value == 0) ++zeros_;
  }
  void end_row() {
    if (first_) columns_ = count_;
    same_ = same_ && count_ == columns_;
    twice_ = twice_ || zeros_ > 1 || count_ - zeros_ > 1;
    first_ = false;
    count_ = zeros_ = 0;
  }
  std::size_t columns() const { return columns_; }
  // Whether further rows can change rows().
  bool open() const { return binary_ && same_; }
  Rows rows() const {
    if (first_ || !binary_ || !same_ || columns_ < 2) return Rows::kIds;
    return twice_ ? Rows::kIndicator : Rows::kEither;
  }

 private:
  bool binary_ = true, same_ = true, twice_ = false, first_ = true;
  std::size_t columns_ = 0, count_ = 0, zeros_ = 0;
};

[[noreturn]] void fail_either(const std::string& path, const char* advice) {
  fail_input(
      "{}: every row is 0 and 1, which can be two ids of labels or a column for each of two labels; {}", path,
      advice);
}

// The labels of an indicator matrix: columns with value(row, column) != 0. Throws InputError for more columns
// than labels.
template <class Value>
LabelLists of_columns(std::size_t columns, const Source& from, const Value& value) {
  if (from.limit != 0 && columns > from.limit) {
    fail_input(
        "{}: {} columns, one a label, but there are {} labels: correct the matrix or the number of labels",
        from.path, columns, from.limit);
  }
  LabelLists lists;
  for (std::size_t row = 0; row < from.samples; ++row) {
    for (std::size_t c = 0; c < columns; ++c) {
      if (value(row, c)) lists.ids.push_back(static_cast<std::uint32_t>(c));
    }
    lists.offsets.push_back(lists.ids.size());
  }
  lists.count = static_cast<std::uint32_t>(columns);
  return lists;
}

// An array of two dimensions whose rows are in C's order or Fortran's.
struct Grid {
  std::size_t rows, columns;
  bool by_column;

  std::size_t at(std::size_t row, std::size_t column) const {
    return by_column ? column * rows + row : row * columns + column;
  }
};

// Real numbers are no ids: a matrix of 0 and 1 alone.
LabelLists of_reals(const NpyArray& array, const Grid& grid, const NpyName& name, const Source& from) {
  std::vector<float> values;
  if (!array.numbers(values)) name.fail("the array has no whole numbers");
  const bool indicator = array.header().shape.size() == 2 && grid.columns > 1 &&
                         std::ranges::all_of(values, [](float v) { return v == 0.0F || v == 1.0F; });
  if (!indicator) name.fail("the array has no whole numbers, and is no matrix of 0 and 1 either");
  return of_columns(grid.columns, from,
                    [&](std::size_t row, std::size_t c) { return values[grid.at(row, c)] != 0; });
}

Rows rows_of(const std::vector<std::uint64_t>& values, const Grid& grid) {
  IndicatorTest test;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t c = 0; c < grid.columns; ++c) test.add(values[grid.at(row, c)]);
    test.end_row();
    if (test.rows() == Rows::kIds) break;
  }
  return test.rows();
}

// Labels from an array of NumPy: ids, one or a row for each sample (negative numbers: no label), or an
// indicator matrix.
LabelLists of_npy(std::string_view bytes, const Source& from) {
  const NpyName name{from.path, "the array",
                     "save whole numbers with numpy.save, one or a row for each sample"};
  const NpyArray array(std::string(bytes), name);
  const NpyHeader& header = array.header();
  if (header.shape.empty() || header.shape.size() > 2) name.fail("the array has not one or two dimensions");
  if (header.shape[0] != from.samples) fail_rows(from, header.shape[0]);
  const Grid grid{from.samples, header.shape.size() == 2 ? header.shape[1] : 1, header.by_column};
  std::vector<std::uint64_t> values;
  if (!array.whole_numbers(values)) return of_reals(array, grid, name, from);
  Rows rows = rows_of(values, grid);
  if (header.type == "b1" && grid.columns > 1) rows = Rows::kIndicator;
  if (rows == Rows::kEither)
    fail_either(from.path, "save the columns of labels as bool, or ids with a column of -1 beside them");
  if (rows == Rows::kIndicator)
    return of_columns(grid.columns, from,
                      [&](std::size_t row, std::size_t c) { return values[grid.at(row, c)] != 0; });
  LabelLists lists;
  for (std::size_t row = 0; row < from.samples; ++row) {
    for (std::size_t c = 0; c < grid.columns; ++c) {
      const std::uint64_t id = values[grid.at(row, c)];
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

// A line `samples labels`.
struct LabelsHeader {
  std::uint64_t samples = 0;
  std::uint32_t labels = 0;
};

std::optional<LabelsHeader> header_of(std::string_view line) {
  LabelsHeader header;
  std::string_view rest = line;
  if (!take(rest, header.samples) || !rest.starts_with(' ')) return std::nullopt;
  rest.remove_prefix(1);
  if (!take(rest, header.labels) || !is_blank_line(rest)) return std::nullopt;
  return header;
}

// Statistics of a text of labels, which distinguish a header from labels, and ids from an indicator matrix.
struct TextShape {
  std::size_t lines = 0;               // without blank lines at the end
  std::size_t empty = 0;               // blank lines at the end
  bool ended = true;                   // whether the last line has a line end
  std::optional<LabelsHeader> header;  // the first line, if it can be a header
  bool header_alone = false;  // whether all further lines, and not the first, have `id:value` or commas
  std::uint64_t largest = 0;  // largest id in further lines without these
  IndicatorTest all, rest;    // of all lines; of all but the first

  // Max number of samples after a header. A file may end with the blank line of a sample without labels,
  // with or without its line end.
  std::size_t given() const { return lines - 1 + empty + (ended ? 1 : 0); }
};

// Adds a line to `shape`. Ignores malformed entries, which add_line() finds later.
void look_at_line(std::string_view line, bool first, TextShape& shape) {
  const auto add = [&](std::uint64_t value) {
    shape.all.add(value);
    if (!first) shape.rest.add(value);
  };
  std::string_view rest = line;
  for (skip_between(rest); !rest.empty(); skip_between(rest)) {
    std::uint64_t id = 0;
    const bool number = take(rest, id);
    const std::size_t end = std::min(rest.find_first_of(kBetween), rest.size());
    add(number && end == 0 ? id : 2);  // `id:value` is no column of an indicator matrix
    if (!first && number) shape.largest = std::max(shape.largest, id);
    rest.remove_prefix(end);
  }
  shape.all.end_row();
  if (!first) shape.rest.end_row();
}

// Collects in one pass what tells a header and an indicator matrix apart from ids (TextShape). Blank lines
// between others count as samples without labels; blank lines at the end only in `empty`. Lines are parsed
// only while they can still decide something.
TextShape shape_of(std::string_view text) {
  TextShape shape;
  bool all_marked = true;   // all lines after the first have `id:value` or commas
  std::size_t further = 0;  // lines after the first that are not blank
  for (bool first = true; !text.empty(); first = false) {
    shape.ended = text.find('\n') != std::string_view::npos;
    const std::string_view line = take_line(text);
    if (first) shape.header = header_of(line);
    if (is_blank_line(line)) {
      ++shape.empty;
      continue;
    }
    const std::size_t blank =
        std::exchange(shape.empty, 0);  // lines before this one, of samples without labels
    shape.lines += blank + 1;
    const bool blank_is_first = shape.lines == blank + 1;
    if (blank > 0) look_at_line({}, blank_is_first, shape);  // one shows what all of them do
    const bool has_mark = first || line.find_first_of(":,") != std::string_view::npos;
    all_marked = all_marked && has_mark;
    further += first ? 0 : 1;
    if (shape.rest.open() || (shape.header && !has_mark)) look_at_line(line, first, shape);
  }
  shape.header_alone = further > 0 && all_marked;
  return shape;
}

// Whether the first line is a header 'samples labels'. Throws InputError where it can also be two labels of
// the first sample.
bool has_header(const TextShape& shape, const Source& from) {
  if (!shape.header) return false;
  const std::uint64_t samples = shape.header->samples;
  if (shape.header_alone) return true;
  if (samples != from.samples) return samples + 1 == shape.lines && shape.lines != from.samples;
  if (shape.lines + shape.empty > from.samples) return true;
  if (shape.given() < samples || shape.largest >= shape.header->labels) return false;
  if (shape.header->labels == samples) return true;  // a list has no label twice
  fail_input(
      "{}:1:1: this line can be a header 'samples labels' or two labels of the first sample; write '{},{}' "
      "for "
      "labels, or for a header end the file with the empty line of the last sample",
      from.path, samples, shape.header->labels);
}

// Adds the labels of a sample from a line: ids, or `id:value`, where value 0 is no label.
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
          "{}:{}:{}: '{}' is no label; give the ids of a sample on a line, without names and comments: "
          "whole numbers from 0, with commas between",
          from.path, number, column, shown_part(line.substr(column - 1)));
    }
    if (value != 0) add_label(id, from, fmt::format("line {}", number), lists);
  }
  end_sample(lists);
}

// One line per sample; blank lines after the last sample are ignored.
LabelLists of_lines(std::string_view text, std::size_t number, const Source& from) {
  LabelLists lists;
  for (; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (lists.offsets.size() > from.samples) break;
    add_line(line, number, from, lists);
  }
  return lists;
}

// Labels of lines of 0 and 1: one line per sample, one character per label.
LabelLists of_indicator_lines(std::string_view text, std::size_t columns, const Source& from) {
  std::vector<char> values;
  while (!text.empty()) {
    std::string_view rest = take_line(text);
    for (skip_between(rest); !rest.empty(); skip_between(rest)) {
      values.push_back(rest.front());
      rest.remove_prefix(1);
    }
  }
  return of_columns(columns, from,
                    [&](std::size_t row, std::size_t c) { return values[row * columns + c] == '1'; });
}

void check_header(const LabelsHeader& header, std::size_t lines, std::size_t given, const Source& from) {
  if (header.samples > given) {
    fail_input("{}:{}:1: the file ends after {} samples, but its header says {}; it may be cut off",
               from.path, lines + 2, lines, header.samples);
  }
  if (header.samples != from.samples) fail_rows(from, header.samples);
}

// Labels from text: a line of ids for each sample, or an indicator matrix, each possibly after a header.
LabelLists of_text(std::string_view text, const Source& from) {
  text = without_byte_order_mark(text);
  const TextShape shape = shape_of(text);
  const bool headed = has_header(shape, from);
  const std::size_t lines = shape.lines - (headed ? 1 : 0);
  if (headed) {
    take_line(text);
    check_header(*shape.header, lines, shape.given(), from);
  }
  if (lines > from.samples) fail_rows(from, lines);
  const IndicatorTest& test = headed ? shape.rest : shape.all;
  const bool indicator = test.rows() == Rows::kIndicator && lines == from.samples;
  if (test.rows() == Rows::kEither)
    fail_either(from.path, "write id:1 for ids, or save the columns as a matrix of bool in a .npy");
  LabelLists lists =
      indicator ? of_indicator_lines(text, test.columns(), from) : of_lines(text, headed ? 2 : 1, from);
  if (headed && lists.offsets.size() == from.samples) end_sample(lists);  // an empty line without its end
  if (lists.offsets.size() != from.samples + 1) fail_rows(from, lists.offsets.size() - 1);
  if (!headed) return lists;
  if (shape.header->labels < lists.count) {
    fail_input("{}:1:1: the first line says that there are {} labels, but there is label {}", from.path,
               shape.header->labels, lists.count - 1);
  }
  lists.count = shape.header->labels;
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
