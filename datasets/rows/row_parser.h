// Parses one line of XMC or libsvm text into a row: labels and features sorted, merged, and optionally
// scaled.
//
// A Row is scratch memory, one per thread, reused for every line; it grows to the longest line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide {

// Ids are stored in 32 bits and sizes are largest id + 1, so that the largest id is 2^32 - 2.
inline constexpr std::uint64_t kIdLimit = 0xffffffffULL;

// Accepted syntax of a line.
struct RowSyntax {
  bool libsvm = false;
  bool blank_rows = false;  // libsvm: a blank line is a sample, as in XMC text
  bool one_based = false;   // feature ids in the text start at 1 (libsvm)
  bool normalize = true;
  std::uint64_t feature_limit = kIdLimit;   // exclusive bound of ids, counted from 0
  std::uint64_t known_features = kIdLimit;  // those from here on are left out
  std::uint64_t label_limit = kIdLimit;
};

struct Row {
  std::vector<std::uint32_t> labels;
  // The first feature_count entries are valid; the rest is capacity.
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  std::size_t feature_count = 0;
  std::vector<std::uint64_t> order;  // scratch of sorting
  std::vector<float> unsorted;       // scratch of sorting
  std::size_t unknown = 0;           // for text: number of unknown words, or n-grams of characters alone
};

// An error in a line; the text parser adds file and line.
struct RowFault {
  std::size_t column = 1;  // bytes from the start of the line, from 1
  std::string message;     // "what; what to do"
};

// Parses the line [begin, end), without its line end; a non-digit byte and kReadAhead readable bytes follow.
// Returns false where the line is not a sample (libsvm: a comment, or blank without blank_rows). Throws
// RowFault.
bool parse_row(const char* begin, const char* end, const RowSyntax& syntax, Row& row);

// Divides the values by their Euclidean length; zero rows stay.
void scale_to_unit_length(float* values, std::size_t count);

}  // namespace slide
