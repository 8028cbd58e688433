// A network with a wide hidden layer of ReLU units, in which each sample uses its k largest units only, in
// training and in inference. They are found exactly: all units are computed. It says what a hidden layer with
// an index of its units could reach, not how fast. Single precision, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/active_set.h"

namespace slide::top_units {

enum class Start : std::uint8_t { kRandom, kSamples };  // of the units' weights
enum class Adagrad : std::uint8_t { kRow, kElement };   // what has a sum of squares of its own

struct Shape {
  std::size_t features = 0, units = 0, labels = 0;
  std::size_t active = 0;  // units of a sample; units: a dense layer
  std::size_t group = 1;   // neighbouring units that are chosen together, by the sum of their outputs
  Start start = Start::kRandom;
  Adagrad adagrad = Adagrad::kRow;
  double balance = 0;       // units are chosen by output / (share of samples that use them)^balance
  double output_start = 1;  // standard deviation of the output weights, times 1 / sqrt(units)
};

// The active units of a sample, ascending, and their outputs.
struct Units {
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
};

// A matrix whose gradients touch few columns of a row. The sum of squares of a row grows by the mean square
// over `active` columns.
class Matrix {
 public:
  Matrix(std::size_t rows, std::size_t columns, std::size_t active, Adagrad adagrad);
  float* row(std::size_t r) { return weights_.data() + r * columns_; }
  const float* row(std::size_t r) const { return weights_.data() + r * columns_; }
  const float* data() const { return weights_.data(); }
  std::size_t columns() const { return columns_; }
  AlignedArray<float>& weights() { return weights_; }
  // Adagrad on the columns `touched` of row r with the gradient scale * g[column]; sets these g to 0.
  void update(std::size_t r, std::span<const std::uint32_t> touched, float scale, float rate, float* g);

 private:
  std::size_t columns_, active_;
  Adagrad adagrad_;
  AlignedArray<float> weights_, sums_;
};

// An entry of the gradient of the logits that is not 0.
struct Delta {
  std::uint32_t label, sample;
  float value;
};

class Network {
 public:
  Network(const Shape& shape, const Dataset& train, std::uint64_t seed);

  // Counts the units of a batch for `balance`.
  void count_units(std::span<const Units> units);
  // The units of a sample.
  void find_units(const SparseRow& row, Units& units);
  // z [ids x lanes] = logits of labels `ids`, without the correction, for samples of these units.
  void score(std::span<const Units> samples, std::span<const std::uint32_t> ids, std::size_t lanes, float* z);
  // One step of Adagrad. `rows`, `units`: of all samples of a batch; the gradients are divided by their
  // number.
  void update(std::span<const SparseRow> rows, std::span<const Units> units, std::span<const Delta> deltas,
              float rate);
  const Shape& shape() const { return shape_; }

 private:
  void pack(std::span<const std::uint32_t> labels);
  void score_apart(std::span<const Units> samples, std::span<const std::uint32_t> ids, std::size_t lanes,
                   float* z) const;
  void start_units(const Dataset& train, std::uint64_t seed);
  void scale_units(const Dataset& train);
  void activate(const SparseRow& row);
  void choose_units();
  void choose_groups();
  void add(const Units& units, std::span<const float> gradient, float factor);
  void clear_touched() {
    touched_.clear();
    ++stamp_;
  }
  void update_output(std::span<const Units> units, float scale, float rate);
  void update_hidden(std::span<const SparseRow> rows, std::span<const Units> units, float scale, float rate);

  Shape shape_;
  Matrix hidden_;       // [features x units]
  Matrix hidden_bias_;  // [1 x units]
  Matrix output_;       // [labels x units]
  std::vector<float> bias_, bias_sums_;
  AlignedArray<float> h_;   // outputs of all units for one sample
  AlignedArray<float> by_;  // by which they are chosen
  std::vector<float> use_,
      boost_;  // by unit: samples that used it, relative to the mean; what follows from it
  std::vector<float> order_, groups_;
  std::vector<std::uint32_t> chosen_;
  AlignedArray<float> packed_, logits_;  // [units x kTile] weights of some labels, and [lanes x kTile]
  std::vector<Delta> deltas_;
  std::vector<std::vector<float>> gradients_;  // by sample of a batch: of its units
  struct Entry {
    std::uint32_t feature, sample;
    float value;
  };
  std::vector<Entry> entries_;
  std::vector<float> g_;
  std::vector<std::uint32_t> touched_, stamps_;
  std::uint32_t stamp_ = 0;
};

}  // namespace slide::top_units
