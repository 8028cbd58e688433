// Reads lines of an input as they arrive: each call waits for one whole line and returns all whole lines
// available then, so that a program at the other end of a pipe gets answers without closing it. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/cluster/cluster.h"

namespace slide::cli {

inline constexpr const char* kStandardInput = "standard input";  // name in messages

class LineSource {
 public:
  // Reads the open file `descriptor`, standard input; does not close it. Throws InputError for a device
  // without an end.
  explicit LineSource(int descriptor);

  // Whole lines with their ends (the last one possibly without); about kMaxBytes at most, unless a single
  // line is longer. Empty at the end of the input. Valid until the next call. Throws InputError where reading
  // fails.
  std::string_view next();

  static constexpr std::size_t kMaxBytes = std::size_t{1} << 22;

 private:
  bool read_more();
  bool has_more_now() const;

  int descriptor_;
  bool at_end_ = false;
  std::string buffer_;
  std::size_t used_ = 0;  // bytes of buffer_ returned by the last call
};

// Distributes rank 0's input lines to all processes; next() is collective.
class SharedLines {
 public:
  SharedLines(Cluster& cluster, int descriptor) : cluster_(cluster), source_(descriptor) {}

  // The same as LineSource::next().
  std::string_view next();

 private:
  Cluster& cluster_;
  LineSource source_;
  std::string lines_;  // with several processes
};

}  // namespace slide::cli
