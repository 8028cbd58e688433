// A training step does not allocate, not even the first one. This file replaces operator new for the whole
// test program with a counting one; only these tests read the count. Aligned arrays do not use operator new:
// where nothing rehashes, the heap size is compared as well.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"
#include "tests/sanitizers.h"

// Clang's ThreadSanitizer replaces operator new: no counting there.
#ifndef SLIDE_UNDER_TSAN

namespace {
std::atomic<std::size_t> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* counted_or_throw(std::size_t bytes, std::size_t alignment = 1) {
  void* memory = counted(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t n) {
  return counted_or_throw(n);
}
void* operator new[](std::size_t n) {
  return counted_or_throw(n);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return counted(n, 1);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return counted(n, 1);
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  std::free(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  std::free(p);
}

namespace slide::test {
namespace {

Dataset allocation_data() {
  DataSpec spec;
  spec.samples = 200, spec.features = 300, spec.labels = 150, spec.entries = 9;
  return make_data(spec);
}

Config allocation_config(std::vector<LayerConfig> layers, std::uint32_t threads) {
  Config config = make_config(std::move(layers), 64, 16);
  for (LayerConfig& layer : config.layers) {
    layer.hash.k = 4;
    layer.hash.range_pow = 4;
    layer.hash.rehash_steps = 3;
  }
  config.train.threads = threads;
  return config;
}

std::size_t heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void pass(Trainer& trainer, std::size_t samples) {
  const std::size_t batch = trainer.batch_samples();
  for (std::size_t first = 0; first < samples; first += batch)
    trainer.step(first, std::min(batch, samples - first));
}

bool rehashes(const Config& config) {
  for (const LayerConfig& layer : config.layers) {
    if (layer.kind == LayerKind::kSampled && layer.lsh > 0 && layer.hash.rehash_steps > 0) return true;
  }
  return false;
}

// A rehash may enlarge a bucket from the table's own memory: then only operator new is checked.
void expect_steps_allocate_nothing(const Config& config, int warm_passes) {
  const Dataset data = allocation_data();
  Trainer trainer(fresh_job(config, data));
  for (int i = 0; i < warm_passes; ++i) pass(trainer, data.size());
  const std::size_t count = allocations, heap = heap_in_use();
  for (int i = 0; i < 5; ++i) pass(trainer, data.size());
  const std::size_t after = allocations, heap_after = heap_in_use();
  EXPECT_EQ(after - count, 0u) << "calls of operator new in 20 steps on " << config.train.threads
                               << " threads";
  if (config.train.threads == 1 && !rehashes(config)) {
    EXPECT_LE(heap_after, heap);  // threads of previous tests may still release memory
  }
}

const std::vector<std::vector<LayerConfig>>& shapes() {
  static const std::vector<std::vector<LayerConfig>> all = {
      {dense(24, Activation::kRelu, 0.2), sampled(0, 20, 12)},
      {dense(24), sampled(0, 0, 30)},
      {dense(24), dense(0)},
      {dense(24), sampled(40, 12, 6, Activation::kTanh, 0.2), sampled(0, 20, 12)},
      {sampled(40, 12, 6), dense(0)},
      {sampled(0, 20, 12)},
  };
  return all;
}

TEST(Allocation, NoneInAWarmStep) {
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    SCOPED_TRACE("shape " + std::to_string(i));
    for (const std::uint32_t threads : {1, 2, 6}) {
      expect_steps_allocate_nothing(allocation_config(shapes()[i], threads), 3);
    }
  }
}

TEST(Allocation, NoneWithBf16Weights) {
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    SCOPED_TRACE("shape " + std::to_string(i));
    Config config = allocation_config(shapes()[i], 2);
    config.train.weights = Precision::kBf16;
    expect_steps_allocate_nothing(config, 3);
  }
}

TEST(Allocation, NoneWithRoundedDeltas) {
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    SCOPED_TRACE("shape " + std::to_string(i));
    Config config = allocation_config(shapes()[i], 2);
    config.loss.gradient_threshold = 0.1;
    for (LayerConfig& layer : config.layers) layer.hash.rehash_steps = 0;
    expect_steps_allocate_nothing(config, 0);
  }
}

// Many steps on many threads: the assignment of tasks is random.
TEST(Allocation, NoneInParts) {
  const std::vector<std::vector<LayerConfig>> layers = {
      {dense(24, Activation::kRelu, 0.2), sampled(0, 20, 12)}, {dense(24), dense(0)}, {sampled(0, 20, 12)}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const LossKind loss : all_losses()) {
      for (const std::uint32_t threads : {1, 2, 6}) {
        SCOPED_TRACE("shape " + std::to_string(i));
        Config config = allocation_config(layers[i], threads);
        config.train.shards = 3;
        config.loss.kind = loss;
        for (LayerConfig& layer : config.layers) layer.hash.rehash_steps = 0;
        expect_steps_allocate_nothing(config, 0);
      }
    }
  }
}

TEST(Allocation, NoneWithScaledFeatures) {
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    for (const std::uint32_t threads : {1, 2, 6}) {
      SCOPED_TRACE("shape " + std::to_string(i));
      Config config = allocation_config(shapes()[i], threads);
      config.data.idf_power = 1.5;
      for (LayerConfig& layer : config.layers) layer.hash.rehash_steps = 0;
      expect_steps_allocate_nothing(config, 0);
    }
  }
}

TEST(Allocation, NoneInTheFirstStepEither) {
  for (std::size_t i = 0; i < shapes().size(); ++i) {
    for (const std::uint32_t rehash_steps : {0, 3}) {
      SCOPED_TRACE("shape " + std::to_string(i));
      Config config = allocation_config(shapes()[i], 1);
      for (LayerConfig& layer : config.layers) layer.hash.rehash_steps = rehash_steps;
      expect_steps_allocate_nothing(config, 0);
    }
  }
}

TEST(Allocation, NoneWithEveryCandidatePolicyAndHashFamily) {
  for (const HashFamily family :
       {HashFamily::kSimhash, HashFamily::kWta, HashFamily::kDwta, HashFamily::kMinhash}) {
    for (const CandidatePolicy policy :
         {CandidatePolicy::kVanilla, CandidatePolicy::kTopk, CandidatePolicy::kThreshold}) {
      for (const BucketPolicy buckets : {BucketPolicy::kFifo, BucketPolicy::kReservoir}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(family)) + " " +
                     std::to_string(static_cast<int>(policy)) + " " +
                     std::to_string(static_cast<int>(buckets)));
        Config config = allocation_config({dense(24), sampled(0, 20, 12)}, 1);
        HashConfig& hash = config.layers.back().hash;
        hash.family = family;
        hash.candidates = policy;
        hash.bucket_policy = buckets;
        hash.k = 2, hash.range_pow = 6;
        expect_steps_allocate_nothing(config, 3);
      }
    }
  }
}

TEST(Allocation, NoneInARebuild) {
  Config config = allocation_config({dense(24), sampled(0, 20, 12)}, 1);
  config.layers.back().hash.rebuild_steps = 7;
  expect_steps_allocate_nothing(config, 3);
}

// Repeated predictions of a server, of single samples and batches, do not allocate.
TEST(Allocation, NoneInAWarmPrediction) {
  const Dataset data = allocation_data();
  for (const bool wide : {false, true}) {
    for (const double share : {0.0, 0.4}) {
      Config config = scoring_config(wide, share);
      config.data.idf_power = wide ? 0.0 : 1.0;
      Trainer trainer(fresh_job(config, data));
      for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
        InferenceOptions options;
        options.mode = mode;
        options.low_latency = true;
        options.bound_first = true;
        options.candidates = 20;
        const Predictor predictor(trainer.trained(), options);
        Predictor::Scratch scratch;
        const Dataset one = data.slice(0, 1), many = data.slice(1, 150), others = data.slice(2, 150);
        const Predictor::Sink sink = [](std::size_t, std::span<const Prediction>) {};
        std::size_t count = 0, heap = 0;
        for (int repeat = 0; repeat < 3; ++repeat) {
          if (repeat == 1) count = allocations, heap = heap_in_use();
          predictor.predict(one, {5, false}, scratch, sink);
          predictor.predict(repeat == 0 ? many : others, {5, false}, scratch, sink);
        }
        const std::size_t after = allocations, heap_after = heap_in_use();
        EXPECT_EQ(after - count, 0u) << "wide " << wide << " share " << share;
        EXPECT_LE(heap_after, heap);  // threads of previous tests may still release memory
      }
    }
  }
}

// Predictions for a pipe, line by line or in batches, do not allocate once memory has grown.
TEST(Allocation, NoneInAWarmPredictionOfAPipe) {
  const Dataset data = allocation_data();
  for (const bool wide : {false, true}) {
    for (const double share : {0.0, 0.4}) {
      Trainer trainer(fresh_job(scoring_config(wide, share), data));
      for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
        SCOPED_TRACE("wide " + std::to_string(wide) + " share " + std::to_string(share));
        InferenceOptions options;
        options.by_row = true;
        options.mode = mode;
        options.candidates = 20;
        options.threads = 1;
        const Predictor predictor(trainer.trained(), options);
        Predictor::Scratch scratch;
        std::vector<Predictor::Scratch> scratches;
        const Predictor::Sink sink = [](std::size_t, std::span<const Prediction>) {};
        const auto predict = [&](const Dataset& rows) {
          predictor.predict(rows, {5, false}, scratch, sink);
          predictor.predict(rows, scratches, sink);
        };
        predict(data);
        std::vector<Dataset> parts;
        for (const std::size_t size : {1, 2, 17, 64, 130}) {
          for (std::size_t first = 0; first + size <= data.size(); first += 3 * size)
            parts.push_back(data.slice(first, size));
        }
        const std::size_t count = allocations, heap = heap_in_use();
        for (const Dataset& rows : parts) predict(rows);
        const std::size_t after = allocations, heap_after = heap_in_use();
        EXPECT_EQ(after - count, 0u);
        EXPECT_LE(heap_after, heap);  // threads of previous tests may still release memory
      }
    }
  }
}

// The counter works: otherwise the tests above would pass vacuously.
TEST(Allocation, TheCounterCounts) {
  const std::size_t count = allocations;
  const std::vector<int> some(1000);
  EXPECT_EQ(allocations - count, 1u);
  EXPECT_EQ(some.size(), 1000u);
}

}  // namespace
}  // namespace slide::test

#endif  // SLIDE_UNDER_TSAN
