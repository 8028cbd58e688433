// The k best of a stream of scored labels. Few are kept in order as they come; of many, a buffer of up to
// twice as many is cut down to the best k whenever it is full, and put in order in the end; where half of all
// labels or more are wanted, every score is kept in its label's place. So an offer costs constant time on
// average whatever k, but for the logarithm of a few.
//
// Not thread-safe. Memory is kept from stream to stream.
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
  // Logit; with InferenceOptions::log_softmax its logarithmic probability. Where neighbours vote, that of the
  // mixed probability: its log-odds under the sigmoid loss, its logarithm under softmax, whatever the
  // options.
  float score;
};

// Of labels in order of their scores, best first; equal scores by smaller label.
inline bool ranks_before(const Prediction& a, const Prediction& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

class TopK {
 public:
  // So many are kept in order, and threshold() is exact.
  static constexpr std::size_t kMaxInOrder = 256;

  // Begins a stream of labels below `labels`, of which the `k` best are kept.
  void reset(std::size_t k, std::size_t labels);
  void clear();
  std::size_t k() const { return k_; }

  // Lower scores are not kept any more, nor equal ones of labels larger than all there are. It is the k-th
  // best score, with k > kMaxInOrder one that was it some time ago; before there are k, the least finite
  // float, so that minus infinity and what is no number are never kept.
  float threshold() const { return threshold_; }

  // Labels come in any order, each once.
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

  // The same of labels[i] with scores[i].
  void offer(std::span<const std::uint32_t> labels, const float* scores);

  // In place of offer(), after clear(), for those that come in order, of which there are no more than k.
  void append(const Prediction& entry) {
    if (size_ == entries_.size()) make_room();
    entries_[size_++] = entry;
  }

  // The digits of the radix sort, of what a key is above another one.
  class Digits {
   public:
    static constexpr unsigned kBits = 11;
    static constexpr std::size_t kCount = 2;

    Digits() = default;
    // For keys up to `greatest`; those below `least` count as this one.
    Digits(std::uint32_t least, std::uint32_t greatest)
        : least_(least),
          shift_(static_cast<unsigned>(std::max<int>(
              0, std::bit_width(greatest - std::min(least, greatest)) - int{kCount * kBits}))) {}
    // The digits together. What else there is of a key has to be compared.
    std::uint32_t part(std::uint32_t key) const { return (std::max(key, least_) - least_) >> shift_; }
    std::uint32_t of(std::uint32_t key, std::size_t digit) const {
      return part(key) >> (digit * kBits) & ((1U << kBits) - 1);
    }

   private:
    std::uint32_t least_ = 0;
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
  // Ends the stream: afterwards best() holds the k best, or all there are, best first; equal scores by
  // smaller label.
  void finish(Scratch& scratch);
  std::span<const Prediction> best() const { return {entries_.data(), size_}; }
  // Whoever changes scores keeps the order.
  std::span<Prediction> best() { return {entries_.data(), size_}; }

  // Adds `offset` to all scores, after finish().
  void shift(float offset);
  // Makes all scores finite, after finish(): of weights that no training gives, they may leave the range of
  // floats, and then become the end of it, or, where they are no number, its lower end.
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
  std::vector<float> scores_;  // with keeps_all_, by label; minus infinity before they come
};

}  // namespace slide
