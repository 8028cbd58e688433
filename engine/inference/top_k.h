// Top k of a stream of scored labels. Small k: a sorted array with insertion. Larger k: a buffer of 2k
// entries that is cut to the best k whenever it is full and sorted at the end. k of at least half of all
// labels: all scores in an array by label, then a radix sort. An offer costs amortised O(1) for large k and a
// binary search for small k.
//
// Not thread-safe. Memory is kept between streams.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace slide {

struct Prediction {
  std::uint32_t label;
  // Logit; with InferenceOptions::log_softmax the log-probability. With kNN prediction, of the mixed
  // probability: its log-odds under the sigmoid loss, its logarithm under softmax, for any options.
  float score;
};

// Order of labels by score, best first; ties by lower label.
inline bool ranks_before(const Prediction& a, const Prediction& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

class TopK {
 public:
  // Up to this k, entries are kept in order and threshold() is exact.
  static constexpr std::size_t kMaxInOrder = 256;

  // Begins a stream of labels below `labels`, of which the `k` best are kept.
  void reset(std::size_t k, std::size_t labels);
  void clear();
  std::size_t k() const { return k_; }

  // Lower scores are not kept any more, nor equal scores of labels larger than all kept ones. It is the k-th
  // best score so far, or for k > kMaxInOrder an earlier value of it; before k labels are kept, the lowest
  // finite float, so that minus infinity and NaN are never kept.
  float threshold() const { return threshold_; }

  // Offers one label. Labels come in any order, each once.
  void offer(std::uint32_t label, float score) {
    if (!(score >= threshold_)) return;
    if (keeps_all_) {
      scores_[label] = score;
    } else if (k_ > kMaxInOrder) {
      append({label, score});
    } else {
      insert({label, score});
    }
  }

  // Offers labels[i] with scores[i].
  void offer(std::span<const std::uint32_t> labels, const float* scores);

  // Instead of offer(), after clear(): appends labels that come in order, at most k.
  void append(const Prediction& entry) {
    if (size_ == entries_.size()) make_room();
    entries_[size_++] = entry;
  }

  // Digits of the radix sort: of the difference between a key and the smallest key.
  class Digits {
   public:
    static constexpr unsigned kBits = 11;
    static constexpr std::size_t kCount = 2;

    Digits() = default;
    // For keys up to `greatest`; keys below `lowest` count as `lowest`.
    Digits(std::uint32_t lowest, std::uint32_t greatest)
        : lowest_(lowest),
          shift_(static_cast<unsigned>(std::max<int>(
              0, std::bit_width(greatest - std::min(lowest, greatest)) - int{kCount * kBits}))) {}
    // All digits as one number; the remaining lower bits of a key are compared separately.
    std::uint32_t part(std::uint32_t key) const { return (std::max(key, lowest_) - lowest_) >> shift_; }
    std::uint32_t of(std::uint32_t key, std::size_t digit) const {
      return part(key) >> (digit * kBits) & ((1U << kBits) - 1);
    }

   private:
    std::uint32_t lowest_ = 0;
    unsigned shift_ = 0;
  };

  // Working memory of finish().
  struct Scratch {
    struct Entry {
      std::uint32_t label, key;  // keys ascend as scores descend
    };
    std::vector<Entry> entries, sorted;
    std::vector<float> sample;
    Digits digits;
    std::array<std::array<std::uint32_t, 1U << Digits::kBits>, Digits::kCount> starts;
  };
  // Ends the stream: best() then holds the k best labels, or all, best first; ties by lower label.
  void finish(Scratch& scratch);
  std::span<const Prediction> best() const { return {entries_.data(), size_}; }
  // Callers that change scores must keep the order.
  std::span<Prediction> best() { return {entries_.data(), size_}; }

  // Adds `offset` to all scores, after finish().
  void shift(float offset);
  // Clips all scores to finite values, after finish(): NaN becomes the lowest float. Only weights that
  // training does not produce have such scores.
  void keep_finite();

 private:
  void insert(const Prediction& entry);
  void make_room();
  void cut_down();
  void list_all();
  struct Bounds {
    float high, low;
  };
  template <class At>
  Bounds sampled_bounds(std::size_t size, At score_at, std::vector<float>& sample) const;
  template <class At>
  bool make_keys(std::size_t size, At entry_at, Bounds bounds, Scratch& scratch) const;
  template <class At>
  bool select_keys(std::size_t size, At entry_at, Scratch& scratch) const;
  void radix_sort(Scratch& scratch);
  static std::size_t sort_equal_digits(std::size_t i, Scratch& scratch);

  std::size_t k_ = 0;
  std::vector<Prediction> entries_;  // the first size_ are in use
  std::size_t size_ = 0;
  float threshold_ = 0.0f;
  bool keeps_all_ = false;
  std::vector<float> scores_;  // with keeps_all_, by label; minus infinity before they are offered
};

}  // namespace slide
