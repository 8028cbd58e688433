// Specification of an update: optimizers in double, applied only to the rows that a step touched.
#pragma once

#include <cmath>
#include <vector>

#include "engine/config/config.h"
#include "tests/network/naive_network.h"

namespace slide::test {

// State of one row of weights.
struct NaiveRow {
  Vector first, second;      // momentum: velocity; Adam: m and v
  double accumulator = 0.0;  // Adagrad
  double steps = 0.0;        // Adam

  // Updates `w`, the weights at positions `columns` of the row: w[i] -= step.
  void update(const OptimizerConfig& c, double rate, const std::vector<double*>& w, const Ids& columns,
              const Vector& g, double decay) {
    ++steps;
    double squares = 0.0;
    for (const double value : g) squares += value * value;
    accumulator += squares / double(g.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double kept = *w[i] * (1.0 - rate * decay);
      *w[i] = kept - rate * direction(c, columns[i], g[i]);
    }
  }

 private:
  double direction(const OptimizerConfig& c, std::size_t column, double g) {
    double& m = first[column];
    double& v = second[column];
    switch (c.kind) {
      case OptimizerKind::kSgd:
        return g;
      case OptimizerKind::kMomentum:
        return m = c.momentum * m + g;
      case OptimizerKind::kAdagrad:
        return g / (std::sqrt(accumulator) + c.epsilon);
      case OptimizerKind::kAdam:
        m = c.beta1 * m + (1.0 - c.beta1) * g;
        v = c.beta2 * v + (1.0 - c.beta2) * g * g;
        return m / (1.0 - std::pow(c.beta1, steps)) /
               (std::sqrt(v / (1.0 - std::pow(c.beta2, steps))) + c.epsilon);
    }
    return g;
  }
};

// Updates a NaiveNetwork as the engine does: a first dense layer by feature, others by neuron; rows whose
// input is a subset of columns (sparse data, or a sampled layer below) block by block, others once per step.
class NaiveOptimizer {
 public:
  NaiveOptimizer(const OptimizerConfig& config, const NaiveNetwork& shape) : config_(config) {
    for (const NaiveLayer& layer : shape.layers) {
      const std::size_t rows = layer.by_feature ? layer.inputs : layer.neurons;
      const std::size_t columns = layer.by_feature ? layer.neurons : layer.inputs;
      weights_.emplace_back(rows, NaiveRow{Vector(columns), Vector(columns)});
      const std::size_t bias_rows = layer.by_feature ? 1 : rows,
                        bias_columns = layer.by_feature ? columns : 1;
      biases_.emplace_back(bias_rows, NaiveRow{Vector(bias_columns), Vector(bias_columns)});
    }
  }

  void step(NaiveNetwork& network, const std::vector<NaiveBlock>& blocks, double scale, double rate) {
    std::vector<NaiveNetwork> gradients(blocks.size(), network);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      gradients[b].clear();
      network.add_gradient(blocks[b], scale, gradients[b]);
    }
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
      if (network.layers[l].by_feature) {
        update_features(network.layers[l], blocks, gradients, rate);
      } else {
        update_neurons(network, l, blocks, gradients, rate);
      }
    }
  }

 private:
  using Networks = std::vector<NaiveNetwork>;

  void update_features(NaiveLayer& layer, const std::vector<NaiveBlock>& blocks, const Networks& gradients,
                       double rate) {
    std::vector<bool> touched(layer.inputs);
    for (const NaiveBlock& block : blocks) {
      for (const Ids& ids : block.features) {
        for (const std::uint32_t id : ids) touched[id] = true;
      }
    }
    Ids columns(layer.neurons);
    std::iota(columns.begin(), columns.end(), 0u);
    for (std::size_t f = 0; f <= layer.inputs; ++f) {  // the last is the bias
      const bool bias = f == layer.inputs;
      if (!bias && !touched[f]) continue;
      std::vector<double*> w;
      Vector g(layer.neurons, 0.0);
      for (std::size_t n = 0; n < layer.neurons; ++n) {
        w.push_back(bias ? &layer.b[n] : &layer.weight(n, f));
        for (const NaiveNetwork& of_block : gradients) {
          g[n] += bias ? of_block.layers[0].b[n] : of_block.layers[0].weight(n, f);
        }
      }
      NaiveRow& row = bias ? biases_[0][0] : weights_[0][f];
      row.update(config_, rate, w, columns, g, bias ? 0.0 : config_.weight_decay);
    }
  }

  // Columns that block b touches in layer l; empty: all of them.
  static Ids columns_of(const NaiveNetwork& network, std::size_t l, const NaiveBlock& block) {
    if (l > 0) return network.layers[l - 1].sampled ? block.layers[l - 1].active : Ids{};
    std::vector<bool> occurs(network.layers[0].inputs);
    for (const Ids& ids : block.features) {
      for (const std::uint32_t id : ids) occurs[id] = true;
    }
    Ids columns;
    for (std::uint32_t c = 0; c < occurs.size(); ++c) {
      if (occurs[c]) columns.push_back(c);
    }
    return columns;
  }

  void update_weights(NaiveLayer& layer, std::size_t l, std::uint32_t n, const Ids& columns,
                      const Vector& sums, double rate) {
    std::vector<double*> w;
    Vector g;
    for (const std::uint32_t c : columns) {
      w.push_back(&layer.weight(n, c));
      g.push_back(sums[c]);
    }
    weights_[l][n].update(config_, rate, w, columns, g, config_.weight_decay);
  }

  void update_neurons(NaiveNetwork& network, std::size_t l, const std::vector<NaiveBlock>& blocks,
                      const Networks& gradients, double rate) {
    NaiveLayer& layer = network.layers[l];
    const bool whole = l > 0 && !network.layers[l - 1].sampled;
    Ids every(layer.inputs);
    std::iota(every.begin(), every.end(), 0u);
    for (std::uint32_t n = 0; n < layer.neurons; ++n) {
      Vector sums(layer.inputs, 0.0);
      double bias_gradient = 0.0;
      bool touched = false;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        if (!blocks[b].layers[l].touches(n)) continue;
        touched = true;
        const NaiveLayer& g = gradients[b].layers[l];
        bias_gradient += g.b[n];
        for (std::size_t i = 0; i < layer.inputs; ++i) sums[i] += g.weight(n, i);
        if (whole) continue;
        update_weights(layer, l, n, columns_of(network, l, blocks[b]), sums, rate);
        std::fill(sums.begin(), sums.end(), 0.0);
      }
      if (!touched) continue;
      if (whole) update_weights(layer, l, n, every, sums, rate);
      biases_[l][n].update(config_, rate, {&layer.b[n]}, {0}, {bias_gradient}, 0.0);
    }
  }

  OptimizerConfig config_;
  std::vector<std::vector<NaiveRow>> weights_, biases_;  // by layer and row
};

}  // namespace slide::test
