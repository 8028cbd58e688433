// Recall of hash tables: for a trained model, how many of the output neurons that fire most for a sample do
// its block's candidates hold? Tables of other shapes are built from the same weights.
// scripts/experiments.py runs it.
//   recall_probe MODEL TEST.txt SAMPLES BLOCK WANTED family:k:tables:bucket_capacity:policy:transform ...
// policy: vanilla, topk or threshold; transform: plain or asymmetric; both may be left out.
// Prints a line of JSON for each shape. The chance level is WANTED / neurons; `best` is what the best
// possible choice of WANTED neurons for each block would reach.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/config/spellings.h"
#include "engine/inference/prediction_batch.h"
#include "engine/model/model_file.h"
#include "lsh/neuron_index.h"

namespace {

using namespace slide;

constexpr std::size_t kTop = 10;
constexpr int kSeeds = 3;  // hash functions drawn for each shape

template <class E>
E named(const std::string& name) {
  const std::optional<E> value = from_spelling<E>(name);
  if (!value) fail_input("unknown name '{}' in a shape", name);
  return *value;
}

HashConfig shape_of(const std::string& text) {
  HashConfig hash;
  char family[16] = {}, policy[16] = "vanilla", transform[16] = "plain";
  unsigned k = 0, tables = 0, capacity = 0;
  if (std::sscanf(text.c_str(), "%15[a-z]:%u:%u:%u:%15[a-z]:%15[a-z]", family, &k, &tables, &capacity, policy,
                  transform) < 4) {
    fail_input("'{}' is no family:k:tables:bucket_capacity:policy:transform", text);
  }
  hash.family = named<HashFamily>(family);
  hash.candidates = named<CandidatePolicy>(policy);
  hash.asymmetric = transform == std::string_view("asymmetric");
  if (!hash.asymmetric && transform != std::string_view("plain"))
    fail_input("unknown name '{}' in a shape", transform);
  hash.k = k;
  hash.tables = tables;
  hash.bucket_capacity = capacity;
  hash.range_pow = k * code_bits(hash);
  return hash;
}

// The kTop best neurons of one lane of z [neurons x lanes].
std::array<std::uint32_t, kTop> top_of(const AlignedArray<float>& z, std::size_t neurons, std::size_t lanes,
                                       std::size_t lane) {
  std::vector<std::uint32_t> order(neurons);
  std::iota(order.begin(), order.end(), 0U);
  std::partial_sort(order.begin(), order.begin() + kTop, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return z[a * lanes + lane] > z[b * lanes + lane];
  });
  std::array<std::uint32_t, kTop> top;
  std::copy_n(order.begin(), kTop, top.begin());
  return top;
}

int probe(int argc, char** argv) {
  if (argc < 7)
    fail_input(
        "usage: recall_probe MODEL TEST SAMPLES BLOCK WANTED family:k:tables:capacity[:policy[:transform]] "
        "...");
  Model model = load_model(argv[1]);
  Network& network = model.network;
  const Layer& output = network.output();
  if (output.weights().is_bf16()) fail_input("the model has bf16 weights; train it with train.weights=fp32");
  ReadOptions options;
  options.feature_limit = static_cast<std::uint32_t>(network.features());
  options.label_limit = static_cast<std::uint32_t>(network.labels());
  const Dataset data = read_dataset(argv[2], options);
  const std::size_t samples = std::min<std::size_t>(data.size(), std::stoul(argv[3]));
  const std::size_t lanes = std::stoul(argv[4]), wanted = std::stoul(argv[5]);
  const std::size_t neurons = network.labels(), blocks = samples / lanes;

  std::vector<AlignedArray<float>> hidden;
  std::vector<std::array<std::uint32_t, kTop>> tops;
  const std::size_t entries = max_entries(network, data, lanes);
  Block block = network.make_inference_block(lanes, entries);
  ThreadScratch scratch = network.make_inference_scratch(lanes, entries);
  AlignedArray<float> z(neurons * lanes);
  for (std::size_t b = 0; b < blocks; ++b) {
    block.clear_samples();
    for (std::size_t i = b * lanes; i < (b + 1) * lanes; ++i) network.add_sample(data, i, block);
    const BlockInput in = network.infer_hidden(block, scratch);
    hidden.emplace_back(in.width * lanes);
    std::copy_n(in.xt, in.width * lanes, hidden.back().data());
    for (std::size_t row = 0; row < neurons; row += 64) {
      const auto chunk = output.all_neurons().subspan(row, std::min<std::size_t>(64, neurons - row));
      output.score({&in, 1}, chunk, scratch.layers.back(), z.data() + row * lanes);
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) tops.push_back(top_of(z, neurons, lanes, lane));
  }

  std::size_t best = 0;
  std::vector<std::uint32_t> count(neurons), order(neurons);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::fill(count.begin(), count.end(), 0U);
    for (std::size_t i = b * lanes; i < (b + 1) * lanes; ++i) {
      for (const std::uint32_t id : tops[i]) ++count[id];
    }
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                      [&](std::uint32_t x, std::uint32_t y) { return count[x] > count[y]; });
    for (std::size_t i = 0; i < wanted; ++i) best += count[order[i]];
  }

  for (int a = 6; a < argc; ++a) {
    const HashConfig hash = shape_of(argv[a]);
    std::size_t hits = 0, found = 0;
    double build_seconds = 0, query_seconds = 0;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      lsh::NeuronIndex index(hash, neurons, output.inputs(), static_cast<std::uint64_t>(seed));
      index.rebuild(output.weight_rows(), 1, 1);
      const auto built = Clock::now();
      lsh::QueryScratch query = index.make_scratch(lanes);
      lsh::IdSet seen(neurons);
      std::vector<std::vector<std::uint32_t>> out(blocks);
      for (std::size_t b = 0; b < blocks; ++b) {
        Rng rng(static_cast<std::uint64_t>(seed), Purpose::kSampling, 0, b);
        seen.clear();
        index.query({hidden[b].data(), output.inputs(), lanes, lanes}, wanted, rng, query, seen, out[b]);
      }
      query_seconds += std::chrono::duration<double>(Clock::now() - built).count();
      build_seconds += std::chrono::duration<double>(built - start).count();
      for (std::size_t b = 0; b < blocks; ++b) {
        found += out[b].size();
        std::vector<bool> in_set(neurons, false);
        for (const std::uint32_t id : out[b]) in_set[id] = true;
        for (std::size_t i = b * lanes; i < (b + 1) * lanes; ++i) {
          for (const std::uint32_t id : tops[i]) hits += in_set[id] ? 1 : 0;
        }
      }
    }
    const double pairs = static_cast<double>(blocks * lanes * kTop);
    const double queries = static_cast<double>(kSeeds * blocks);
    std::printf("{\"shape\": \"%s\", \"recall\": %.4f, \"found\": %.1f, ", argv[a],
                static_cast<double>(hits) / (kSeeds * pairs), static_cast<double>(found) / queries);
    std::printf("\"chance\": %.4f, \"best\": %.4f, ",
                static_cast<double>(wanted) / static_cast<double>(neurons),
                static_cast<double>(best) / pairs);
    std::printf("\"build_ms\": %.1f, \"query_us\": %.1f}\n", build_seconds * 1e3 / kSeeds,
                query_seconds * 1e6 / queries);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return probe(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "recall_probe: %s\n", error.what());
    return 1;
  }
}
