// The k best of a stream of scored labels. Few are kept in order as they come; of many, a buffer of up to
// twice as many is cut down to the best k whenever it is full, and put in order in the end. So an offer costs
// constant time on average whatever k, but for the logarithm of a few.
//
// Not thread-safe. Memory is kept from stream to stream.
#pragma once

#include <array>
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

class TopK {
 public:
  // So many are kept in order, and threshold() is exact.
  static constexpr std::size_t kMostInOrder = 256;

  // Begins a stream of up to `most` labels of which the `k` best are kept.
  void reset(std::size_t k, std::size_t most);
  void clear();
  std::size_t k() const { return k_; }

  // Lower scores are not kept any more, nor equal ones of labels larger than all there are. It is the k-th
  // best score, with k > kMostInOrder one that was it some time ago; before there are k, the least finite
  // float, so that minus infinity and what is no number are never kept.
  float threshold() const { return threshold_; }

  // Labels come in any order, each once.
  void offer(std::uint32_t label, float score) {
    if (!(score >= threshold_)) return;
    if (k_ > kMostInOrder) {
      append({label, score});
    } else {
      insert({label, score});
    }
  }

  // The same of labels[i] with scores[i].
  void offer(std::span<const std::uint32_t> labels, const float* scores);

  // In place of offer() for those that come in order, of which there are no more than k.
  void append(const Prediction& entry) {
    if (size_ == entries_.size()) make_room();
    entries_[size_++] = entry;
  }

  // Working memory of finish().
  struct Scratch {
    static constexpr unsigned kDigitBits = 11;  // of a digit of the radix sort
    static constexpr std::size_t kDigits = 3;   // of a score
    struct Entry {
      std::uint32_t label, key;  // keys ascend as scores descend
    };
    std::vector<Entry> entries, sorted;
    std::vector<float> sample;
    std::array<std::array<std::uint32_t, 1U << kDigitBits>, kDigits> starts;
  };
  // Ends the stream: afterwards best() holds the k best, or all there are, best first; equal scores by
  // smaller label.
  void finish(Scratch& scratch);
  std::span<const Prediction> best() const { return {entries_.data(), size_}; }

  // Adds `offset` to all scores, after finish().
  void shift(float offset);

 private:
  void insert(const Prediction& entry);
  void make_room();
  void cut_down();
  float sampled_floor(std::vector<float>& sample) const;
  bool make_keys(float floor, Scratch& scratch) const;
  void radix_sort(Scratch& scratch);

  std::size_t k_ = 0;
  std::vector<Prediction> entries_;  // the first size_ are in use
  std::size_t size_ = 0;
  float threshold_ = 0.0f;
};

}  // namespace slide
