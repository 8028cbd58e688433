#include "engine/inference/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace slide {

namespace {

constexpr std::size_t kFewEntries = 2048;  // less are sorted by comparing them

bool better(const Prediction& a, const Prediction& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

using Entry = TopK::Scratch::Entry;

// Keys ascend as scores descend; zeros of both signs are neighbours.
constexpr std::uint32_t kSign = 1U << 31;
constexpr std::uint32_t kKeyOfMinusZero = kSign;

std::uint32_t key_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score);
  const auto flip = static_cast<std::uint32_t>(~static_cast<std::int32_t>(bits) >> 31) >> 1;
  return bits ^ flip;
}

float score_of_key(std::uint32_t key) {
  const auto flip = static_cast<std::uint32_t>(~static_cast<std::int32_t>(key) >> 31) >> 1;
  return std::bit_cast<float>(key ^ flip);
}

std::uint32_t digit_of(std::uint32_t key, std::size_t digit) {
  return key >> (digit * TopK::Scratch::kDigitBits) & ((1U << TopK::Scratch::kDigitBits) - 1);
}

}  // namespace

void TopK::reset(std::size_t k, std::size_t most) {
  k_ = k;
  if (k > kMostInOrder) {
    entries_.reserve(std::min(2 * k, most));
  } else {
    entries_.resize(k);
  }
  clear();
}

void TopK::clear() {
  size_ = 0;
  threshold_ = k_ == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
}

void TopK::insert(const Prediction& entry) {
  if (size_ == k_) {
    if (k_ == 0 || !better(entry, entries_[k_ - 1])) return;
    --size_;
  }
  std::size_t at = size_++;
  for (; at > 0 && better(entry, entries_[at - 1]); --at) entries_[at] = entries_[at - 1];
  entries_[at] = entry;
  if (size_ == k_) threshold_ = entries_[k_ - 1].score;
}

void TopK::offer(std::span<const std::uint32_t> labels, const float* scores) {
  if (k_ <= kMostInOrder) {
    for (std::size_t i = 0; i < labels.size(); ++i) offer(labels[i], scores[i]);
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
  constexpr std::size_t kLeastRoom = 1024;
  if (size_ == 2 * k_) return cut_down();
  const std::size_t room = size_ < entries_.capacity() ? entries_.capacity() : SIZE_MAX;  // no more than that
  entries_.resize(std::min({room, 2 * k_, std::max(kLeastRoom, 2 * size_)}));
}

void TopK::cut_down() {
  const auto begin = entries_.begin();
  const auto last = begin + static_cast<std::ptrdiff_t>(k_) - 1;
  std::nth_element(begin, last, begin + static_cast<std::ptrdiff_t>(size_), better);
  size_ = k_;
  threshold_ = last->score;
}

void TopK::finish(Scratch& scratch) {
  if (k_ <= kMostInOrder) return;
  constexpr float kAll = -std::numeric_limits<float>::infinity();
  const bool many = size_ >= kFewEntries;
  if (many && (make_keys(sampled_floor(scratch.sample), scratch) || make_keys(kAll, scratch)))
    return radix_sort(scratch);
  if (size_ > k_) cut_down();
  std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_), better);
}

// A score that about k entries exceed, rather more than less, by the ranks in a sample of them.
float TopK::sampled_floor(std::vector<float>& sample) const {
  constexpr std::size_t kEvery = 16;
  const std::size_t count = size_ / kEvery;
  const auto spread =
      std::sqrt(static_cast<double>(count));  // twice the standard deviation of a rank, or more
  const auto rank = k_ / kEvery + static_cast<std::size_t>(1.5 * spread);
  if (rank >= count) return -std::numeric_limits<float>::infinity();
  sample.resize(count);
  for (std::size_t i = 0; i < count; ++i) sample[i] = entries_[i * kEvery].score;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(sample.begin(), at, sample.end(), std::greater<>());
  return *at;
}

// Brings labels and keys of scores from `floor` on to scratch.entries, and counts where those of each value
// of each digit begin. False where there are less than k, or where equal scores would not come in order:
// labels do not ascend, or a zero is negative.
bool TopK::make_keys(float floor, Scratch& scratch) const {
  scratch.entries.resize(size_);
  Entry* to = scratch.entries.data();
  std::uint32_t unordered = 0, next = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const auto [label, score] = entries_[i];
    *to = {label, key_of(score)};
    unordered |= (label < next ? 1U : 0U) | (to->key == kKeyOfMinusZero ? 1U : 0U);
    next = label;
    to += score >= floor ? 1 : 0;
  }
  scratch.entries.resize(static_cast<std::size_t>(to - scratch.entries.data()));
  if (unordered != 0 || scratch.entries.size() < std::min(k_, size_)) return false;
  for (auto& of_digit : scratch.starts) of_digit.fill(0);
  for (const Entry& entry : scratch.entries) {
    for (std::size_t d = 0; d < Scratch::kDigits; ++d) ++scratch.starts[d][digit_of(entry.key, d)];
  }
  for (auto& of_digit : scratch.starts) {
    std::uint32_t start = 0;
    for (std::uint32_t& count : of_digit) start += std::exchange(count, start);
  }
  return true;
}

// By each digit in turn, the lowest first, from one array to the other; the last one leaves out what comes
// behind the k best.
void TopK::radix_sort(Scratch& scratch) {
  const auto pass = [&](std::size_t digit, const std::vector<Entry>& from, auto put) {
    std::uint32_t* starts = scratch.starts[digit].data();
    for (const Entry& entry : from) put(starts[digit_of(entry.key, digit)]++, entry);
  };
  scratch.sorted.resize(scratch.entries.size());
  Entry *entries = scratch.entries.data(), *sorted = scratch.sorted.data();
  pass(0, scratch.entries, [&](std::size_t at, const Entry& entry) { sorted[at] = entry; });
  pass(1, scratch.sorted, [&](std::size_t at, const Entry& entry) { entries[at] = entry; });
  size_ = std::min(size_, k_);
  pass(2, scratch.entries, [&, best = entries_.data()](std::size_t at, const Entry& entry) {
    if (at < size_) best[at] = {entry.label, score_of_key(entry.key)};
  });
}

void TopK::shift(float offset) {
  for (std::size_t i = 0; i < size_; ++i) entries_[i].score += offset;
}

}  // namespace slide
