// How the sizes of a model grow when training goes on with new samples: which feature and which label of the
// model before each one of the larger model was.
//
// Plain data, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace slide {

inline constexpr std::uint32_t kNewId = 0xffffffff;

// What stays keeps its order.
struct IdGrowth {
  std::vector<std::uint32_t> was;  // by number now, what it was before, or kNewId
  std::size_t before = 0;          // numbers there were

  // All numbers stay as they are, and new ones stand behind them up to `now`.
  static IdGrowth behind(std::size_t before, std::size_t now) {
    IdGrowth ids{std::vector<std::uint32_t>(now, kNewId), before};
    std::iota(ids.was.begin(), ids.was.begin() + static_cast<std::ptrdiff_t>(std::min(before, now)), 0u);
    return ids;
  }
  std::size_t size() const { return was.size(); }
  // Whether nothing is new, gone or moved.
  bool stays() const {
    for (std::size_t i = 0; i < was.size(); ++i) {
      if (was[i] != i) return false;
    }
    return was.size() == before;
  }
  // By number before, what it is now, or kNewId where it is gone.
  std::vector<std::uint32_t> now() const {
    std::vector<std::uint32_t> ids(before, kNewId);
    for (std::uint32_t id = 0; id < was.size(); ++id) {
      if (was[id] != kNewId) ids[was[id]] = id;
    }
    return ids;
  }
};

struct Growth {
  IdGrowth features, labels;  // labels: neurons of the output layer, which may be more
};

}  // namespace slide
