#include "engine/training/memory_plan.h"

#include <cmath>

#include "datasets/formats/item_masking.h"
#include "engine/crosses/crossed_entries.h"
#include "engine/inference/auto_inference.h"
#include "engine/inference/bounded_pass.h"
#include "engine/inference/prediction_batch.h"
#include "engine/inference/scorers.h"
#include "engine/inference/tiles.h"
#include "engine/knn/feature_weight_learning.h"
#include "engine/knn/neighbours.h"
#include "engine/network/network_training.h"
#include "engine/network/optimizer_state.h"
#include "engine/network/parameters.h"
#include "engine/wide/margin_choice.h"
#include "engine/wide/network_start.h"
#include "engine/wide/weights_by_feature.h"
#include "engine/wide/wide_bounds.h"
#include "engine/wide/wide_candidates.h"
#include "engine/wide/wide_postings.h"

namespace slide {

namespace {

// Weights, biases and their optimizer state.
void add_matrices(std::size_t rows, std::size_t columns, bool by_feature, const Config& config,
                  LayerPlan& plan) {
  const std::size_t bias_rows = by_feature ? 1 : rows, bias_columns = by_feature ? columns : 1;
  const OptimizerKind kind = config.optimizer.kind;
  plan.parameters = double(rows) * double(columns) + double(plan.neurons);
  plan.weights = double(Parameters::bytes_of(rows, columns, config.train.weights) +
                        Parameters::bytes_of(bias_rows, bias_columns));
  plan.state = double(MatrixState::bytes_of(rows, columns, kind) +
                      MatrixState::bytes_of(bias_rows, bias_columns, kind));
}

// A first layer stored by feature.
LayerPlan plan_input(const LayerConfig& layer, std::size_t features, const Config& config) {
  LayerPlan plan;
  plan.inputs = features;
  plan.neurons = plan.active = layer.size;
  add_matrices(features, layer.size, true, config, plan);
  return plan;
}

// A layer stored by neuron, with linear term and hash tables.
LayerPlan plan_layer(const LayerShape& layer, const BlockLimits& limits, const BlockBounds& bounds,
                     const Config& config) {
  LayerPlan plan;
  plan.inputs = layer.inputs;
  plan.neurons = layer.neurons;
  LayerShape whole = layer;
  whole.parts = {{{0, layer.neurons}, 0, 1}};
  plan.active = whole.active_limit(limits);
  add_matrices(layer.neurons, layer.inputs, false, config, plan);
  plan.weights += Layer::bytes_of(layer);
  const auto neurons = double(layer.neurons);
  if (layer.output && layer.config.wide) {
    const double wide = LinearTerm::max_weights(layer.config, neurons, double(bounds.label_features));
    plan.weights += LinearTerm::bytes_of(wide, neurons);
    plan.state += wide * sizeof(float);
  }
  for (const LayerPart& part : layer.parts) {
    if (layer.has_tables())
      plan.tables += lsh::NeuronIndex::bytes_of(layer.config.hash, part.neurons.count, layer.inputs);
  }
  return plan;
}

// Whether scores are bounded first: as Predictor of engine/inference chooses.
bool bounds_scores(const NetworkShape& shape) {
  return shape.layers.back().neurons >= BoundedPass::kMinNeurons;
}

// Blocks and scores of prediction batches. Each thread has lists of features (with the max number of feature
// crosses) and of candidates to score again; threads that compute at the same time also touch their matrices
// of scores, features and activations.
double batch_bytes(const Config& config, const NetworkShape& shape, const BlockBounds& bounds, int threads,
                   int busy) {
  constexpr std::size_t kLanes = PredictionBatch::kLanes, kMaxBlocks = PredictionBatch::kMaxBlocks;
  constexpr std::size_t kScored = Tiles::kNeuronsWithPostings;
  const std::size_t hits = bounds_scores(shape) ? BoundedPass::kMaxCandidates : 0;
  const std::size_t groups = (bounds.evaluated + kLanes - 1) / kLanes;
  const auto blocks =
      double(std::clamp<std::size_t>(groups / static_cast<std::size_t>(threads), 1, kMaxBlocks));
  const double used = std::min(double(threads), std::ceil(double(groups) / blocks));
  const double row = double(bounds.all_features) / double(std::max<std::size_t>(1, bounds.samples));
  const double crossed = std::min(row, double(kCrossedFeatures));
  const double crosses = config.data.crosses > 0 ? crossed * (crossed - 1) / 2 : 0;
  double lists = double(kLanes * hits) * 2 * sizeof(float),
         matrices = double(kScored * kLanes) * sizeof(float);
  if (config.layers.back().wide) {
    const auto entries = static_cast<std::size_t>(row * double(kLanes));
    lists += (row + crosses) * double(kLanes) * 4 * sizeof(float);
    matrices += double(BlockFeatures::bytes_of(shape.features, entries, kLanes));
  }
  if (hits > 0) lists += double(shape.features) / blocks * sizeof(float);
  if (shape.input) matrices += InputLayer::block_bytes_of(*shape.input, kLanes);
  // Where each thread has a batch to begin with, all compute one.
  const double computing = groups >= static_cast<std::size_t>(threads) ? used : std::min(used, double(busy));
  return blocks * (used * lists + computing * matrices);
}

// Bytes of the index of inference by tables while it is built, and of the counters of each thread.
double candidate_bytes(const Config& config, const NetworkShape& shape, double wide, int threads) {
  const std::size_t neurons = shape.layers.back().neurons;
  constexpr double kCounts =
      4 * sizeof(std::uint32_t);  // times, repeated, seen, and scores of the linear term
  double bytes = lsh::NeuronIndex::fixed_bytes_of(neurons, shape.layers.back().inputs) +
                 threads * kCounts * double(neurons);
  if (config.layers.back().wide)
    bytes += WideCandidates::bytes_of(wide, double(shape.features)) +
             WideCandidates::making_bytes_of(wide, double(neurons), double(shape.features), threads);
  return bytes;
}

// Bytes of the postings of the linear term, and for each thread of its batches and vote counters.
double evaluation_bytes(const Config& config, const NetworkShape& shape, std::size_t labels,
                        const BlockBounds& bounds, int threads, int busy) {
  const LayerConfig& output = config.layers.back();
  if (bounds.evaluated == 0) return 0;
  double bytes = batch_bytes(config, shape, bounds, threads, busy);
  const double wide =
      LinearTerm::max_weights(output, double(shape.layers.back().neurons), double(bounds.label_features));
  if (resolved_inference(config, labels) == Inference::kLsh) {
    bytes += candidate_bytes(config, shape, wide, threads);
  } else if (output.wide) {
    bytes += WidePostings::bytes_of(wide, double(shape.features)) +
             WeightsByFeature::bytes_of(double(shape.layers.back().neurons), double(shape.features));
    if (bounds_scores(shape)) bytes += WideBounds::bytes_of(wide, double(shape.features));
  } else if (bounds_scores(shape) && shape.input) {
    bytes += Scorers::bounds_bytes_of(shape.layers.back().neurons, shape.layers.back().inputs);
  }
  if (config.neighbours.share > 0 && bounds.samples > 0)
    bytes += threads * Neighbours::scratch_bytes_of(double(bounds.samples), double(shape.features));
  return bytes;
}

// Whether there are neighbours whose features get weights.
bool learns_feature_weights(const Config& config, std::size_t features, const BlockBounds& bounds) {
  return config.neighbours.share > 0 && config.neighbours.learn && bounds.samples > 0 &&
         bounds.dense != features;
}

// Bytes of the kNN prediction: samples, label co-occurrence, feature weights.
double neighbour_bytes(const Config& config, std::size_t features, std::size_t labels,
                       const BlockBounds& bounds) {
  if (config.neighbours.share <= 0 || bounds.samples == 0) return 0;
  const auto samples = double(bounds.samples);
  double bytes =
      Neighbours::bytes_of(samples, double(features), double(bounds.all_features), double(bounds.all_labels),
                           bounds.dense == features ? double(bounds.dense) : 0.0);
  if (config.neighbours.cooccurrence > 0) bytes += LabelCooccurrence::bytes_of(double(labels));
  if (learns_feature_weights(config, features, bounds))
    bytes += Neighbours::weight_bytes_of(samples, double(features));
  return bytes;
}

// Peak bytes of building the patterns of the linear term.
double pattern_bytes(const Config& config, const NetworkShape& shape, const BlockBounds& bounds,
                     int threads) {
  double bytes = 0;
  if (const LayerConfig& output = config.layers.back(); output.wide) {
    const auto neurons = double(shape.layers.back().neurons), label_features = double(bounds.label_features);
    bytes = LinearTerm::finding_bytes_of(output, neurons, label_features, double(shape.features), threads) +
            // a copy, when the array of features is cut to its length
            sizeof(std::uint32_t) * LinearTerm::max_weights(output, neurons, label_features);
  }
  if (config.data.kind == DataKind::kInteractions) {  // samples of masked items, two of each user
    bytes += 2 * (double(bounds.all_features) * (sizeof(std::uint32_t) + sizeof(float)) +
                  double(bounds.samples) * 2 * sizeof(std::uint64_t));
  }
  return bytes;
}

// Working memory of training steps: with masking buffers, label weights and label margins.
double step_bytes(const Config& config, const NetworkShape& shape, std::size_t labels,
                  const BlockBounds& bounds, int busy) {
  StepShape step = step_shape(config.train, busy);
  step.samples = step_samples(step.samples, bounds.rows);
  double bytes = NetworkTraining::bytes_of(config, shape, bounds, step);
  if (bounds.masks) {
    const std::size_t blocks = (step.samples + config.train.block_size - 1) / config.train.block_size;
    bytes += double(blocks * MaskingBuffer::bytes_of(bounds.feature_entries));
  }
  const double of_labels = double(labels) * sizeof(float);
  if (config.data.label_weights.wanted()) bytes += of_labels;
  if (takes_margins(config) && config.layers.back().wide_margin != 0.0) bytes += of_labels;
  return bytes;
}

}  // namespace

MemoryPlan plan_memory(const Config& config, std::size_t features, std::size_t labels,
                       const BlockBounds& bounds, int threads, int busy) {
  return plan_memory(config, features, network_shape(config, features, labels).parts, bounds, threads, busy);
}

// Sums up the bytes of each component. A process with a part of the neurons has that share of the linear
// term.
MemoryPlan plan_memory(const Config& config, std::size_t features, const NetworkParts& parts,
                       const BlockBounds& all_bounds, int threads, int busy) {
  if (busy == 0) busy = threads;
  const NetworkShape shape = network_shape(config, features, parts, all_bounds.dense);
  BlockBounds bounds = all_bounds;
  bounds.masks = config.data.kind == DataKind::kInteractions;
  if (!parts.complete()) {
    const double share = double(parts.own_neurons().count) / double(parts.neuron_ends.back());
    bounds.label_features = static_cast<std::size_t>(double(bounds.label_features) * share);
  }
  const std::size_t labels = parts.neuron_ends.back();
  MemoryPlan plan;
  if (shape.input) plan.layers.push_back(plan_input(*shape.input, shape.input_features, config));
  for (std::size_t l = 0; l < shape.layers.size(); ++l) {
    plan.layers.push_back(plan_layer(shape.layers[l], shape.limits_of(l, config, bounds), bounds, config));
  }
  if (config.data.idf_power != 0) plan.layers.front().weights += double(features) * sizeof(float);
  plan.neighbours = neighbour_bytes(config, features, labels, bounds);
  plan.evaluation = evaluation_bytes(config, shape, labels, bounds, threads, busy);
  if (learns_feature_weights(config, features, bounds)) {
    plan.learning = FeatureWeightLearning::bytes_of(double(bounds.samples), double(features), double(labels),
                                                    double(bounds.all_shared), busy);
  }
  plan.regression = bytes_of_item_weights(config, all_bounds.samples, labels, double(all_bounds.all_features),
                                          double(all_bounds.label_features), threads);
  plan.patterns = pattern_bytes(config, shape, bounds, threads);
  plan.step = step_bytes(config, shape, labels, bounds, busy);
  return plan;
}

}  // namespace slide
