#include "datasets/formats/log_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/formats/log_columns.h"

namespace slide {

namespace {

constexpr double kMaxRating = 1000;
constexpr std::uint64_t kEachRating = 5;  // interactions of a rating, on average

}  // namespace

void LogValues::add_time(double time) {
  if (times_.size() > kMaxRatings) return;
  const auto at = std::ranges::lower_bound(times_, time);
  if (at == times_.end() || *at != time) times_.insert(at, time);
}

void LogValues::add(double weight, double time) {
  ++entries_;
  if (time_unit_of(weight)) {
    ++timelike_;
    some_weight_ = std::max(some_weight_, weight);
  }
  add_time(time);
}

void LogValues::add(const LogValues& other) {
  entries_ += other.entries_;
  timelike_ += other.timelike_;
  some_weight_ = std::max(some_weight_, other.some_weight_);
  for (const double time : other.times_) add_time(time);
}

bool LogValues::are_times_ratings() const {
  return times_.size() <= kMaxRatings && !times_.empty() && times_.front() >= -kMaxRating &&
         times_.back() < kMaxRating && entries_ >= kEachRating * times_.size();
}

std::string LogValues::warning(const std::string& origin, bool timed) const {
  const bool weights = are_weights_times(), times = timed && are_times_ratings();
  const std::string weight = fmt::format("{:.0f}", some_weight_);
  if (weights && times)
    return fmt::format(
        "{}: the weights look like times since 1970, near {}, and the times like ratings, from {} to {}: "
        "name the columns the other way round by data.weight and data.time",
        origin, weight, times_.front(), times_.back());
  if (weights)
    return fmt::format(
        "{}: the weights look like times since 1970, near {}: name their column by data.time, and that of "
        "the weights by data.weight, or say data.weight=none",
        origin, weight);
  if (times)
    return fmt::format(
        "{}: the times look like ratings, {} different ones from {} to {}: if so, name their column by "
        "data.weight, and that of the times by data.time, or say data.time=none",
        origin, times_.size(), times_.front(), times_.back());
  return {};
}

}  // namespace slide
