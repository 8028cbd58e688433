// Updates weight rows from their gradients. Sparse updates: rows without a gradient are not visited, so their
// momentum and decay wait until the next gradient.
//
// Thread safety: update() and update_columns() are const and safe for different rows at the same time; the
// call setters before a step, from one thread.
#pragma once

#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// A matrix and its optimizer state.
struct TrainedMatrix {
  Parameters& values;
  MatrixState& state;
};

// Working memory of one thread for updates of part of a row.
struct PackedRow {
  std::vector<float> weights, first, second;
  void reserve(std::size_t columns);
  static std::size_t bytes_of(std::size_t columns) { return 3 * columns * sizeof(float); }
};

class Optimizer {
 public:
  explicit Optimizer(const OptimizerConfig& config) : config_(config) {}

  // Learning rate of step `step` (from 0) of `total`: linear warm-up, then constant, linear to 0, or half a
  // cosine.
  double rate_at(std::uint64_t step, std::uint64_t total) const;
  void set_rate(double rate) { rate_ = static_cast<float>(rate); }
  // Key of the random stream for stochastic rounding of bfloat16 rows in this step.
  void set_noise(std::uint64_t seed, std::uint64_t step) { noise_seed_ = seed, noise_step_ = step; }
  // The step's learning rate divided by the configured one.
  float progress() const { return rate_ / static_cast<float>(config_.learning_rate); }

  // Updates row r of a matrix from its gradient g [columns]. `decayed`: whether weight decay applies; false
  // for biases. `packed`: working memory, reserved for the columns of a bfloat16 matrix.
  void update(TrainedMatrix matrix, std::size_t r, const float* g, bool decayed, PackedRow& packed) const;

  // The same for the weights at `columns` (ascending, distinct) only, with gradients g [columns.size()].
  void update_columns(TrainedMatrix matrix, std::size_t r, std::span<const std::uint32_t> columns,
                      const float* g, PackedRow& packed) const;

 private:
  // w, first, second: n contiguous values; accumulator state sits at first[0] for adagrad.
  void apply(float* w, float* first, float* second, std::uint32_t* steps, const float* g, std::size_t n,
             float decay) const;

  std::uint32_t noise(std::size_t r) const;
  void update_bf16(TrainedMatrix matrix, std::size_t r, const float* g, float decay, PackedRow& packed) const;

  OptimizerConfig config_;
  float rate_ = 0.0f;
  std::uint64_t noise_seed_ = 0, noise_step_ = 0;
};

}  // namespace slide
