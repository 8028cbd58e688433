#include "lsh/long_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace slide::lsh {

namespace {
constexpr std::size_t kChangedPart = 16;  // rows / kChangedPart changes lead to a new choice
constexpr std::uint32_t kShift = 16;      // a class is the upper 16 bits of a squared norm

// Grows with the squared norm; class 0: zero, NaN or infinite.
std::uint32_t class_of(float length2) {
  return length2 > 0.0F && std::isfinite(length2) ? std::bit_cast<std::uint32_t>(length2) >> kShift : 0;
}
}  // namespace

LongRows::LongRows(std::size_t rows, std::size_t chosen)
    : chosen_(std::min(rows, chosen)), lengths2_(rows), counts_(std::size_t{1} << (32 - kShift)) {
  ids_.reserve(chosen_);
}

// Counting sort by the upper 16 bits of the squared norms: takes the highest classes whole, and the first
// rows of the last one.
void LongRows::choose() {
  changed_ = 0;
  std::fill(counts_.begin(), counts_.end(), 0U);
  for (const float length2 : lengths2_) ++counts_[class_of(length2)];
  // All classes above `last_class`, and `left` rows of it.
  std::size_t left = chosen_, last_class = counts_.size() - 1;
  while (last_class > 0 && counts_[last_class] <= left) left -= counts_[last_class--];
  ids_.clear();
  for (std::size_t i = 0; i < lengths2_.size(); ++i) {
    const std::size_t row_class = class_of(lengths2_[i]);
    const bool taken = row_class > last_class || (row_class == last_class && left > 0);
    left -= taken && row_class == last_class ? 1 : 0;
    if (taken) ids_.push_back(static_cast<std::uint32_t>(i));
  }
  std::sort(ids_.begin(), ids_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t first = class_of(lengths2_[a]), second = class_of(lengths2_[b]);
    return first != second ? first > second : a < b;
  });
}

void LongRows::follow(std::span<const std::uint32_t> ids, const float* lengths2) {
  for (std::size_t i = 0; i < ids.size(); ++i) lengths2_[ids[i]] = lengths2[i];
  changed_ += ids.size();
  if (changed_ * kChangedPart >= lengths2_.size()) choose();
}

void LongRows::freeze() {
  lengths2_ = {};
  counts_ = {};
}

void LongRows::save(ByteWriter& out) const {
  out.put_array(lengths2_.data(), lengths2_.size());
  out.put_array(ids_.data(), ids_.size());
  out.put(changed_);
}

void LongRows::load(ByteReader& in) {
  in.get_array(lengths2_.data(), lengths2_.size(), "lengths of another number of rows");
  in.get_vector(ids_);
  changed_ = in.get<std::uint64_t>();
  bool good = ids_.size() <= chosen_;
  for (const std::uint32_t id : ids_) good = good && id < lengths2_.size();
  if (!good) in.refuse("impossible long rows");
}

std::size_t LongRows::bytes() const {
  return lengths2_.bytes() + (ids_.capacity() + counts_.size()) * sizeof(std::uint32_t);
}

double LongRows::bytes_of(std::size_t rows, std::size_t chosen) {
  return double(rows) * sizeof(float) + double(std::min(rows, chosen)) * sizeof(std::uint32_t) +
         double(std::size_t{1} << (32 - kShift)) * sizeof(std::uint32_t);
}

}  // namespace slide::lsh
