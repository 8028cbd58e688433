// Arrays between canaries, and error bounds of float kernels against double arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"

namespace slide::kernels::test {

inline constexpr double kEpsilon = 0x1.0p-23;
inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Error bound of `terms` rounded additions of values of total magnitude `magnitude`.
inline double rounding_bound(std::size_t terms, double magnitude) {
  return (static_cast<double>(terms) + 4.0) * kEpsilon * magnitude + 1e-30;
}

// `size` elements that start `offset` elements after a cache line, between guard zones. Everything is
// initialised to `fill`; intact() checks the guards bit by bit.
template <class T>
class Guarded {
  static_assert(sizeof(T) == sizeof(std::uint32_t));

 public:
  explicit Guarded(std::size_t size, std::size_t offset = 0, T fill = std::bit_cast<T>(0xc640e6b7u))
      : size_(size), first_(kGuard + offset), fill_(fill), storage_(first_ + size + kGuard) {
    for (T& value : storage_) value = fill;
  }

  T* data() { return storage_.data() + first_; }
  const T* data() const { return storage_.data() + first_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  bool untouched(std::size_t i) const { return same(data()[i]); }
  bool intact() const {
    for (std::size_t i = 0; i < first_; ++i) {
      if (!same(storage_[i])) return false;
    }
    for (std::size_t i = first_ + size_; i < storage_.size(); ++i) {
      if (!same(storage_[i])) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 64;
  bool same(T value) const {
    return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(fill_);
  }

  std::size_t size_, first_;
  T fill_;
  AlignedArray<T> storage_;
};

using Floats = Guarded<float>;

// Normal values between NaN guards: a kernel that reads past the end shows it.
inline Floats normal_floats(std::size_t size, std::uint64_t item, std::size_t offset = 0) {
  Floats values(size, offset, kNaN);
  Rng rng(1, Purpose::kTest, size, item);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(rng.normal());
  return values;
}

// Rows of `columns` normal values at a stride of `stride`; the padding is NaN.
inline Floats normal_rows(std::size_t rows, std::size_t columns, std::size_t stride, std::uint64_t item) {
  Floats values(rows * stride, 0, kNaN);
  Rng rng(2, Purpose::kTest, columns, item);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) values[r * stride + c] = static_cast<float>(rng.normal());
  }
  return values;
}

// `count` distinct row numbers below `rows`, unordered.
inline std::vector<std::uint32_t> scattered_ids(std::size_t count, std::size_t rows) {
  std::vector<std::uint32_t> ids(rows);
  for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<std::uint32_t>(i);
  Rng rng(3, Purpose::kTest, rows);
  for (std::size_t i = rows; i > 1; --i) std::swap(ids[i - 1], ids[rng.below(static_cast<std::uint32_t>(i))]);
  ids.resize(count);
  return ids;
}

}  // namespace slide::kernels::test
