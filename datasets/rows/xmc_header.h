// Header line of XMC text, `samples features labels`, or `samples features` where labels are in a second
// file, and its checks. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/rows/read_options.h"
#include "datasets/rows/row_parser.h"

namespace slide {

struct XmcHeader {
  std::uint64_t samples = 0, features = 0, labels = 0;  // labels: 0 where the line has none
  std::size_t bytes = 0;                                // of the line, with its end
};

// Whether `text` begins with a line of exactly three numbers, `samples features labels`.
bool has_xmc_header(std::string_view text);
// Whether `text` begins with `samples features` and continues with features only: labels are elsewhere.
bool has_features_header(std::string_view text);
// Whether `text` is exactly a line of two numbers, with no content yet.
bool is_lone_features_header(std::string_view text);

// Parses the first line of `text`, of either kind. Throws InputError that names `origin`, as do functions
// below.
XmcHeader parse_xmc_header(std::string_view text, const std::string& origin);

// Syntax of the lines after the header.
RowSyntax row_syntax(const ReadOptions& options, const XmcHeader& header);
// Syntax of libsvm text.
RowSyntax row_syntax(const ReadOptions& options);

// Throws where the number of sample lines, plus blank lines after them that may be samples, differs from the
// header.
void check_samples(const XmcHeader& header, std::uint64_t lines, std::uint64_t blank_lines,
                   const std::string& origin);

}  // namespace slide
