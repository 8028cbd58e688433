// Specification of a training step: plain loops in double over dense matrices, with given active neurons.
//
// Inactive rows have no output and pass no gradient. There are no blocks, lanes or kernels; the engine's
// random choices (active sets, dropout) and the rounding directions of activations are taken from a block
// that it has trained.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/kernels/bf16.h"
#include "engine/network/block.h"
#include "engine/network/network.h"

namespace slide::test {

using Vector = std::vector<double>;
using Ids = std::vector<std::uint32_t>;

// The engine's choices for a layer in one block.
struct LayerChoice {
  Ids active;
  Vector correction;  // output layer: for each active neuron; empty: zeros
  Vector mask;        // dropout factors [active x samples]; empty: ones
  Vector rounded;     // outputs [active x samples] as bfloat16 weights above see them; empty: unrounded
  // output layer, of the sparsified gradients [active x samples]: -1, 0, 1; empty without sparsification
  Vector signs;

  // Whether neuron n is active with a nonzero gradient.
  bool touches(std::uint32_t n) const {
    const auto at = std::find(active.begin(), active.end(), n);
    if (at == active.end() || signs.empty()) return at != active.end();
    const std::size_t samples = signs.size() / active.size();
    const auto first = signs.begin() + (at - active.begin()) * static_cast<std::ptrdiff_t>(samples);
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(samples),
                       [](double sign) { return sign != 0.0; });
  }
};

// One block as the naive network sees it.
struct NaiveBlock {
  std::vector<LayerChoice> layers;
  std::vector<Vector> x;      // by sample, all features
  std::vector<Ids> labels;    // by sample
  std::vector<Ids> features;  // by sample: the ids that occur
  Vector weights;             // by sample; empty: all 1

  double weight(std::size_t s) const { return weights.empty() ? 1.0 : weights[s]; }
};

struct NaiveLayer {
  std::size_t inputs = 0, neurons = 0;
  Activation activation = Activation::kLinear;
  bool by_feature = false;  // the engine stores and updates it by feature
  bool sampled = false;
  bool bf16 = false;  // weights are bfloat16
  Vector w;           // [neurons x inputs]
  Vector b;

  double& weight(std::size_t neuron, std::size_t input) { return w[neuron * inputs + input]; }
  double weight(std::size_t neuron, std::size_t input) const { return w[neuron * inputs + input]; }
};

inline double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

inline double activate(Activation f, double z) {
  switch (f) {
    case Activation::kRelu:
      return std::max(z, 0.0);
    case Activation::kTanh:
      return std::tanh(z);
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-z));
    case Activation::kLinear:
      return z;
  }
  return z;
}

// Derivative at the point where the function's value is y.
inline double slope(Activation f, double y) {
  switch (f) {
    case Activation::kRelu:
      return y > 0.0 ? 1.0 : 0.0;
    case Activation::kTanh:
      return 1.0 - y * y;
    case Activation::kSigmoid:
      return y * (1.0 - y);
    case Activation::kLinear:
      return 1.0;
  }
  return 1.0;
}

class NaiveNetwork {
 public:
  std::vector<NaiveLayer> layers;
  LossConfig loss_config;
  Vector label_weights;  // by label; empty: all 1
  Vector label_margins;  // by label; empty: all 0

  // Copies the engine's weights.
  explicit NaiveNetwork(const Network& network) : loss_config(network.config().loss) {
    if (network.input()) add_input(*network.input());
    for (const Layer& layer : network.layers()) add(layer);
    layers.back().activation = Activation::kLinear;
  }

  // Logits of all output neurons, with every neuron active and no dropout.
  Vector scores(const SparseRow& row) const {
    Vector x(layers.front().inputs, 0.0);
    for (std::size_t i = 0; i < row.ids.size(); ++i) x[row.ids[i]] = row.values[i];
    for (const NaiveLayer& layer : layers) {
      if (layer.bf16 && &layer != &layers.front()) {
        for (double& value : x) value = kernels::nearest_bf16(static_cast<float>(value));
      }
      Vector y(layer.neurons);
      for (std::size_t n = 0; n < layer.neurons; ++n) y[n] = activate(layer.activation, logit(layer, n, x));
      x = y;
    }
    return x;
  }

  // Summed over the block's samples.
  double loss(const NaiveBlock& block) const {
    double sum = 0.0;
    for (std::size_t s = 0; s < block.x.size(); ++s)
      sum += loss_of(block, s, outputs(block, s).back(), nullptr);
    return sum;
  }
  // The same, with sample weights: the engine's gradient is that of this loss.
  double weighted_loss(const NaiveBlock& block) const {
    double sum = 0.0;
    for (std::size_t s = 0; s < block.x.size(); ++s)
      sum += block.weight(s) * loss_of(block, s, outputs(block, s).back(), nullptr);
    return sum;
  }

  // Adds scale * d weighted loss / d parameter to `gradient`, a network of equal shape.
  void add_gradient(const NaiveBlock& block, double scale, NaiveNetwork& gradient) const {
    for (std::size_t s = 0; s < block.x.size(); ++s) {
      const std::vector<Vector> y = outputs(block, s);
      Vector delta(layers.back().neurons, 0.0);
      loss_of(block, s, y.back(), &delta);
      for (double& d : delta) d *= block.weight(s);
      round(block.layers.back(), s, block.x.size(), delta);
      for (double& d : delta) d *= scale;
      for (std::size_t l = layers.size(); l-- > 0;) {
        delta = backward(block, s, l, l == 0 ? block.x[s] : y[l - 1], delta, gradient);
      }
    }
  }

  void clear() {
    for (NaiveLayer& layer : layers) {
      std::fill(layer.w.begin(), layer.w.end(), 0.0);
      std::fill(layer.b.begin(), layer.b.end(), 0.0);
    }
  }

  // The engine's choices in a block that it has just trained.
  NaiveBlock choices_of(const Block& block) const {
    NaiveBlock naive;
    for (std::size_t s = 0; s < block.samples(); ++s) {
      Vector x(layers.front().inputs, 0.0);
      for (std::size_t i = 0; i < block.rows[s].ids.size(); ++i)
        x[block.rows[s].ids[i]] = block.rows[s].values[i];
      Ids ids(block.rows[s].ids.begin(), block.rows[s].ids.end());
      const std::size_t dense = block.dense.columns();  // the last features
      for (std::size_t c = 0; c < dense; ++c) {
        const std::size_t id = x.size() - dense + c;
        x[id] = block.dense.x()[s * block.dense.ldx() + c];
        ids.push_back(static_cast<std::uint32_t>(id));
      }
      naive.x.push_back(std::move(x));
      naive.features.push_back(std::move(ids));
      naive.labels.emplace_back(block.labels[s].begin(), block.labels[s].end());
    }
    naive.weights.assign(block.weights.begin(), block.weights.end());
    for (std::size_t l = 0; l < layers.size(); ++l) naive.layers.push_back(choice_of(block, l));
    return naive;
  }

 private:
  // Applies the engine's sparsification of small gradients.
  void round(const LayerChoice& choice, std::size_t s, std::size_t samples, Vector& delta) const {
    for (std::size_t a = 0; a < choice.active.size() && !choice.signs.empty(); ++a) {
      double& d = delta[choice.active[a]];
      if (std::fabs(d) < loss_config.gradient_threshold)
        d = loss_config.gradient_threshold * choice.signs[a * samples + s];
    }
  }

  void add_input(const InputLayer& input) {
    NaiveLayer layer{input.features(),
                     input.size(),
                     input.config().activation,
                     true,
                     false,
                     input.weights().is_bf16(),
                     {},
                     {}};
    layer.w.resize(layer.inputs * layer.neurons);
    for (std::size_t n = 0; n < layer.neurons; ++n) {
      layer.b.push_back(input.bias().row(0)[n]);
    }
    std::vector<float> row(layer.neurons);
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      input.weights().load_row(i, row.data());
      for (std::size_t n = 0; n < layer.neurons; ++n) layer.weight(n, i) = row[n];
    }
    layers.push_back(std::move(layer));
  }
  void add(const Layer& from) {
    NaiveLayer layer{from.inputs(),
                     from.size(),
                     from.config().activation,
                     false,
                     from.sampled(),
                     from.weights().is_bf16(),
                     {},
                     {}};
    layer.w.resize(layer.inputs * layer.neurons);
    std::vector<float> row(layer.inputs);
    for (std::size_t n = 0; n < layer.neurons; ++n) {
      layer.b.push_back(from.bias().row(n)[0]);
      from.weights().load_row(n, row.data());
      for (std::size_t i = 0; i < layer.inputs; ++i) layer.weight(n, i) = row[i];
    }
    layers.push_back(std::move(layer));
  }

  // An output layer may be sharded; each shard chooses independently.
  LayerChoice choice_of(const Block& block, std::size_t l) const {
    const std::size_t below = layers[0].by_feature ? 1 : 0, output = layers.size() - 1 - below;
    LayerChoice choice;
    if (l < below) {
      add_choice(block, block.input, l, choice);
    } else if (l - below < output) {
      add_choice(block, block.layers[l - below], l, choice);
    } else {
      for (std::size_t i = output; i < block.layers.size(); ++i)
        add_choice(block, block.layers[i], l, choice);
    }
    return choice;
  }

  void add_choice(const Block& block, const LayerBlock& at, std::size_t l, LayerChoice& choice) const {
    Ids active = at.set.ids;
    if (layers[l].sampled && l + 1 == layers.size())
      choice.correction.insert(choice.correction.end(), at.set.correction.begin(), at.set.correction.end());
    if (!layers[l].sampled) {
      active.resize(l + 1 == layers.size() ? at.count : layers[l].neurons);
      std::iota(active.begin(), active.end(), static_cast<std::uint32_t>(at.first));
    }
    choice.active.insert(choice.active.end(), active.begin(), active.end());
    for (std::size_t a = 0; a < active.size() && !at.mask.empty(); ++a) {
      for (std::size_t s = 0; s < block.samples(); ++s) choice.mask.push_back(at.mask[s * at.ldo + a]);
    }
    // A sampled layer computes only some units, and such inputs are not rounded.
    const bool rounded = l + 1 < layers.size() && layers[l + 1].bf16 && !layers[l].sampled;
    for (std::size_t a = 0; a < active.size() && rounded; ++a) {
      for (std::size_t s = 0; s < block.samples(); ++s)
        choice.rounded.push_back(kernels::nearest_bf16(at.out_t[a * block.lanes + s]));
    }
    for (std::size_t a = 0; a < active.size() && at.sparse.in_use(); ++a) {
      for (std::size_t s = 0; s < block.samples(); ++s) {
        const float d = at.out_t[a * block.lanes + s];
        choice.signs.push_back(d > 0.0f ? 1.0 : d < 0.0f ? -1.0 : 0.0);
      }
    }
  }

  // Input of layer l for one sample: the outputs of the layer below, or their rounded values, which must be
  // adjacent bfloat16 values.
  Vector inputs(const NaiveBlock& block, std::size_t s, std::size_t l, const std::vector<Vector>& y) const {
    if (l == 0) return block.x[s];
    Vector x = y[l - 1];
    const LayerChoice& below = block.layers[l - 1];
    for (std::size_t a = 0; a < below.active.size() && !below.rounded.empty(); ++a) {
      double& value = x[below.active[a]];
      const double rounded = below.rounded[a * block.x.size() + s];
      const bool near = std::fabs(rounded - value) <= std::fabs(value) / 256 + 1e-6;
      value = near ? rounded : std::numeric_limits<double>::quiet_NaN();
    }
    return x;
  }

  static double logit(const NaiveLayer& layer, std::size_t neuron, const Vector& x) {
    double z = layer.b[neuron];
    for (std::size_t i = 0; i < layer.inputs; ++i) z += layer.weight(neuron, i) * x[i];
    return z;
  }

  static double factor(const LayerChoice& choice, std::size_t position, std::size_t sample,
                       std::size_t samples) {
    return choice.mask.empty() ? 1.0 : choice.mask[position * samples + sample];
  }

  // By layer: the outputs of all neurons for one sample, zero where inactive.
  std::vector<Vector> outputs(const NaiveBlock& block, std::size_t s) const {
    std::vector<Vector> y;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const LayerChoice& choice = block.layers[l];
      const Vector x = inputs(block, s, l, y);
      Vector out(layers[l].neurons, 0.0);
      for (std::size_t a = 0; a < choice.active.size(); ++a) {
        const std::size_t n = choice.active[a];
        const double z = logit(layers[l], n, x);
        out[n] = activate(layers[l].activation, z) * factor(choice, a, s, block.x.size());
      }
      y.push_back(std::move(out));
    }
    return y;
  }

  // Loss of one sample from the logits of all output neurons; delta += d loss / d logit.
  double loss_of(const NaiveBlock& block, std::size_t s, const Vector& logits, Vector* delta) const {
    switch (loss_config.kind) {
      case LossKind::kSoftmax:
        return softmax(block, s, logits, delta);
      case LossKind::kSigmoid:
        return logistic(block, s, logits, delta);
    }
    return 0.0;
  }

  static double correction(const LayerChoice& choice, std::size_t a) {
    return choice.correction.empty() ? 0.0 : choice.correction[a];
  }

  double label_weight(std::uint32_t label) const {
    return label_weights.empty() ? 1.0 : label_weights[label];
  }

  // Weighted mean over a sample's labels of the cross-entropy over the active set; logQ correction: a sampled
  // negative's logit grows by the log of the number of neurons it represents.
  double softmax(const NaiveBlock& block, std::size_t s, const Vector& logits, Vector* delta) const {
    const LayerChoice& choice = block.layers.back();
    const Ids& labels = block.labels[s];
    if (labels.empty()) return 0.0;
    double share = 0.0;
    for (const std::uint32_t label : labels) share += label_weight(label) / double(labels.size());
    double largest = -1e300, sum = 0.0, label_logits = 0.0;
    for (std::size_t a = 0; a < choice.active.size(); ++a) {
      largest = std::max(largest, logits[choice.active[a]] + correction(choice, a));
    }
    for (std::size_t a = 0; a < choice.active.size(); ++a) {
      sum += std::exp(logits[choice.active[a]] + correction(choice, a) - largest);
    }
    for (std::size_t a = 0; a < choice.active.size(); ++a) {
      const double z = logits[choice.active[a]] + correction(choice, a);
      const bool label = std::find(labels.begin(), labels.end(), choice.active[a]) != labels.end();
      const double target = label ? label_weight(choice.active[a]) / double(labels.size()) : 0.0;
      label_logits += target * z;
      if (delta != nullptr) (*delta)[choice.active[a]] += share * std::exp(z - largest) / sum - target;
    }
    return share * (largest + std::log(sum)) - label_logits;
  }

  // One-vs-all, with the same logQ correction. The logits of labels are lowered by their margins.
  double logistic(const NaiveBlock& block, std::size_t s, const Vector& logits, Vector* delta) const {
    const LayerChoice& choice = block.layers.back();
    const Ids& labels = block.labels[s];
    double loss = 0.0;
    for (std::size_t a = 0; a < choice.active.size(); ++a) {
      const bool label = std::find(labels.begin(), labels.end(), choice.active[a]) != labels.end();
      const double margin = label && !label_margins.empty() ? label_margins[choice.active[a]] : 0.0;
      const double z = logits[choice.active[a]] + correction(choice, a) - margin;
      const double sigma = 1.0 / (1.0 + std::exp(-z));
      const double weight = label ? loss_config.positive_weight * label_weight(choice.active[a]) : 1.0;
      loss += weight * softplus(label ? -z : z);
      if (delta != nullptr) (*delta)[choice.active[a]] += weight * (label ? sigma - 1.0 : sigma);
    }
    return loss;
  }

  // Gradient of layer l for one sample from its logits' gradient; returns the gradient of the logits below.
  Vector backward(const NaiveBlock& block, std::size_t s, std::size_t l, const Vector& x, const Vector& delta,
                  NaiveNetwork& gradient) const {
    NaiveLayer& g = gradient.layers[l];
    Vector below(layers[l].inputs, 0.0);
    for (const std::uint32_t n : block.layers[l].active) {
      g.b[n] += delta[n];
      for (std::size_t i = 0; i < layers[l].inputs; ++i) {
        g.weight(n, i) += delta[n] * x[i];
        below[i] += delta[n] * layers[l].weight(n, i);
      }
    }
    if (l == 0) return {};
    const LayerChoice& choice = block.layers[l - 1];
    Vector out(layers[l].inputs, 0.0);
    for (std::size_t a = 0; a < choice.active.size(); ++a) {
      const double scale = factor(choice, a, s, block.x.size());
      const double y = scale > 0.0 ? x[choice.active[a]] / scale : 0.0;
      out[choice.active[a]] = below[choice.active[a]] * scale * slope(layers[l - 1].activation, y);
    }
    return out;
  }
};

// All parameters in one order, to compare networks of equal shape.
inline std::vector<double*> parameters_of(NaiveNetwork& network) {
  std::vector<double*> all;
  for (NaiveLayer& layer : network.layers) {
    for (double& w : layer.w) all.push_back(&w);
    for (double& b : layer.b) all.push_back(&b);
  }
  return all;
}

// e.g. "weight [3, 1] of layer 0", for messages.
inline std::string parameter_name(const NaiveNetwork& network, std::size_t index) {
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    const NaiveLayer& layer = network.layers[l];
    const std::string of_layer = " of layer " + std::to_string(l);
    if (index < layer.w.size()) {
      return "weight [" + std::to_string(index / layer.inputs) + ", " + std::to_string(index % layer.inputs) +
             "]" + of_layer;
    }
    index -= layer.w.size();
    if (index < layer.b.size()) return "bias " + std::to_string(index) + of_layer;
    index -= layer.b.size();
  }
  return "?";
}

}  // namespace slide::test
