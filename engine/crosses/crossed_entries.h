// Selection of the entries of a row from which feature crosses are formed; shared by the choice of crosses
// and by their lookup. Functions of their arguments, safe from any thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

inline constexpr std::size_t kCrossedFeatures = 40;  // max features of a row that form crosses
inline constexpr std::size_t kCrossesOfRow = kCrossedFeatures * (kCrossedFeatures - 1) / 2;
inline constexpr std::size_t kCrossedRows = 256;  // rows per task

// Calls visit(i) for the entries of a row, ascending, that form crosses: the kCrossedFeatures entries of
// largest |value|, ties by lower index; entries of value 0 never.
template <class F>
void visit_crossed(const SparseRow& row, F&& visit) {
  // Sort key, ascending: by decreasing |value|, then by index. All ones for value 0, which sorts last.
  const auto key_of = [&](std::size_t i) {
    const std::uint64_t size = std::bit_cast<std::uint32_t>(std::fabs(row.values[i]));
    return size == 0 ? ~std::uint64_t{0} : ~size << 32 | i;
  };
  std::uint64_t last = ~std::uint64_t{0} - 1;  // largest key that is visited; excludes entries of value 0
  if (row.ids.size() > kCrossedFeatures) {
    // Not thread_local: out of memory, glibc aborts when it registers the destructor.
    std::vector<std::uint64_t> keys(row.ids.size());
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(i);
    const auto end = keys.begin() + (kCrossedFeatures - 1);
    std::nth_element(keys.begin(), end, keys.end());
    last = std::min(last, *end);
  }
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    if (key_of(i) <= last) visit(i);
  }
}

}  // namespace slide
