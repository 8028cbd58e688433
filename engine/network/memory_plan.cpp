#include "engine/network/memory_plan.h"

#include <algorithm>
#include <cmath>

#include "engine/features/neighbours.h"
#include "engine/kernels/kernels.h"
#include "engine/network/optimizer_state.h"
#include "engine/network/parameters.h"
#include "engine/network/row_groups.h"

namespace slide {

namespace {

constexpr double kFloat = sizeof(float), kId = sizeof(std::uint32_t);
constexpr double kBucketBytes = 16;
constexpr double kSlabRows = 8192;   // rows that a rehash hashes at once
constexpr double kPackedRows = 256;  // fp32 copies of bfloat16 rows, or of rows with a block's columns
constexpr double kChunkOverhead =
    2;  // entries of a bucket are kept in powers of two, outgrown ones for later

bool has_tables(const LayerConfig& layer) {
  return layer.kind == LayerKind::kSampled && layer.lsh > 0;
}

double table_bytes(const HashConfig& hash, double neurons, double inputs) {
  const double buckets = std::exp2(double(hash.k) * code_bits(hash));
  const double entries = kChunkOverhead * std::min(neurons + 4 * buckets, buckets * hash.bucket_capacity);
  const double functions = inputs * hash.tables * hash.k * (kFloat + 1);
  const double table =
      neurons * kId + std::min(neurons, kSlabRows) * kId + buckets * kBucketBytes + entries * kId;
  return hash.tables * table + functions;
}

std::size_t active_neurons(const LayerConfig& layer, std::size_t neurons, bool last,
                           const BlockBounds& bounds) {
  if (layer.kind == LayerKind::kDense) return neurons;
  const std::size_t drawn = std::size_t{layer.lsh} + layer.uniform + layer.frequency;
  return std::min(neurons, drawn + (last ? bounds.label_entries : 0));
}

double wide_weights(const LayerConfig& layer, double neurons, const BlockBounds& bounds) {
  return std::min(neurons * layer.wide_features, double(bounds.label_features)) +
         neurons * layer.wide_against;
}

LayerPlan plan_layer(const Config& config, std::size_t at, std::size_t inputs, std::size_t labels,
                     const BlockBounds& bounds) {
  const LayerConfig& layer = config.layers[at];
  const bool last = at + 1 == config.layers.size();
  const bool by_feature = at == 0 && !last && layer.kind == LayerKind::kDense;
  LayerPlan plan;
  plan.inputs = inputs;
  plan.neurons = layer.size == 0 ? labels : layer.size;
  plan.active = active_neurons(layer, plan.neurons, last, bounds);
  plan.parameters = (double(inputs) + 1) * double(plan.neurons);
  const Precision precision = config.train.weights;
  const OptimizerKind kind = config.optimizer.kind;
  const std::size_t rows = by_feature ? inputs : plan.neurons, columns = by_feature ? plan.neurons : inputs;
  const std::size_t bias_rows = by_feature ? 1 : plan.neurons, bias_columns = by_feature ? plan.neurons : 1;
  plan.weights =
      double(Parameters::bytes_of(rows, columns, precision) + Parameters::bytes_of(bias_rows, bias_columns));
  plan.state = double(MatrixState::bytes_of(rows, columns, kind) +
                      MatrixState::bytes_of(bias_rows, bias_columns, kind));
  if (at == 0 && config.data.idf_power != 0)
    plan.weights += double(inputs) * kFloat;  // factors of the features
  if (last && layer.wide) {  // at most, if every label has a full pattern, or features in no two samples
    const double wide = wide_weights(layer, double(plan.neurons), bounds);
    plan.weights += wide * (kFloat + kId) + double(plan.neurons) * sizeof(std::uint64_t);
    plan.state += wide * kFloat;
  }
  if (has_tables(layer)) plan.tables = table_bytes(layer.hash, double(plan.neurons), double(inputs));
  return plan;
}

// One block of samples: activations and deltas in their layouts, active sets, touched rows.
double block_bytes(const Config& config, const MemoryPlan& plan, const BlockBounds& bounds) {
  const double lanes = config.train.block_size;
  double bytes = double(bounds.feature_entries) * (kFloat + kId);
  if (config.data.idf_power != 0) bytes += double(bounds.feature_entries) * kFloat;
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const bool last = l + 1 == plan.layers.size();
    const double arrays = last ? 1 : config.layers[l].dropout > 0 ? 4 : 3;
    const double active =
        double(last ? plan.layers[l].active : kernels::spread_stride(plan.layers[l].active));
    bytes += arrays * active * lanes * kFloat + 2 * active * kId;
    if (last && config.loss.delta_floor > 0) bytes += active * (lanes * (kFloat + kId) + sizeof(std::size_t));
    if (config.layers[l].kind == LayerKind::kSampled) bytes += active * sizeof(Contribution);
  }
  const bool by_column = plan.layers.size() == 1 || config.layers.front().kind == LayerKind::kSampled;
  if (by_column)
    bytes += 2 * double(bounds.feature_entries) * lanes * kFloat + double(plan.layers[0].inputs) * kId;
  return bytes;
}

// Directories of rows, and what each thread marks neurons in.
double directory_bytes(const Config& config, const MemoryPlan& plan, double threads) {
  double bytes = double(plan.layers.front().inputs) * 2 * kId;
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const double neurons = double(plan.layers[l].neurons);
    bytes += neurons * 2 * kId;
    if (config.layers[l].kind != LayerKind::kSampled) continue;
    bytes += neurons * (kId + 1) + threads * 3 * neurons * kId;
    if (config.layers[l].frequency > 0) bytes += 3 * neurons * kId;
    if (config.layers[l].hash.candidates != CandidatePolicy::kVanilla) bytes += threads * 4 * neurons * kId;
  }
  return bytes;
}

// Contributions of a step, grouped by row, and copies of rows.
double thread_bytes(const Config& config, const MemoryPlan& plan, const BlockBounds& bounds) {
  double bytes = 0;
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    bytes += 2 * double(plan.layers[l].inputs) * kFloat;
    const bool by_column = l > 0 ? config.layers[l - 1].kind == LayerKind::kSampled
                                 : plan.layers.size() == 1 || config.layers[0].kind == LayerKind::kSampled;
    const double columns = l > 0 ? double(plan.layers[l - 1].active) : double(bounds.feature_entries);
    const bool widened = l > 0 && config.train.weights == Precision::kBf16;
    if (by_column || widened) bytes += kPackedRows * columns * kFloat;
  }
  return bytes;
}

}  // namespace

MemoryPlan plan_memory(const Config& config, std::size_t features, std::size_t labels,
                       const BlockBounds& bounds, int threads) {
  MemoryPlan plan;
  std::size_t inputs = features;
  for (std::size_t l = 0; l < config.layers.size(); ++l) {
    plan.layers.push_back(plan_layer(config, l, inputs, labels, bounds));
    inputs = plan.layers.back().neurons;
  }
  double votes = 0;
  if (config.neighbours.share > 0 && bounds.samples > 0) {
    plan.neighbours = Neighbours::bytes_of(double(bounds.samples), double(features),
                                           double(bounds.all_features), double(bounds.all_labels));
    votes = threads * double(bounds.samples + features) * kFloat;
  }
  const TrainConfig& train = config.train;
  double blocks = double(train.batch_size) / train.block_size;
  if (!train.deterministic) blocks = std::max(blocks, double(threads));
  const double groups = blocks * double(bounds.feature_entries) * (sizeof(std::size_t) + 3 * kId);
  const double samples = blocks * train.block_size;
  const double deltas = samples * double(kernels::spread_stride(plan.layers.front().neurons)) * kFloat;
  const double shards = samples * threads * double(sizeof(SamplePart) + kId);  // lists of each one's features
  const LayerConfig& output = config.layers.back();
  const double postings =  // of an evaluation
      output.wide ? wide_weights(output, double(plan.layers.back().neurons), bounds) * (kFloat + kId) : 0.0;
  plan.workspaces = postings + votes + blocks * block_bytes(config, plan, bounds) + groups + deltas + shards +
                    directory_bytes(config, plan, threads) + threads * thread_bytes(config, plan, bounds);
  return plan;
}

}  // namespace slide
