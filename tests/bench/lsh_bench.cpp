// Benchmark of hash tables in a typical shape: 31,000 neurons, 128 hidden units, blocks of 32 samples, 256
// wanted; and of the index of inference by the number of neurons.
#include <benchmark/benchmark.h>

#include <numeric>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "lsh/neuron_index.h"

namespace {

using namespace slide;

constexpr std::size_t kNeurons = 31'000, kDim = 128, kLanes = 32, kWanted = 256;

AlignedArray<float> normals(std::size_t size, std::uint64_t item) {
  AlignedArray<float> x(size);
  Rng rng(1, Purpose::kTest, 0, item);
  for (float& value : x) value = static_cast<float>(rng.normal());
  return x;
}

HashConfig config_of(HashFamily family, CandidatePolicy policy = CandidatePolicy::kVanilla) {
  HashConfig config;
  config.family = family;
  config.candidates = policy;
  if (family != HashFamily::kSimhash) config.k = 3, config.range_pow = 9;
  return config;
}

struct Setup {
  explicit Setup(const HashConfig& config)
      : w(normals(kNeurons * kDim, 1)), index(config, kNeurons, kDim, 5), all(kNeurons) {
    index.rebuild({w.data(), kDim}, 0, 1);
    std::iota(all.begin(), all.end(), 0U);
  }
  AlignedArray<float> w;
  lsh::NeuronIndex index;
  std::vector<std::uint32_t> all;
};

void query_block(benchmark::State& state, const HashConfig& config, std::size_t lanes, std::size_t wanted) {
  const Setup setup(config);
  constexpr std::size_t kBlocks = 64;
  std::vector<AlignedArray<float>> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) blocks.push_back(normals(kDim * lanes, 100 + i));
  lsh::QueryScratch scratch = setup.index.make_scratch(lanes);
  lsh::IdSet seen(kNeurons);
  std::vector<std::uint32_t> out;
  out.reserve(kNeurons);
  std::uint64_t round = 0;
  std::size_t found = 0;
  for (auto _ : state) {
    Rng rng(3, Purpose::kSampling, round);
    seen.clear();
    out.clear();
    setup.index.query({blocks[round % kBlocks].data(), kDim, lanes, lanes}, wanted, rng, scratch, seen, out);
    found += out.size();
    ++round;
  }
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(round);
}

// The index of inference, per sample: projections of a block, then what is found for each sample. Queries are
// near rows, as hidden activations are near those of their labels.
void find_fixed(benchmark::State& state) {
  const auto neurons = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kBlockLanes = 128, kBlocks = 16;
  const AlignedArray<float> w = normals(neurons * kDim, 1);
  const lsh::NeuronIndex index = lsh::NeuronIndex::fixed({w.data(), kDim}, neurons, kDim, 5, 2);
  std::vector<AlignedArray<float>> blocks;
  Rng rng(2, Purpose::kTest);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    AlignedArray<float> xt = normals(kDim * kBlockLanes, 100 + i);
    for (std::size_t s = 0; s < kBlockLanes; ++s) {
      const std::size_t row = rng.below(static_cast<std::uint32_t>(neurons));
      for (std::size_t d = 0; d < kDim; ++d)
        xt[d * kBlockLanes + s] = w[row * kDim + d] + 0.5F * xt[d * kBlockLanes + s];
    }
    blocks.push_back(std::move(xt));
  }
  lsh::QueryScratch scratch = index.make_scratch(kBlockLanes);
  std::vector<std::uint32_t> found;
  std::size_t round = 0, all = 0;
  for (auto _ : state) {
    index.project({blocks[round++ % kBlocks].data(), kDim, kBlockLanes, kBlockLanes}, scratch);
    for (std::size_t s = 0; s < kBlockLanes; ++s) {
      index.find(s, kBlockLanes, kWanted, scratch, found);
      all += found.size();
    }
  }
  const double samples = double(round) * double(kBlockLanes);
  state.counters["found"] = double(all) / samples;
  state.counters["sample"] =
      benchmark::Counter(samples, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Changes a share of the rows by a small step, then rehashes them.
void rehash_rows(benchmark::State& state, const HashConfig& config, int threads) {
  Setup setup(config);
  const AlignedArray<float> steps = normals(kNeurons * kDim, 2);
  float sign = 1;
  for (auto _ : state) {
    state.PauseTiming();
    for (std::size_t i = 0; i < steps.size(); ++i) setup.w[i] += sign * 0.1F * steps[i];
    sign = -sign;
    state.ResumeTiming();
    setup.index.rehash({setup.w.data(), kDim}, setup.all, threads);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kNeurons));
}

void rebuild_rows(benchmark::State& state, const HashConfig& config, int threads) {
  Setup setup(config);
  std::uint64_t generation = 0;
  for (auto _ : state) setup.index.rebuild({setup.w.data(), kDim}, ++generation, threads);
}

const HashConfig kSimhash = config_of(HashFamily::kSimhash);
const HashConfig kDwta = config_of(HashFamily::kDwta);

BENCHMARK_CAPTURE(query_block, simhash_vanilla, kSimhash, kLanes, kWanted);
BENCHMARK_CAPTURE(query_block, simhash_vanilla_512, kSimhash, kLanes, 2 * kWanted);
BENCHMARK_CAPTURE(query_block, simhash_vanilla_single, kSimhash, 1, kWanted);
BENCHMARK_CAPTURE(query_block, simhash_topk, config_of(HashFamily::kSimhash, CandidatePolicy::kTopk), kLanes,
                  kWanted);
BENCHMARK_CAPTURE(query_block, simhash_threshold,
                  config_of(HashFamily::kSimhash, CandidatePolicy::kThreshold), kLanes, kWanted);
BENCHMARK_CAPTURE(query_block, wta_vanilla, config_of(HashFamily::kWta), kLanes, kWanted);
BENCHMARK_CAPTURE(query_block, dwta_vanilla, kDwta, kLanes, kWanted);
BENCHMARK_CAPTURE(query_block, minhash_vanilla, config_of(HashFamily::kMinhash), kLanes, kWanted);
BENCHMARK(find_fixed)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(3'000'000);
BENCHMARK_CAPTURE(rehash_rows, simhash_1_thread, kSimhash, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rehash_rows, simhash_2_threads, kSimhash, 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(rehash_rows, dwta_1_thread, kDwta, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rebuild_rows, simhash_1_thread, kSimhash, 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rebuild_rows, simhash_2_threads, kSimhash, 2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(rebuild_rows, dwta_1_thread, kDwta, 1)->Unit(benchmark::kMillisecond);

}  // namespace
