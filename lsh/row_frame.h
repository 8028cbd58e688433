// The frame in which the weight rows of a layer are hashed: their mean m, which is subtracted, and the norm
// to which the inner product transform pads them. Subtracting m keeps the order of neurons for a query x: (w
// - m).x = w.x - m.x.
//
// Fitted to a sample of at most 2,048 rows. Invariant: deterministic in the rows, for any number of threads.
// Thread safety: fit() and load() run alone; const calls run in parallel.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"
#include "lsh/query.h"

namespace slide::lsh {

class RowFrame {
 public:
  // A frame of zeros until the first fit().
  explicit RowFrame(std::size_t dim) : mean_(dim) {}

  // Fits to `count` rows. O(dim * sampled rows), parallel over them. Allocates in the first call only.
  void fit(const WeightRows& rows, std::size_t count, int threads);

  std::span<const float> mean() const { return mean_; }
  float mean_bias() const { return mean_bias_; }
  bool has_bias() const { return has_bias_; }  // the fitted rows had biases
  bool all_zero() const { return all_zero_; }  // all sampled weights were 0
  // The squared norm to pad to: the 99th percentile of the centred rows.
  float length2() const { return length2_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  std::size_t bytes() const;
  static double bytes_of(std::size_t dim, std::size_t rows);

 private:
  // Some of the sampled rows, which one thread reads.
  struct Task {
    std::vector<float> sum, row;  // of its rows; scratch: one row in fp32
    double bias = 0;              // sum of the biases
    bool all_zero = true;         // whether its rows are all 0
  };
  struct Rows {  // the sample: `size` rows at intervals of `step`
    const WeightRows& rows;
    std::size_t step, size;
  };
  template <class Use>
  void each_row(const Rows& all, std::size_t t, Use&& use);
  void fit_mean(const Rows& all, int threads);
  void fit_length(const Rows& all, int threads);

  std::vector<float> mean_;
  float mean_bias_ = 0, length2_ = 0;
  bool has_bias_ = false, all_zero_ = true;
  std::vector<Task> tasks_;
  std::vector<float> lengths2_;  // by sampled row: squared length, centred
};

}  // namespace slide::lsh
