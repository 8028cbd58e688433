// A bound that the first few of many values reach, and few others, without putting the values in order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace slide {

// A value that at least `most` of the values are not behind, in the order of `before`: they are dealt out to
// twice as many stacks, of which `most` have a first one that is not behind it. `none` where there are not
// two for each stack, or `most` is 0. `first` is scratch memory. The loop has no jump, which no processor
// would guess.
template <class Value, class Before>
Value top_bound(std::size_t most, std::span<const Value> values, Before before, Value none,
                std::vector<Value>& first) {
  const std::size_t stacks = 2 * most;
  if (most == 0 || values.size() < 2 * stacks) return none;
  first.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(stacks));
  for (std::size_t at = stacks; at < values.size(); at += stacks) {
    const std::size_t count = std::min(stacks, values.size() - at);
    const Value* row = values.data() + at;
    for (std::size_t i = 0; i < count; ++i) first[i] = before(row[i], first[i]) ? row[i] : first[i];
  }
  const auto bound = first.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::nth_element(first.begin(), bound, first.end(), before);
  return *bound;
}

}  // namespace slide
