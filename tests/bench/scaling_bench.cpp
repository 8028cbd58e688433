// Benchmark of the cost of a training step against the number of outputs, at a fixed number of active
// neurons: the purpose of the engine.
//
// One sampled output layer alone; forward (with the selection of the active set) and backward (gradient of
// inputs, gradient and update of the touched rows, amortised rehash) separately. Curves: blocks of 32, of 64
// (as in configs/throughput.toml) and of 128 samples (as in configs/default.toml) over 128 inputs with 512
// active neurons, 2^8 to 2^20 outputs; and a single sample over 512 inputs with 64 active rows, 2^8 to 2^16
// outputs. The dense layer, with all neurons active, for comparison.
#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>
#include <vector>

#include "engine/network/layer_training.h"
#include "engine/network/loss.h"

namespace slide {
namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  std::size_t outputs, inputs, lanes, active, labels;  // labels: of the whole block
  bool dense;
};

constexpr std::uint32_t kRehashSteps = 100;

// A layer, one block, and the state of a step; steps draw new inputs and labels from a fixed pool.
class Bench {
 public:
  explicit Bench(const Case& c)
      : case_(c),
        layer_({config(c), c.inputs, c.outputs, true, Precision::kFp32, {{{0, c.outputs}, 0, 1}}}, {}),
        weights_(layer_.weights(), OptimizerKind::kAdagrad),
        bias_(layer_.bias(), OptimizerKind::kAdagrad) {
    optimizer_.set_rate(0.01);
    layer_.initialise(1, 1, 1);
    layer_.rebuild_index(1, 1, 1);
    const BlockLimits limits{c.lanes, 0, false, c.labels};
    training_.emplace(layer_, limits, 1, 1);
    layer_.reserve(block_, limits, 1);
    scratch_ = layer_.make_scratch(limits);
    update_scratch_ = training_->make_scratch(layer_);
    groups_.reserve(layer_.active_limit(limits));
    Rng rng(1, Purpose::kTest);
    for (std::size_t i = 0; i < kPool; ++i) {
      inputs_.emplace_back(c.inputs * c.lanes);
      rows_.emplace_back(c.inputs * c.lanes);
      for (std::size_t b = 0; b < c.lanes; ++b) {
        for (std::size_t k = 0; k < c.inputs; ++k) {
          const auto value = static_cast<float>(std::max(0.0, rng.normal()));
          inputs_.back()[k * c.lanes + b] = rows_.back()[b * c.inputs + k] = value;
        }
      }
    }
    dx_ = AlignedArray<float>(c.lanes * c.inputs);
    norm_.resize(c.lanes);
    losses_.resize(c.lanes);
    label_ids_.resize(c.labels);
    labels_.resize(c.lanes);
  }

  void forward(std::uint64_t step) {
    Rng rng(2, Purpose::kTest, step);
    const std::size_t each = case_.labels / case_.lanes;
    for (auto& id : label_ids_) id = rng.below(static_cast<std::uint32_t>(case_.outputs));
    for (std::size_t b = 0; b < case_.lanes; ++b) labels_[b] = {label_ids_.data() + b * each, each};
    in_ = BlockInput{};
    in_.width = in_.ldx = case_.inputs;
    in_.xt = inputs_[step % kPool].data();
    in_.x = rows_[step % kPool].data();
    in_.lanes = in_.samples = case_.lanes;
    layer_.select(0, in_, {{}, labels_}, rng, scratch_, block_);
    layer_.forward(in_, {0, slices_of(block_.count, kSliceNeurons)}, scratch_, block_);
  }

  void backward(std::uint64_t step) {
    softmax_loss({&block_.set, block_.count, case_.lanes, case_.lanes}, {0, case_.lanes},
                 1.0f / static_cast<float>(case_.lanes), block_.out_t.data(), norm_.data(), losses_.data());
    layer_.backward_input(in_, {{0, in_.width}, {0, in_.lanes}}, block_.out_t.data(), scratch_, block_,
                          dx_.data(), case_.inputs);
    training_->list_touched(0, block_);
    ++batch_.stamp;
    batch_.inputs.assign(1, in_);
    batch_.deltas.assign(1, block_.out_t.data());
    batch_.blocks.assign(1, &block_);
    training_->update({layer_, weights_, bias_, no_wide_}, batch_, 0, optimizer_, groups_, update_scratch_);
    if ((step + 1) % kRehashSteps == 0) training_->rehash(layer_, 1);
  }

  std::size_t active() const { return block_.count; }
  std::size_t bytes() const {
    return layer_.weights().bytes() + layer_.bias().bytes() + (layer_.index() ? layer_.index()->bytes() : 0);
  }

 private:
  static constexpr std::size_t kPool = 64;

  static LayerConfig config(const Case& c) {
    LayerConfig layer;
    layer.kind = c.dense ? LayerKind::kDense : LayerKind::kSampled;
    const std::size_t drawn = c.active - std::min(c.active, c.labels);
    layer.lsh = static_cast<std::uint32_t>(drawn / 2);
    layer.uniform = static_cast<std::uint32_t>(drawn - drawn / 2);
    layer.logq_correction = true;
    layer.hash.k = layer.hash.range_pow = 7;
    return layer;
  }

  Case case_;
  Layer layer_;
  MatrixState weights_, bias_;
  std::vector<float> no_wide_;
  std::optional<LayerTraining> training_;
  Optimizer optimizer_{OptimizerConfig{}};
  LayerBlock block_;
  LayerScratch scratch_;
  UpdateScratch update_scratch_;
  RowGroups groups_;
  LayerBatch batch_;
  BlockInput in_;
  std::vector<AlignedArray<float>> inputs_, rows_;
  AlignedArray<float> dx_;
  std::vector<float> norm_;
  std::vector<double> losses_;
  std::vector<std::uint32_t> label_ids_;
  std::vector<std::span<const std::uint32_t>> labels_;
};

void run(benchmark::State& state, const Case& c) {
  Bench bench(c);
  const std::uint64_t warm = c.dense ? 2 : 2 * kRehashSteps;
  std::uint64_t step = 0;
  for (; step < warm; ++step) {
    bench.forward(step);
    bench.backward(step);
  }
  double forward = 0.0, backward = 0.0;
  for (auto _ : state) {
    const auto start = Clock::now();
    bench.forward(step);
    const auto middle = Clock::now();
    bench.backward(step);
    const auto end = Clock::now();
    ++step;
    forward += std::chrono::duration<double>(middle - start).count();
    backward += std::chrono::duration<double>(end - middle).count();
  }
  const auto steps = double(state.iterations());
  state.counters["forward_us"] = forward / steps * 1e6;
  state.counters["backward_us"] = backward / steps * 1e6;
  state.counters["active"] = double(bench.active());
  state.counters["layer_mb"] = double(bench.bytes()) / 1e6;
}

void BM_block_sampled(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 128, 32, std::min<std::size_t>(512, state.range(0)), 128, false});
}
void BM_block64_sampled(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 128, 64, std::min<std::size_t>(512, state.range(0)), 256, false});
}
void BM_block128_sampled(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 128, 128, std::min<std::size_t>(512, state.range(0)), 256, false});
}
void BM_block_dense(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 128, 32, 0, 128, true});
}
void BM_single_sampled(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 512, 1, 64, 4, false});
}
void BM_single_dense(benchmark::State& state) {
  run(state, {std::size_t(state.range(0)), 512, 1, 0, 4, true});
}

BENCHMARK(BM_block_sampled)->RangeMultiplier(4)->Range(1 << 8, 1 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_block64_sampled)->RangeMultiplier(4)->Range(1 << 8, 1 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_block128_sampled)->RangeMultiplier(4)->Range(1 << 8, 1 << 20)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_block_dense)->RangeMultiplier(4)->Range(1 << 8, 1 << 16)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_single_sampled)->RangeMultiplier(4)->Range(1 << 8, 1 << 16)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_single_dense)->RangeMultiplier(4)->Range(1 << 8, 1 << 16)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slide
