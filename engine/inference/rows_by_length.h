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
  // Number of rows, the first of `ids`, that are at least .4 times as long as the 64th longest. Where label
  // frequencies are skewed, the best labels of nearly every sample are among these: of 670,091 generated
  // labels 7,900 are so long, and no sample of 512 needs more than the 10,000 longest.
  std::size_t long_rows = 0;
};

// O(rows x inputs), by `threads` threads but for the order. Rows whose lengths differ by less than about 1 %
// stay in ascending order of their ids, as they lie in memory.
RowsByLength rows_by_length(const Layer& layer, int threads);

}  // namespace slide
