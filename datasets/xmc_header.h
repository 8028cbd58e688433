// The first line of XMC text, `samples features labels`, or `samples features` where the labels lie in a
// second file, and how the text is held against it. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/read_options.h"
#include "datasets/row_parser.h"

namespace slide {

struct XmcHeader {
  std::uint64_t samples = 0, features = 0, labels = 0;  // 0 labels where the line does not tell of any
  std::size_t bytes = 0;                                // of the line, with its end
};

// Whether `text` begins with `samples features labels`, three numbers and nothing else.
bool has_xmc_header(std::string_view text);
// Whether `text` begins with `samples features`, and goes on with features alone: their labels are elsewhere.
bool has_features_header(std::string_view text);
// Whether it begins with two such numbers, and what follows has not come yet.
bool is_lone_features_header(std::string_view text);

// Reads the first line of `text`, of either kind. Throws InputError, here and below, that names `origin`.
XmcHeader parse_xmc_header(std::string_view text, const std::string& origin);

// What its lines may hold.
RowSyntax row_syntax(const ReadOptions& options, const XmcHeader& header);
// The same of libsvm text.
RowSyntax row_syntax(const ReadOptions& options);

// Throws where the lines of samples, and blank ones behind them that may stand for samples, are not as many
// as the header says.
void check_samples(const XmcHeader& header, std::uint64_t lines, std::uint64_t blank_lines,
                   const std::string& origin);

}  // namespace slide
