// Checks and copies of the parts of an exchange. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "engine/base/error.h"
#include "engine/cluster/cluster.h"

namespace slide {

inline void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

// Copies a rank's part to itself; throws Error unless there is one part per rank and both own parts have
// equal sizes.
inline void copy_own_part(Cluster::ConstParts out, Cluster::Parts in, int rank, int size) {
  const auto ranks = static_cast<std::size_t>(size), own = static_cast<std::size_t>(rank);
  if (out.size() != ranks || in.size() != ranks || out[own].size() != in[own].size()) {
    fail_run(
        "an exchange among {} ranks has {} parts to send and {} to receive, or one for itself of two sizes",
        size, out.size(), in.size());
  }
  copy_bytes(out[own], in[own]);
}

// Throws Error unless `all` has exactly the size of `mine` from `size` ranks.
inline void check_gather(std::span<const std::byte> mine, std::span<const std::byte> all, int size) {
  if (all.size() == mine.size() * static_cast<std::size_t>(size)) return;
  fail_run("{} bytes from each of {} ranks do not fill {} bytes", mine.size(), size, all.size());
}

}  // namespace slide
