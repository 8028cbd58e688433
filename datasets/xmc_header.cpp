#include "datasets/xmc_header.h"

#include <algorithm>
#include <array>

#include "datasets/number_parser.h"
#include "engine/base/error.h"

namespace slide {

namespace {

std::uint64_t id_limit(std::uint32_t option, std::uint64_t header) {
  return option != 0 ? std::min<std::uint64_t>(option, header) : header;
}

}  // namespace

XmcHeader parse_xmc_header(std::string_view text, const std::string& origin) {
  constexpr const char* kWant = "the first line must be 'samples features labels', three numbers";
  const std::size_t stop = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, stop));
  const auto fail = [&](std::size_t at, const char* what) {
    fail_input("{}:1:{}: {}; {}", origin, at + 1, what, kWant);
  };
  if (text.empty()) fail(0, "the file is empty");
  line.append(kReadAhead + 1, '\n');
  std::array<std::uint64_t, 3> numbers{};
  std::size_t at = 0;
  const auto skip_blanks = [&] {
    while (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') ++at;
  };
  for (std::uint64_t& number : numbers) {
    skip_blanks();
    const auto end = static_cast<std::size_t>(parse_id(line.data() + at, number) - line.data());
    const bool ended = line[end] == ' ' || line[end] == '\t' || line[end] == '\r' || end == stop;
    if (end == at || !ended) fail(at, "no header");
    if (number > kIdLimit) fail(at, "a number of the header is too large");
    at = end;
  }
  skip_blanks();
  if (at < stop) fail(at, "no header");
  return {numbers[0], numbers[1], numbers[2], std::min(stop + 1, text.size())};
}

RowSyntax row_syntax(const ReadOptions& options, const XmcHeader& header) {
  return {.normalize = options.normalize,
          .feature_limit = id_limit(options.feature_limit, header.features),
          .label_limit = id_limit(options.label_limit, header.labels)};
}

RowSyntax row_syntax(const ReadOptions& options) {
  return {.libsvm = true,
          .one_based = options.one_based,
          .normalize = options.normalize,
          .feature_limit = id_limit(options.feature_limit, kIdLimit),
          .label_limit = id_limit(options.label_limit, kIdLimit)};
}

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
