#include "engine/inference/top_k.h"

#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/base/score_key.h"

namespace slide {

namespace {

constexpr std::size_t kFewEntries = 2048;  // fewer are sorted by comparisons

using Entry = TopK::Scratch::Entry;

constexpr std::uint32_t kSign = 1U << 31;
constexpr std::uint32_t kKeyOfMinusZero = kSign;

}  // namespace

void TopK::reset(std::size_t k, std::size_t labels) {
  k_ = k;
  keeps_all_ = k > kMaxInOrder && 2 * k >= labels && labels >= kFewEntries;
  if (keeps_all_) {
    scores_.resize(labels);
  } else if (k > kMaxInOrder) {
    entries_.reserve(std::min(2 * k, labels));
    entries_.resize(std::min(entries_.size(), 2 * k));  // a previous stream may have used more
  } else {
    entries_.resize(k);
  }
  clear();
}

void TopK::clear() {
  size_ = 0;
  threshold_ = k_ == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
  if (keeps_all_) std::fill(scores_.begin(), scores_.end(), -std::numeric_limits<float>::infinity());
}

// Inserts into the sorted entries, shifting worse ones back; the worst one of k drops out.
void TopK::insert(const Prediction& entry) {
  if (size_ == k_) {
    if (k_ == 0 || !ranks_before(entry, entries_[k_ - 1])) return;
    --size_;
  }
  std::size_t at = size_++;
  for (; at > 0 && ranks_before(entry, entries_[at - 1]); --at) entries_[at] = entries_[at - 1];
  entries_[at] = entry;
  if (size_ == k_) threshold_ = entries_[k_ - 1].score;
}

// For larger k, appends without branches: an entry below the threshold is overwritten by the next one.
void TopK::offer(std::span<const std::uint32_t> labels, const float* scores) {
  if (k_ <= kMaxInOrder) {
    for (std::size_t i = 0; i < labels.size(); ++i) offer(labels[i], scores[i]);
    return;
  }
  if (keeps_all_) {
    for (std::size_t i = 0; i < labels.size(); ++i) scores_[labels[i]] = scores[i];
    return;
  }
  for (std::size_t i = 0; i < labels.size();) {
    if (size_ == entries_.size()) make_room();
    const std::size_t end = std::min(labels.size(), i + entries_.size() - size_);
    Prediction* to = entries_.data() + size_;
    for (; i < end; ++i) {
      *to = {labels[i], scores[i]};
      to += to->score >= threshold_ ? 1 : 0;
    }
    size_ = static_cast<std::size_t>(to - entries_.data());
  }
}

void TopK::make_room() {
  constexpr std::size_t kMinRoom = 1024;
  if (size_ == 2 * k_) return cut_down();
  // avoids reallocation
  const std::size_t room = size_ < entries_.capacity() ? entries_.capacity() : SIZE_MAX;
  entries_.resize(std::min({room, 2 * k_, std::max(kMinRoom, 2 * size_)}));
}

void TopK::cut_down() {
  const auto begin = entries_.begin();
  const auto last = begin + static_cast<std::ptrdiff_t>(k_) - 1;
  std::nth_element(begin, last, begin + static_cast<std::ptrdiff_t>(size_), ranks_before);
  size_ = k_;
  threshold_ = last->score;
}

// Moves the scores kept by label to the buffer.
void TopK::list_all() {
  entries_.clear();
  for (std::uint32_t label = 0; label < scores_.size(); ++label)
    if (scores_[label] >= threshold_) entries_.push_back({label, scores_[label]});
  size_ = entries_.size();
}

// Large inputs are selected and sorted by keys, small ones and exceptions by comparisons.
void TopK::finish(Scratch& scratch) {
  if (k_ <= kMaxInOrder) return;
  if (keeps_all_) {
    const auto entry_at = [this](std::size_t i) {
      return Prediction{static_cast<std::uint32_t>(i), scores_[i]};
    };
    if (select_keys(scores_.size(), entry_at, scratch)) return radix_sort(scratch);
    list_all();
  } else if (size_ >= kFewEntries) {
    if (select_keys(
            size_, [this](std::size_t i) { return entries_[i]; }, scratch))
      return radix_sort(scratch);
  }
  if (size_ > k_) cut_down();
  std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_), ranks_before);
}

// Copies labels and keys of the k best entries, and possibly some more, to scratch.entries. Returns false
// where a comparison sort is required.
template <class At>
bool TopK::select_keys(std::size_t size, At entry_at, Scratch& scratch) const {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  const auto score_at = [&](std::size_t i) {
    const float score = entry_at(i).score;
    return score >= kLowest ? score : kLowest;  // NaN ranks last
  };
  const Bounds bounds = sampled_bounds(size, score_at, scratch.sample);
  return make_keys(size, entry_at, bounds, scratch) ||
         make_keys(size, entry_at, {bounds.high, kLowest}, scratch);
}

// Estimates two bounds from a sample of the scores: one exceeded by a few of the k best, one exceeded by
// slightly more than k.
template <class At>
TopK::Bounds TopK::sampled_bounds(std::size_t size, At score_at, std::vector<float>& sample) const {
  constexpr std::size_t kEvery = 16, kHighPart = 128;
  const std::size_t count = size / kEvery;
  const auto spread =
      std::sqrt(static_cast<double>(count));  // at least twice the standard deviation of a rank
  sample.resize(count);
  for (std::size_t i = 0; i < count; ++i) sample[i] = score_at(i * kEvery);
  const auto at_rank = [&](std::size_t rank, std::size_t among) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(sample.begin(), at, sample.begin() + static_cast<std::ptrdiff_t>(among),
                     std::greater<>());
    return *at;
  };
  const auto rank = k_ / kEvery + static_cast<std::size_t>(1.5 * spread);
  const bool all = rank >= count;
  const float low = all ? std::numeric_limits<float>::lowest() : at_rank(rank, count);
  const std::size_t kept = all ? count : rank;
  return {at_rank(kept / kHighPart, kept), low};
}

// Copies labels and keys of scores from bounds.low on to scratch.entries, and computes the start offset of
// each digit value. Returns false where fewer than k scores may remain, or where ties would not be ordered:
// labels do not ascend, or a zero is negative.
template <class At>
bool TopK::make_keys(std::size_t size, At entry_at, Bounds bounds, Scratch& scratch) const {
  scratch.entries.resize(size);
  Entry* to = scratch.entries.data();
  std::uint32_t unordered = 0, next = 0, greatest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const auto [label, score] = entry_at(i);
    const std::uint32_t key = key_of_score(score);
    *to = {label, key};
    unordered |= (label < next ? 1U : 0U) | (key == kKeyOfMinusZero ? 1U : 0U);
    next = label;
    const bool keep = score >= bounds.low;
    greatest = std::max(greatest, keep ? key : 0);
    to += keep ? 1 : 0;
  }
  scratch.entries.resize(static_cast<std::size_t>(to - scratch.entries.data()));
  const bool all = bounds.low == std::numeric_limits<float>::lowest();
  if (unordered != 0 || (!all && scratch.entries.size() < std::min(k_, size))) return false;
  scratch.digits = Digits(key_of_score(bounds.high), greatest);
  for (auto& of_digit : scratch.starts) of_digit.fill(0);
  for (const Entry& entry : scratch.entries) {
    for (std::size_t d = 0; d < Digits::kCount; ++d) ++scratch.starts[d][scratch.digits.of(entry.key, d)];
  }
  for (auto& of_digit : scratch.starts) {
    std::uint32_t start = 0;
    for (std::uint32_t& count : of_digit) start += std::exchange(count, start);
  }
  return true;
}

// Least-significant-digit radix sort, alternating between two arrays. Entries with all digits equal are few,
// or all better than bounds.high; comparisons sort them.
void TopK::radix_sort(Scratch& scratch) {
  const auto pass = [&](std::size_t digit, const std::vector<Entry>& from, std::vector<Entry>& to) {
    const Digits digits = scratch.digits;
    std::uint32_t* starts = scratch.starts[digit].data();
    Entry* entries = to.data();
    for (const Entry& entry : from) entries[starts[digits.of(entry.key, digit)]++] = entry;
  };
  scratch.sorted.resize(scratch.entries.size());
  pass(0, scratch.entries, scratch.sorted);
  pass(1, scratch.sorted, scratch.entries);
  size_ = std::min(scratch.entries.size(), k_);
  if (entries_.size() < size_) entries_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    if (i + 1 < scratch.entries.size() && scratch.entries[i + 1].key < scratch.entries[i].key)
      i = sort_equal_digits(i, scratch);
    entries_[i] = {scratch.entries[i].label, score_of_key(scratch.entries[i].key)};
  }
}

// Sorts the entries that share the digits of entry i; returns the index of the first one.
std::size_t TopK::sort_equal_digits(std::size_t i, Scratch& scratch) {
  const std::uint32_t part = scratch.digits.part(scratch.entries[i].key);
  const auto has_others = [&](const Entry& entry) { return scratch.digits.part(entry.key) != part; };
  const auto at = scratch.entries.begin() + static_cast<std::ptrdiff_t>(i);
  const auto begin = std::find_if(std::reverse_iterator(at), scratch.entries.rend(), has_others).base();
  std::sort(begin, std::find_if(at, scratch.entries.end(), has_others), [](const Entry& a, const Entry& b) {
    return a.key < b.key || (a.key == b.key && a.label < b.label);
  });
  return static_cast<std::size_t>(begin - scratch.entries.begin());
}

void TopK::shift(float offset) {
  for (std::size_t i = 0; i < size_; ++i) entries_[i].score += offset;
}

void TopK::keep_finite() {
  constexpr float kLowest = std::numeric_limits<float>::lowest(), kMax = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < size_; ++i) {
    const float score = entries_[i].score;
    entries_[i].score = score >= kLowest ? std::min(score, kMax) : kLowest;
  }
}

}  // namespace slide
