#include "engine/inference/top_k.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace slide {

namespace {

constexpr std::size_t kFewEntries = 2048;  // less are sorted by comparing them

bool better(const Prediction& a, const Prediction& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

// Descends as scores ascend; equal for both zeros.
std::uint32_t key_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0f);
  return bits >> 31 != 0 ? bits : ~bits & 0x7fffffffU;
}

constexpr std::uint32_t kDigitMask = (1U << TopK::Scratch::kDigitBits) - 1;

std::uint32_t digit_of(float score, std::size_t digit) {
  return key_of(score) >> (digit * TopK::Scratch::kDigitBits) & kDigitMask;
}

}  // namespace

void TopK::reset(std::size_t k) {
  k_ = k;
  size_ = 0;
  threshold_ = k == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
  if (k <= kMostInOrder) entries_.resize(k);
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

void TopK::make_room() {
  constexpr std::size_t kLeastRoom = 1024;
  if (size_ < 2 * k_) {
    entries_.resize(std::min(2 * k_, std::max(kLeastRoom, 2 * size_)));
  } else {
    cut_down();
  }
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
  if (size_ >= kFewEntries && count_digits(scratch)) return radix_sort(scratch);
  if (size_ > k_) cut_down();
  std::sort(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(size_), better);
}

// Counts, of each digit, the entries of each value. False where labels do not ascend: only then are equal
// scores in order.
bool TopK::count_digits(Scratch& scratch) const {
  for (auto& of_digit : scratch.starts) of_digit.fill(0);
  for (std::size_t i = 0; i < size_; ++i) {
    if (i > 0 && entries_[i].label <= entries_[i - 1].label) return false;
    for (std::size_t d = 0; d < Scratch::kDigits; ++d) ++scratch.starts[d][digit_of(entries_[i].score, d)];
  }
  for (auto& of_digit : scratch.starts) {
    std::uint32_t start = 0;
    for (std::uint32_t& count : of_digit) start += std::exchange(count, start);
  }
  return true;
}

// By each digit of the keys in turn, the lowest first, from one array to the other; what the last one puts
// behind the k best is dropped.
void TopK::radix_sort(Scratch& scratch) {
  if (scratch.entries.size() < entries_.size()) scratch.entries.resize(entries_.size());
  Prediction *from = entries_.data(), *to = scratch.entries.data();
  for (std::size_t d = 0; d < Scratch::kDigits; ++d) {
    std::uint32_t* starts = scratch.starts[d].data();
    for (std::size_t i = 0; i < size_; ++i) to[starts[digit_of(from[i].score, d)]++] = from[i];
    std::swap(from, to);
  }
  size_ = std::min(size_, k_);
  std::copy_n(from, size_, entries_.data());
}

void TopK::shift(float offset) {
  for (std::size_t i = 0; i < size_; ++i) entries_[i].score += offset;
}

}  // namespace slide
