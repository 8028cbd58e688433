// The first line of XMC text, `samples features labels`, and how the text is held against it. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "datasets/read_options.h"
#include "datasets/row_parser.h"

namespace slide {

struct XmcHeader {
  std::uint64_t samples = 0, features = 0, labels = 0;
  std::size_t bytes = 0;  // of the line, with its end
};

// Reads the first line of `text`. Throws InputError, here and below, that names `origin`.
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
