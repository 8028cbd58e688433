// Files with one line per sample or label: weights, groups, times. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"

namespace slide {

// Calls take(line, number) for each line of `text`, from 1, without surrounding blanks. Throws InputError,
// with `path` and line, for a blank line, and unless there are exactly `count` lines: one `thing` for each of
// the `things` of `data`.
template <class Take>
void for_each_sample_line(std::string_view text, const std::string& path, std::size_t count,
                          std::string_view thing, std::string_view things, const std::string& data,
                          const Take& take) {
  std::size_t number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    if (++number > count)
      fail_input("{}:{}: a {} more than the {} {} of {}; give one line for each", path, number, thing, count,
                 things, data);
    const std::string_view line = trimmed(take_line(rest));
    if (line.empty()) fail_input("{}:{}: the line is blank; give one {} a line", path, number, thing);
    take(line, number);
  }
  if (number < count)
    fail_input("{}:{}: the {}s end here, but {} has {} {}; give one line for each", path,
               std::max<std::size_t>(number, 1), thing, data, count, things);
}

}  // namespace slide
