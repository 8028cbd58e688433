// The neurons of a layer by falling length of their weight rows, as BoundedPass goes through them where
// there is no linear term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

struct RowsByLength {
  std::vector<std::uint32_t> ids;
  // The first so many are at least .4 times as long as the 64th longest row. They are what the best labels
  // of nearly every sample are among where labels are not equally frequent: of 670,091 generated labels
  // 7,900 are so long, and no sample of 512 needs more than 10,000.
  std::size_t long_rows = 0;
};

// O(rows x inputs), by `threads` threads but for the order. Rows whose lengths differ by less than about 1 %
// stay in ascending order of their ids, as they lie in memory.
RowsByLength rows_by_length(const Layer& layer, int threads);

}  // namespace slide
