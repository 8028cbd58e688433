// Finds the column of JSON Lines that holds dense features, such as an encoder's vectors. Pure functions.
#pragma once

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

}  // namespace slide
