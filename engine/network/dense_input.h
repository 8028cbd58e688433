// The dense features of a block's samples, in the layouts that a first layer multiplies. One object for each
// block. Not thread-safe, except transpose() of different slices.
#pragma once

#include <algorithm>
#include <cstddef>

#include "engine/base/aligned.h"
#include "engine/kernels/kernels.h"
#include "engine/network/slice.h"

namespace slide {

class DenseInput {
 public:
  // Layout of xt(): kSlices: [columns x samples of a slice] for each slice of kSliceSamples, for a first
  // layer that is stored by feature; kWhole: [columns x lanes], for one that is stored by neuron.
  enum class Order { kSlices, kWhole };

  // For up to `lanes` samples.
  void reserve(std::size_t columns, std::size_t lanes, Order order) {
    columns_ = columns;
    order_ = order;
    ldx_ = kernels::spread_stride(columns);
    x_ = AlignedArray<float>(lanes * ldx_);
    xt_ = AlignedArray<float>(columns * lanes);
  }
  static std::size_t bytes_of(std::size_t columns, std::size_t lanes) {
    return lanes * (columns + (columns > 0 ? kernels::spread_stride(columns) : 0)) * sizeof(float);
  }

  std::size_t columns() const { return columns_; }
  std::size_t ldx() const { return ldx_; }
  // Sample-major [lanes x ldx], to be filled before transpose().
  float* row(std::size_t sample) { return x_.data() + sample * ldx_; }
  const float* x() const { return x_.data(); }

  // Transposes the samples of one slice, of `lanes` samples in all, into xt(). The first `used` samples are
  // filled; the others become zeros. transpose_all(): all slices.
  void transpose(std::size_t slice, std::size_t used, std::size_t lanes);
  void transpose_all(std::size_t used, std::size_t lanes) {
    for (std::size_t slice = 0; slice < slices_of(lanes, kSliceSamples); ++slice)
      transpose(slice, used, lanes);
  }

  // Unit-major: of all samples [columns x lanes], or of a slice of them [columns x samples of the slice].
  const float* xt() const { return xt_.data(); }
  const float* xt(std::size_t slice) const { return xt_.data() + slice * kSliceSamples * columns_; }

 private:
  std::size_t columns_ = 0, ldx_ = 0;
  Order order_ = Order::kWhole;
  AlignedArray<float> x_, xt_;
};

inline void DenseInput::transpose(std::size_t slice, std::size_t used, std::size_t lanes) {
  const Slice samples = slice_of(slice, lanes, kSliceSamples);
  for (std::size_t s = std::max(used, samples.first); s < samples.end(); ++s)
    std::fill_n(row(s), columns_, 0.0F);
  const bool slices = order_ == Order::kSlices;
  float* to = xt_.data() + samples.first * (slices ? columns_ : 1);
  kernels::active().transpose(row(samples.first), ldx_, samples.count, columns_,
                              slices ? samples.count : lanes, to);
}

}  // namespace slide
