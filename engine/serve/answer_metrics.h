// Statistics of a server's answers, which reveal inputs that differ from the training data (drift). Atomic
// counts: safe from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace slide::serve {

class AnswerMetrics {
 public:
  static constexpr std::array kScores = {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0};

  // The highest probability of a sample's labels.
  void add_top_score(double score) {
    std::size_t at = 0;
    while (at < kScores.size() && score > kScores[at]) ++at;
    ++top_[at];
    // In millionths, for atomic sums.
    if (score > 0) millionths_ += static_cast<std::uint64_t>(score * 1e6);
  }
  void add_empty() { ++empty_; }
  void add_unknown(std::uint64_t features) { unknown_ += features; }

  std::uint64_t top(std::size_t bucket) const { return top_[bucket]; }  // of kScores, then above
  double top_sum() const { return static_cast<double>(millionths_.load()) / 1e6; }
  std::uint64_t empty() const { return empty_; }
  std::uint64_t unknown() const { return unknown_; }

 private:
  std::array<std::atomic<std::uint64_t>, kScores.size() + 1> top_{};
  std::atomic<std::uint64_t> millionths_{0}, empty_{0}, unknown_{0};
};

}  // namespace slide::serve
