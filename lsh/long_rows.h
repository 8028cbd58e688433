// The rows of a layer that are longest, by their squared lengths: they win most often, and for most inputs
// (Yan et al. 2018, "Norm-Ranging LSH for Maximum Inner Product Search"), so the search policy scores them
// always. Their number does not grow with the layer.
//
// choose() and follow() run alone; the rest is const.
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
  explicit LongRows(std::size_t rows);
  static std::size_t chosen_of(std::size_t rows);  // how many of so many rows

  // By row, to be filled before choose().
  std::span<float> lengths2() { return lengths2_.span(); }
  void choose();
  // Rows ids[i] have the length lengths2[i] now. Those chosen follow when many have changed.
  void follow(std::span<const std::uint32_t> ids, const float* lengths2);

  std::span<const std::uint32_t> ids() const { return ids_; }  // the longest first
  bool contains(std::uint32_t id) const { return places_[id] != kNone; }
  std::size_t place(std::uint32_t id) const { return places_[id]; }  // in ids(), or beyond all of them

  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  std::size_t bytes() const;
  static double bytes_of(std::size_t rows);

 private:
  static constexpr std::uint16_t kNone = UINT16_MAX;
  void note_places();

  AlignedArray<float> lengths2_;
  AlignedArray<std::uint16_t> places_;  // by row
  std::vector<std::uint32_t> ids_, counts_;
  std::uint64_t changed_ = 0;  // rows, since choose()
};

}  // namespace slide::lsh
