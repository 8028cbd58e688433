#include "datasets/rows/xmc_header.h"

#include <algorithm>
#include <array>
#include <span>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/number_parser.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

std::uint64_t id_limit(std::uint32_t option, std::uint64_t header) {
  return option != 0 ? std::min<std::uint64_t>(option, header) : header;
}

// Counts blank-separated numbers; 0 where there is anything else.
int count_numbers(std::string_view line) {
  int numbers = 0;
  bool inside = false;
  for (const char c : line) {
    const bool digit = is_digit(c);
    if (!digit && c != ' ' && c != '\t' && c != '\r') return 0;
    numbers += digit && !inside;
    inside = digit;
  }
  return numbers;
}

}  // namespace

bool has_xmc_header(std::string_view text) {
  text = without_byte_order_mark(text);
  return count_numbers(text.substr(0, text.find('\n'))) == 3;
}

bool is_lone_features_header(std::string_view text) {
  text = without_byte_order_mark(text);
  return count_numbers(take_line(text)) == 2 && is_blank_line(text);
}

// Two numbers, then a first row that begins with `id:`, after blank lines (rows without features).
bool has_features_header(std::string_view text) {
  text = without_byte_order_mark(text);
  if (count_numbers(take_line(text)) != 2) return false;
  std::string_view line;
  while (!text.empty() && is_blank_line(line)) line = take_line(text);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t colon = line.find_first_not_of(kDigits);
  return colon != std::string_view::npos && colon > 0 && line[colon] == ':';
}

// numbers: samples, features, labels; labels stay 0 where a second file has them.
XmcHeader parse_xmc_header(std::string_view text, const std::string& origin) {
  constexpr const char* kWant = "the first line must be 'samples features labels', three numbers";
  const std::size_t stop = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, stop));  // a copy, for parse_id() reads bytes behind the number
  const auto fail = [&](std::size_t at, const char* what) {
    fail_input("{}:1:{}: {}; {}", origin, at + 1, what, kWant);
  };
  if (text.empty()) fail(0, "the file is empty");
  line.append(kReadAhead + 1, '\n');
  std::array<std::uint64_t, 3> numbers{};
  std::size_t at = 0;
  const auto is_blank = [&](std::size_t place) {
    return line[place] == ' ' || line[place] == '\t' || line[place] == '\r';
  };
  const auto skip_blanks = [&] {
    while (is_blank(at)) ++at;
  };
  const bool without_labels = has_features_header(text) || is_lone_features_header(text);
  const std::size_t given = without_labels ? 2 : numbers.size();
  for (std::uint64_t& number : std::span(numbers).first(given)) {
    skip_blanks();
    const auto end = static_cast<std::size_t>(parse_id(line.data() + at, number) - line.data());
    const bool is_alone = is_blank(end) || end == stop;
    if (end == at || !is_alone) fail(at, "no header");
    if (number > kIdLimit) fail(at, "a number of the header is too large");
    at = end;
  }
  skip_blanks();
  if (at < stop) fail(at, "no header");
  return {numbers[0], numbers[1], numbers[2], std::min(stop + 1, text.size())};
}

namespace {

// Bound of the feature ids that are kept; with leave_out_features, higher ids are left out and are no error.
std::uint64_t known_features(const ReadOptions& options) {
  return options.leave_out_features && options.feature_limit != 0 ? options.feature_limit : kIdLimit;
}
std::uint64_t feature_limit(const ReadOptions& options, std::uint64_t header) {
  return options.leave_out_features ? header : id_limit(options.feature_limit, header);
}

}  // namespace

RowSyntax row_syntax(const ReadOptions& options, const XmcHeader& header) {
  return {.normalize = options.normalize,
          .feature_limit = feature_limit(options, header.features),
          .known_features = known_features(options),
          .label_limit = id_limit(options.label_limit, header.labels)};
}

RowSyntax row_syntax(const ReadOptions& options) {
  return {.libsvm = true,
          .one_based = options.one_based,
          .normalize = options.normalize,
          .feature_limit = feature_limit(options, kIdLimit),
          .known_features = known_features(options),
          .label_limit = id_limit(options.label_limit, kIdLimit)};
}

// Throws where the file has more lines than the header says, or fewer, blank ones at the end included.
void check_samples(const XmcHeader& header, std::uint64_t lines, std::uint64_t blank_lines,
                   const std::string& origin) {
  if (lines > header.samples) {
    fail_input("{}:{}:1: the header says {} samples, but the file has {}; correct the header or the file",
               origin, 2 + header.samples, header.samples, lines);
  }
  if (header.samples > lines + blank_lines) {
    fail_input("{}:{}:1: the file ends after {} samples, but its header says {}; it may be cut off", origin,
               2 + lines + blank_lines, lines + blank_lines, header.samples);
  }
}

}  // namespace slide
