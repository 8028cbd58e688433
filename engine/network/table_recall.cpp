#include "engine/network/table_recall.h"

#include <algorithm>
#include <limits>

namespace slide {

namespace {

constexpr std::size_t kChunk = 1024;  // neurons scored together

// Running top of one sample, by falling score.
struct Best {
  TopNeurons ids;
  std::array<float, kRecallTop> scores;

  Best() {
    ids.fill(UINT32_MAX);
    scores.fill(-std::numeric_limits<float>::infinity());
  }
  void offer(std::uint32_t id, float score) {
    if (!(score > scores.back())) return;
    std::size_t at = kRecallTop - 1;
    for (; at > 0 && score > scores[at - 1]; --at) {
      scores[at] = scores[at - 1];
      ids[at] = ids[at - 1];
    }
    scores[at] = score;
    ids[at] = id;
  }
};

}  // namespace

// Scores kChunk neurons at a time, without the linear term, which the tables do not contain.
std::vector<TopNeurons> top_neurons(const Layer& layer, Slice neurons, const BlockInput& in,
                                    std::size_t samples, LayerScratch& scratch) {
  BlockInput plain = in;
  plain.features = nullptr;
  std::vector<Best> best(samples);
  AlignedArray<float> z(std::min(kChunk, neurons.count) * in.lanes);
  for (std::size_t first = 0; first < neurons.count; first += kChunk) {
    const auto ids =
        layer.all_neurons().subspan(neurons.first + first, std::min(kChunk, neurons.count - first));
    layer.score({&plain, 1}, ids, scratch, z.data());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      for (std::size_t s = 0; s < samples; ++s) best[s].offer(ids[i], z[i * in.lanes + s]);
    }
  }
  std::vector<TopNeurons> top;
  for (const Best& one : best) top.push_back(one.ids);
  return top;
}

// Finds the top neurons exhaustively, then queries the tables with one sample at a time.
double table_recall(const Layer& layer, const BlockInput& in, std::uint64_t seed) {
  const std::size_t samples = std::min(kRecallSamples, in.samples);
  std::size_t hits = 0, all = 0;
  AlignedArray<float> x(in.width);
  std::vector<std::uint32_t> found;
  LayerScratch scratch;  // empty: weights in training are never int8
  for (std::size_t part = 0; part < layer.parts(); ++part) {
    const Slice own = layer.neurons(part);
    const lsh::NeuronIndex& index = *layer.index(part);
    const std::size_t wanted = part_config(layer.config(), layer.shape().parts[part]).lsh;
    const std::vector<TopNeurons> top = top_neurons(layer, own, in, samples, scratch);
    lsh::QueryScratch query = index.make_scratch(1, wanted);
    lsh::IdSet seen(own.count);
    for (std::size_t s = 0; s < samples; ++s) {
      std::copy_n(in.x + s * in.ldx, in.width, x.data());
      Rng rng(seed, Purpose::kProbe, s);
      seen.clear();
      found.clear();
      index.query({x.data(), in.width, 1, 1, layer.weight_rows(own.first)}, wanted, rng, query, seen, found);
      for (const std::uint32_t id : top[s]) {
        if (id == UINT32_MAX) break;  // the part has fewer neurons than a top has places
        ++all;
        hits += seen.contains(id - static_cast<std::uint32_t>(own.first)) ? 1 : 0;
      }
    }
  }
  return double(hits) / double(std::max<std::size_t>(all, 1));
}

}  // namespace slide
