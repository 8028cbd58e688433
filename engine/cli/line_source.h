// Lines of an input as they come: each call waits for one whole line and brings all that are there by then,
// so that a program at the other end of a pipe gets its answers without closing it. For one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/cluster/cluster.h"

namespace slide::cli {

inline constexpr const char* kStandardInput = "standard input";  // as messages call it

class LineSource {
 public:
  // Reads the open file `descriptor`; does not close it.
  explicit LineSource(int descriptor) : descriptor_(descriptor) {}

  // Whole lines with their ends, the last one perhaps without; about kMaxBytes at most, unless one line is
  // longer. Empty at the end of the input. Valid until the next call. Throws InputError when reading fails.
  std::string_view next();

  static constexpr std::size_t kMaxBytes = std::size_t{1} << 22;

 private:
  bool read_more();
  bool has_more_now() const;

  int descriptor_;
  bool at_end_ = false;
  std::string buffer_;
  std::size_t used_ = 0;  // bytes of buffer_ that the last call returned
};

// The lines of the first process's input, on all processes, which call next() together.
class SharedLines {
 public:
  SharedLines(Cluster& cluster, int descriptor) : cluster_(cluster), source_(descriptor) {}

  // As LineSource::next().
  std::string_view next();

 private:
  Cluster& cluster_;
  LineSource source_;
  std::string lines_;  // of several processes
};

}  // namespace slide::cli
