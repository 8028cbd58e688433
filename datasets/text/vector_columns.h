// Finds the column of JSON Lines that holds dense features, such as an encoder's vectors. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/rows/read_options.h"

namespace slide {

struct VectorColumns {
  std::string found;    // the column; empty: none, or it is not clear which
  std::string warning;  // why it is not clear, without the name of the file; or empty
};

// Looks at the first lines of a file, which begins with `head`. Dense features are the only column without
// another role in `columns` that is a list of numbers of one length above 1 on nine of ten lines (the others
// are malformed), where not all are integers: these may be ids or places.
VectorColumns find_vector_columns(std::string_view head, const TableColumns& columns);

// The most frequent length of the lists of numbers in the column, on the first lines that have one; 0: none
// has.
std::size_t vector_length(std::string_view text, const std::string& column);

}  // namespace slide
