// Checks of the weights and times of an interaction log for columns in each other's place. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide {

// Sums over interactions, so the result does not depend on their order. Not thread-safe; sum one for each
// task.
class LogValues {
 public:
  void add(double weight, double time);
  void add(const LogValues& other);

  // Returns a warning of weights that all can be times since 1970, and of times (`timed`: the log has some)
  // that are few small numbers, as ratings are; else "".
  std::string warning(const std::string& origin, bool timed) const;

 private:
  static constexpr std::size_t kMaxRatings = 20;  // distinct values

  void add_time(double time);
  bool are_weights_times() const { return entries_ > 0 && timelike_ == entries_; }
  bool are_times_ratings() const;

  std::uint64_t entries_ = 0, timelike_ = 0;  // interactions; of these, with weights that can be times
  double some_weight_ = 0;
  std::vector<double> times_;  // distinct, ascending, at most kMaxRatings + 1
};

}  // namespace slide
