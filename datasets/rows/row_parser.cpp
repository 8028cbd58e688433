#include "datasets/rows/row_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "datasets/rows/number_parser.h"

namespace slide {

namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The current line.
struct Line {
  const char* begin;
  const char* end;
  const RowSyntax& syntax;

  template <class... Args>
  [[noreturn]] void fail(const char* at, fmt::format_string<Args...> format, Args&&... args) const {
    throw RowFault{static_cast<std::size_t>(at - begin) + 1,
                   fmt::format(format, std::forward<Args>(args)...)};
  }
  bool ends_token(const char* at) const { return at >= end || is_blank(*at); }
  // The text from `at` to the next blank or `separator`, shortened for a message.
  std::string token(const char* at, char separator = ' ') const {
    constexpr std::size_t kShown = 24;
    const char* stop = at;
    while (!ends_token(stop) && *stop != separator) ++stop;
    const std::string_view text(at, static_cast<std::size_t>(stop - at));
    std::string shown;
    for (const char c : text.substr(0, kShown)) shown += (c >= 32 && c < 127) ? c : '?';
    return text.size() > kShown ? shown + "..." : shown;
  }
};

bool starts_negative(const Line& line, const char* at) {
  return at < line.end && *at == '-' && is_digit(at[1]);
}

[[noreturn]] void fail_label(const Line& line, const char* at) {
  if (line.ends_token(at))
    line.fail(at, "a label is missing or cut off here; write l1,l2,... without blanks");
  if (starts_negative(line, at) && line.syntax.libsvm && line.token(at, ',') == "-1")
    line.fail(
        at, "label -1 is negative; labels are ids that count from 0: of two classes -1 and +1 write 0 and 1");
  if (starts_negative(line, at)) {
    line.fail(at, "label {} is negative; labels are ids that count from 0", line.token(at, ','));
  }
  line.fail(at, "'{}' is no label; labels are ids, written l1,l2,...", line.token(at, ','));
}

[[noreturn]] void fail_label_range(const Line& line, const char* at) {
  line.fail(at,
            "label {} is out of range; labels must be below {}: correct the label or the number of labels",
            line.token(at, ','), line.syntax.label_limit);
}

// 0 and 1 again and again are no ids.
[[noreturn]] void fail_indicator(const Line& line) {
  line.fail(line.begin, "'{}' is a column for each label; write the ids of those that are 1, as l1,l2,...",
            line.token(line.begin));
}

[[noreturn]] void fail_feature(const Line& line, const char* at) {
  if (line.token(at).starts_with("qid:")) {
    line.fail(at, "'{}' is a query id, which means nothing here; remove it from every line", line.token(at));
  }
  if (starts_negative(line, at)) {
    line.fail(at, "feature {} is negative; features are ids that count from {}", line.token(at, ':'),
              line.syntax.one_based ? 1 : 0);
  }
  line.fail(at, "'{}' is no feature; features are written id:value", line.token(at));
}

[[noreturn]] void fail_feature_range(const Line& line, const char* at, std::uint64_t written) {
  if (line.syntax.one_based && written == 0) {
    line.fail(at, "feature 0 in a file whose ids count from 1; read it as 0-based");
  }
  line.fail(at, "feature {} is out of range; ids must be below {}: correct the id or the number of features",
            line.token(at, ':'), line.syntax.feature_limit + (line.syntax.one_based ? 1 : 0));
}

[[noreturn]] void fail_value(const Line& line, const char* at, NumberFault fault) {
  const std::string shown = line.token(at);
  if (shown.empty()) line.fail(at, "the value is missing or cut off here; write id:value");
  switch (fault) {
    case NumberFault::kNotFinite:
      line.fail(at, "the value '{}' is not finite; write a number or leave the feature out", shown);
    case NumberFault::kTooLarge:
      line.fail(at, "the value {} is too large for a 32-bit float; scale the data", shown);
    default:
      line.fail(at, "the value '{}' is no number; write id:value", shown);
  }
}

// libsvm may write labels as decimals: skips a fraction of zeros.
const char* skip_zero_fraction(const Line& line, const char* at) {
  if (at >= line.end || *at != '.') return at;
  ++at;
  while (at < line.end && *at == '0') ++at;
  return at;
}

// Whether the token at `at` has a colon, and thus is a feature, not a list of labels.
bool is_feature_token(const Line& line, const char* at) {
  for (; !line.ends_token(at); ++at) {
    if (*at == ':') return true;
  }
  return false;
}

// Parses one label and returns its end; nullptr where there is none.
const char* parse_label(const Line& line, const char* at, std::uint64_t& label) {
  if (line.syntax.libsvm && *at == '+') ++at;
  const char* stop = parse_id(at, label);
  if (stop == at) return nullptr;
  if (line.syntax.libsvm) stop = skip_zero_fraction(line, stop);
  return line.ends_token(stop) || *stop == ',' ? stop : nullptr;
}

// Parses `l1,l2,...` at the start of the line, if present, and returns the end of the token.
const char* parse_labels(const Line& line, std::vector<std::uint32_t>& labels) {
  bool ascending = true;
  std::int64_t previous = -1;
  const char* at = line.begin;
  while (true) {
    std::uint64_t label = 0;
    const char* stop = parse_label(line, at, label);
    if (stop == nullptr) {
      if (!is_feature_token(line, line.begin)) fail_label(line, at);
      labels.clear();
      return line.begin;
    }
    if (label >= line.syntax.label_limit) fail_label_range(line, at);
    ascending = ascending && static_cast<std::int64_t>(label) > previous;
    previous = static_cast<std::int64_t>(label);
    labels.push_back(static_cast<std::uint32_t>(label));
    at = stop;
    if (line.ends_token(at)) break;
    ++at;
  }
  if (!ascending) {
    std::sort(labels.begin(), labels.end());
    const std::uint64_t all = line.syntax.label_limit;
    if (labels.size() > 2 && labels.back() <= 1 && (all == kIdLimit || labels.size() >= all))
      fail_indicator(line);
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  }
  return at;
}

// Throws for what is wrong with a value that ends at `number.end`.
void check_value(const Line& line, const char* at, const char* stop, const ParsedFloat& number) {
  if (number.fault != NumberFault::kNone) fail_value(line, stop + 1, number.fault);
  if (line.ends_token(number.end)) return;
  if (number.end == stop) fail_feature(line, at);
  fail_value(line, stop + 1, NumberFault::kNoNumber);
}

// Parses the features from `at` to the end of the line in order; returns whether ids ascend.
bool parse_features(const Line& line, const char* at, Row& row) {
  const std::uint64_t base = line.syntax.one_based ? 1 : 0;
  const std::uint64_t limit = std::min(line.syntax.feature_limit, line.syntax.known_features);
  std::uint32_t* const ids = row.ids.data();
  float* const values = row.values.data();
  std::size_t count = 0;
  std::int64_t previous = -1;
  bool ascending = true;
  while (true) {
    while (at < line.end && is_blank(*at)) ++at;
    if (at >= line.end) break;
    std::uint64_t written = 0;
    const char* stop = parse_id(at, written);
    if (stop == at) fail_feature(line, at);
    const std::uint64_t id = written - base;  // an id 0 wraps around where ids start at 1
    ParsedFloat number = {1.0F, NumberFault::kNone, stop};
    if (*stop == ':' && stop < line.end) number = parse_float(stop + 1, line.end);
    if (id >= limit) [[unlikely]] {
      if (id >= line.syntax.feature_limit) fail_feature_range(line, at, written);
      check_value(line, at, stop, number);
      ++row.unknown;
      at = number.end;
      continue;
    }
    if (number.fault != NumberFault::kNone || !line.ends_token(number.end)) [[unlikely]]
      check_value(line, at, stop, number);
    ids[count] = static_cast<std::uint32_t>(id);
    values[count] = number.value;
    ++count;
    ascending = ascending && static_cast<std::int64_t>(id) > previous;
    previous = static_cast<std::int64_t>(id);
    at = number.end;
  }
  row.feature_count = count;
  return ascending;
}

// Sorts the features by id; sums values of equal ids in written order.
void sort_and_merge(const Line& line, Row& row) {
  const std::size_t count = row.feature_count;
  row.order.resize(count);
  // Keys of id, then position, which keep equal ids in their order.
  for (std::size_t i = 0; i < count; ++i) row.order[i] = (std::uint64_t{row.ids[i]} << 32) | i;
  std::sort(row.order.begin(), row.order.end());
  row.unsorted.assign(row.values.begin(), row.values.begin() + static_cast<std::ptrdiff_t>(count));
  std::size_t used = 0;
  for (const std::uint64_t key : row.order) {
    const auto id = static_cast<std::uint32_t>(key >> 32);
    const float value = row.unsorted[key & 0xffffffffU];
    if (used > 0 && row.ids[used - 1] == id) {
      row.values[used - 1] += value;
      if (!std::isfinite(row.values[used - 1])) {
        line.fail(line.begin, "the values of feature {} sum to more than a float holds; scale the data",
                  std::uint64_t{id} + (line.syntax.one_based ? 1 : 0));
      }
      continue;
    }
    row.ids[used] = id;
    row.values[used++] = value;
  }
  row.feature_count = used;
}

}  // namespace

void scale_to_unit_length(float* values, std::size_t count) {
  double even = 0, odd = 0;  // two independent sums hide the latency of additions
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    even += double{values[i]} * double{values[i]};
    odd += double{values[i + 1]} * double{values[i + 1]};
  }
  if (count % 2 == 1) even += double{values[count - 1]} * double{values[count - 1]};
  const double square = even + odd;
  if (square == 0) return;
  const double scale = 1.0 / std::sqrt(square);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(double{values[i]} * scale);
}

// Returns false where the line is no row: in libsvm text a comment, or a blank line unless these are rows. A
// token has at least two bytes with its blank, which bounds the number of features.
bool parse_row(const char* begin, const char* end, const RowSyntax& syntax, Row& row) {
  const void* comment = nullptr;
  if (syntax.libsvm) {
    comment = std::memchr(begin, '#', static_cast<std::size_t>(end - begin));
    if (comment != nullptr) end = static_cast<const char*>(comment);
  }
  while (end > begin && (is_blank(end[-1]) || end[-1] == '\r')) --end;
  row.labels.clear();
  row.feature_count = row.unknown = 0;
  if (begin == end) return !syntax.libsvm || (syntax.blank_rows && comment == nullptr);
  const Line line = {begin, end, syntax};
  const auto room = static_cast<std::size_t>(end - begin) / 2 + 1;
  if (row.ids.size() < room) {
    row.ids.resize(2 * room);
    row.values.resize(2 * room);
  }
  const char* at = is_blank(*begin) ? begin : parse_labels(line, row.labels);
  if (!parse_features(line, at, row)) sort_and_merge(line, row);
  if (syntax.normalize) scale_to_unit_length(row.values.data(), row.feature_count);
  return true;
}

}  // namespace slide
