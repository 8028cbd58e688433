// Small training runs, and their complete results for bitwise comparison.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {

inline DataSpec wide_data() {
  DataSpec spec;
  spec.samples = 230, spec.features = 120, spec.labels = 90, spec.entries = 8;
  return spec;
}

// All components: LSH, rehash, rebuild, dropout, several blocks per batch.
inline Config full_config(std::vector<LayerConfig> layers) {
  Config config = make_config(std::move(layers), 64, 16);
  for (LayerConfig& layer : config.layers) {
    layer.hash.k = 3;
    layer.hash.range_pow = 3;
    layer.hash.rehash_steps = 2;
    layer.hash.rebuild_steps = 5;
    layer.hash.interval_growth = 1.1;
  }
  config.train.epochs = 3;
  config.train.threads = 2;
  return config;
}

struct Trace {
  std::vector<double> losses;
  std::vector<std::vector<float>> weights;
};

inline void keep(const Parameters& p, const MatrixState& state, Trace& trace) {
  for (const auto* array : {&p.weights, &state.first, &state.second})
    trace.weights.emplace_back(array->begin(), array->end());
  for (std::size_t r = 0; r < p.rows && p.is_bf16(); ++r) {
    std::vector<float> row(p.columns);
    p.load_row(r, row.data());
    trace.weights.push_back(std::move(row));
  }
}

inline Trace train(const Config& config, const Dataset& data) {
  Trace trace;
  Trainer trainer(fresh_job(config, data));
  TrainObserver observer;
  observer.epoch = [&](const EpochReport& report) { trace.losses.push_back(report.loss); };
  trainer.run(observer);
  const auto matrices = std::as_const(trainer).network().matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m)
    keep(*matrices[m], trainer.training().optimizer_state().matrices[m], trace);
  return trace;
}

inline bool same_bits(const Trace& a, const Trace& b) {
  if (a.losses != b.losses || a.weights.size() != b.weights.size()) return false;
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    const std::size_t bytes = a.weights[i].size() * sizeof(float);
    if (b.weights[i].size() != a.weights[i].size()) return false;
    if (bytes > 0 && std::memcmp(a.weights[i].data(), b.weights[i].data(), bytes) != 0) return false;
  }
  return true;
}

inline void expect_same_on_all_threads(Config config, const DataSpec& spec = wide_data()) {
  const Dataset data = make_data(spec);
  config.train.threads = 1;
  const Trace one = train(config, data);
  for (const std::uint32_t threads : {2, 3, 4, 16}) {
    config.train.threads = threads;
    EXPECT_TRUE(same_bits(one, train(config, data))) << threads << " threads";
  }
}

}  // namespace slide::test
