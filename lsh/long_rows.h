// The rows of a layer with the largest norms. They have the largest output for most inputs (Yan et al. 2018,
// "Norm-Ranging LSH for Maximum Inner Product Search"), so the search policy always scores them. Their number
// is fixed.
//
// Invariant: ids() are distinct, by falling norm (16 bits of it) as of the last choose().
// Thread safety: choose(), follow() and load() run alone; const calls run in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"

namespace slide::lsh {

class LongRows {
 public:
  static constexpr std::size_t kInTraining = 512;  // chosen rows of an index that follows training
  LongRows(std::size_t rows, std::size_t chosen);  // of `rows` rows, the min(rows, chosen) longest

  // Squared norms by row, the input of choose().
  std::span<float> lengths2() { return lengths2_.span(); }
  void choose();  // O(rows)
  // Row ids[i] has the squared norm lengths2[i] now. Calls choose() once a 16th of the rows has changed.
  void follow(std::span<const std::uint32_t> ids, const float* lengths2);
  // Frees the memory of choose() and follow(), which must not be called again.
  void freeze();
  bool frozen() const { return counts_.empty(); }

  std::span<const std::uint32_t> ids() const { return ids_; }  // the longest first

  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  std::size_t bytes() const;
  static double bytes_of(std::size_t rows, std::size_t chosen);

 private:
  std::size_t chosen_;
  AlignedArray<float> lengths2_;
  std::vector<std::uint32_t> ids_, counts_;
  std::uint64_t changed_ = 0;  // rows, since choose()
};

}  // namespace slide::lsh
