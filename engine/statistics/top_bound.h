// Bound of the top k of many values in one pass, without sorting them. Function of its arguments, safe from
// any thread with separate `first`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace slide {

// Returns a value such that at least `limit` values do not come after it in the order of `before`. Method:
// deal the values out to 2 * limit groups; the best of each group are distinct values, and the `limit`-th
// best of these is the bound. Returns `none` where there are fewer than two values per group or `limit` is 0.
// `first` is scratch memory. O(values), branch-free inner loop.
template <class Value, class Before>
Value top_bound(std::size_t limit, std::span<const Value> values, Before before, Value none,
                std::vector<Value>& first) {
  const std::size_t stacks = 2 * limit;
  if (limit == 0 || values.size() < 2 * stacks) return none;
  first.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(stacks));
  for (std::size_t at = stacks; at < values.size(); at += stacks) {
    const std::size_t count = std::min(stacks, values.size() - at);
    const Value* row = values.data() + at;
    for (std::size_t i = 0; i < count; ++i) first[i] = before(row[i], first[i]) ? row[i] : first[i];
  }
  const auto bound = first.begin() + static_cast<std::ptrdiff_t>(limit - 1);
  std::nth_element(first.begin(), bound, first.end(), before);
  return *bound;
}

}  // namespace slide
