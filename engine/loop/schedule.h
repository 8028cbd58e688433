// Steps at which to rehash or rebuild: at fixed intervals, or at intervals that grow geometrically as the
// weights settle (Chen et al., "SLIDE", MLSys 2020, section 3.1.3). Plain value, one per layer and per
// action.
#pragma once

#include <algorithm>
#include <cstdint>

namespace slide {

class IntervalSchedule {
 public:
  // The first event is due after `interval` steps (0 = never); each gap is `growth` times the one before.
  // With `from_nothing`, gaps begin with 8 steps and double until they reach the interval.
  IntervalSchedule(std::uint32_t interval, double growth, bool from_nothing = false)
      : gap_(from_nothing ? std::min(interval, 8U) : interval),
        interval_(interval),
        growth_(growth),
        next_(gap_) {}

  // Whether an event is due after `done` steps; if so, moves on to the next.
  bool due(std::uint64_t done) {
    if (gap_ <= 0 || double(done) < next_) return false;
    while (next_ <= double(done)) {
      gap_ = gap_ < interval_ ? std::min(2 * gap_, interval_) : gap_ * growth_;
      next_ += gap_;
    }
    return true;
  }

  // Equal state: equal arguments, after equally many steps.
  bool operator==(const IntervalSchedule&) const = default;

 private:
  double gap_;
  double interval_;
  double growth_;
  double next_;
};

}  // namespace slide
