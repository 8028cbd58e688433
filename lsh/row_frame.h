// What the weight rows of a layer are hashed relative to: their mean, which is taken off them since it moves
// no neuron before another (w.x - m.x), and the length up to which the inner product transform fills them up.
//
// Learnt from a sample of the rows, whose size does not grow with the layer. fit() runs alone and depends on
// the rows only, never on threads; the rest is const.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"
#include "lsh/query.h"

namespace slide::lsh {

class RowFrame {
 public:
  // All 0 until the first fit().
  explicit RowFrame(std::size_t dim) : mean_(dim) {}

  // Of `count` rows. Nothing is allocated after the first call.
  void fit(const WeightRows& rows, std::size_t count, int threads);

  std::span<const float> mean() const { return mean_; }
  float mean_bias() const { return mean_bias_; }
  bool has_bias() const { return has_bias_; }  // the rows have biases
  bool blank() const { return blank_; }        // fit() saw no weight that was not 0
  // Squared; all but one in a hundred centred rows are no longer.
  float length2() const { return length2_; }

  void save(ByteWriter& out) const;
  void load(ByteReader& in);
  std::size_t bytes() const;
  static double bytes_of(std::size_t dim, std::size_t rows);

 private:
  struct Task {
    std::vector<float> sum, row;
    double bias = 0;
    bool blank = true;
  };
  struct Rows {  // `size` of them, each step-th
    const WeightRows& rows;
    std::size_t step, size;
  };
  template <class Use>
  void each_row(const Rows& all, std::size_t t, Use&& use);
  void fit_mean(const Rows& all, int threads);
  void fit_length(const Rows& all, int threads);

  std::vector<float> mean_;
  float mean_bias_ = 0, length2_ = 0;
  bool has_bias_ = false, blank_ = true;
  std::vector<Task> tasks_;
  std::vector<float> lengths2_;
};

}  // namespace slide::lsh
