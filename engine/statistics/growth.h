// Id maps for incremental training: for each feature and label of the grown model, its id in the previous
// model.
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

// Ids that remain keep their order.
struct IdGrowth {
  std::vector<std::uint32_t> was;  // by new id: the previous id, or kNewId
  std::size_t before = 0;          // number of previous ids

  // All previous ids stay; new ids follow up to `now`.
  static IdGrowth behind(std::size_t before, std::size_t now) {
    IdGrowth ids{std::vector<std::uint32_t>(now, kNewId), before};
    std::iota(ids.was.begin(), ids.was.begin() + static_cast<std::ptrdiff_t>(std::min(before, now)), 0u);
    return ids;
  }
  std::size_t size() const { return was.size(); }
  // Whether no id is new, dropped or moved.
  bool stays() const {
    for (std::size_t i = 0; i < was.size(); ++i) {
      if (was[i] != i) return false;
    }
    return was.size() == before;
  }
  // Returns for each previous id the new id, or kNewId where the id is dropped.
  std::vector<std::uint32_t> now() const {
    std::vector<std::uint32_t> ids(before, kNewId);
    for (std::uint32_t id = 0; id < was.size(); ++id) {
      if (was[id] != kNewId) ids[was[id]] = id;
    }
    return ids;
  }
};

struct Growth {
  IdGrowth features, labels;  // labels: neurons of the output layer, possibly more than labels of the data
};

}  // namespace slide
