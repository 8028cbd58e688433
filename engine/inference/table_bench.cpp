#include "engine/inference/table_bench.h"

#include <algorithm>
#include <chrono>

#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/inference/prediction_batch.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {
constexpr std::size_t kBenchLanes = 16;    // samples of a block of the hidden layers
constexpr std::size_t kRehashedPart = 16;  // rows / kRehashedPart rows are rehashed

using Clock = std::chrono::steady_clock;

// The median, because other programs on the machine disturb a mean.
double median(std::vector<double>& seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}
}  // namespace

// Computes the samples' hidden activations, and their exact top neurons to measure the recall by.
TableBench::TableBench(const Network& network, const Dataset& data, std::size_t samples)
    : layer_(network.output()) {
  const std::size_t count = std::min(samples, data.size());
  if (count == 0) fail_input("tables are measured on samples: there are none");
  const std::size_t entries = max_entries(network, data, kBenchLanes);
  Block block = network.make_inference_block(kBenchLanes, entries);
  ThreadScratch scratch = network.make_inference_scratch(kBenchLanes, entries);
  for (std::size_t first = 0; first < count; first += kBenchLanes) {
    block.clear_samples();
    for (std::size_t i = first; i < std::min(count, first + kBenchLanes); ++i)
      network.add_sample(data, i, block);
    const BlockInput in = network.infer_hidden(block, scratch);
    if (in.partial)
      fail_input("tables are measured behind a dense layer; this network's output layer has none");
    width_ = in.width;
    Hidden& hidden = hidden_.emplace_back(Hidden{AlignedArray<float>(in.width * in.samples), in.samples});
    for (std::size_t s = 0; s < in.samples; ++s)
      std::copy_n(in.x + s * in.ldx, in.width, hidden.x.data() + s * in.width);
    for (const TopNeurons& top :
         top_neurons(layer_, {0, layer_.size()}, in, in.samples, scratch.layers.back()))
      tops_.push_back(top);
  }
}

// Times of building, queries and rehashing (of each kRehashedPart-th neuron), load and recall of one shape.
TableFigures TableBench::measure(const HashConfig& config, std::size_t wanted, std::size_t block) const {
  TableFigures figures;
  auto start = Clock::now();
  lsh::NeuronIndex index(config, layer_.size(), layer_.inputs(), 1);
  index.rebuild(layer_.weight_rows(), 1, 1);
  figures.build_seconds = seconds_since(start);
  const lsh::Occupancy filled = index.occupancy();
  figures.config = index.config();
  figures.bytes = double(index.bytes());
  figures.largest = double(filled.largest_bucket) / double(layer_.size());
  figures.in_full = double(filled.filed_in_full) / double(std::max<std::size_t>(filled.filed, 1));
  if (block == 1 && figures.config.candidates == CandidatePolicy::kSearch) {
    find(index, wanted, figures);
  } else {
    query(index, wanted, block, figures);
  }
  std::vector<std::uint32_t> some;
  for (std::uint32_t id = 0; id < layer_.size(); id += kRehashedPart) some.push_back(id);
  start = Clock::now();
  index.rehash(layer_.weight_rows(), some, 1);
  figures.rehash_seconds = seconds_since(start) / double(some.size());
  return figures;
}

// Adds to `hits`, for samples [first, first + count), the number of their top neurons and how many of them
// are in `seen`.
void TableBench::count_hits(std::size_t first, std::size_t count, const lsh::IdSet& seen, Hits& hits) const {
  for (std::size_t s = first; s < first + count; ++s) {
    for (const std::uint32_t id : tops_[s]) {
      if (id == UINT32_MAX) break;
      ++hits.all;
      hits.found += seen.contains(id) ? 1 : 0;
    }
  }
}

void TableBench::pack(std::size_t first, std::size_t count, std::size_t lanes, float* xt) const {
  for (std::size_t s = 0; s < count; ++s) {
    const float* x = hidden_[(first + s) / kBenchLanes].x.data() + (first + s) % kBenchLanes * width_;
    for (std::size_t k = 0; k < width_; ++k) xt[k * lanes + s] = x[k];
  }
}

// Queries as at inference: samples are projected together; half of an answer is the longest rows.
void TableBench::find(const lsh::NeuronIndex& index, std::size_t wanted, TableFigures& figures) const {
  AlignedArray<float> xt(width_ * kBenchLanes);
  lsh::QueryScratch scratch = index.make_scratch(kBenchLanes, wanted);
  lsh::IdSet seen(layer_.size());
  std::vector<std::uint32_t> out;
  out.reserve(std::min(wanted, layer_.size()));
  const auto longest = index.longest().first(std::min(index.longest().size(), wanted / 2));
  Hits hits;
  std::vector<double> seconds;
  std::size_t found = 0;
  for (std::size_t first = 0; first < samples(); first += kBenchLanes) {
    const std::size_t count = std::min(kBenchLanes, samples() - first);
    pack(first, count, kBenchLanes, xt.data());
    auto start = Clock::now();
    index.project({xt.data(), width_, kBenchLanes, count}, scratch);
    const double shared = seconds_since(start) / double(count);
    for (std::size_t s = 0; s < count; ++s) {
      start = Clock::now();
      index.find(s, kBenchLanes, wanted - longest.size(), scratch, out, longest.size());
      seconds.push_back(shared + seconds_since(start));
      seen.clear();
      for (const std::uint32_t id : longest) seen.insert(id);
      for (const std::uint32_t id : out) seen.insert(id);
      found += longest.size() + out.size();
      count_hits(first + s, 1, seen, hits);
    }
  }
  figures.recall = double(hits.found) / double(std::max<std::size_t>(hits.all, 1));
  figures.found = double(found) / double(samples());
  figures.query_seconds = median(seconds);
}

// Queries the tables block by block, as training does, and adds recall, answer size and the median time.
void TableBench::query(const lsh::NeuronIndex& index, std::size_t wanted, std::size_t block,
                       TableFigures& figures) const {
  const std::size_t lanes = block == 1 ? 1 : round_up(block, kernels::kLaneMultiple);
  AlignedArray<float> xt(width_ * lanes);
  lsh::QueryScratch scratch = index.make_scratch(lanes, wanted);
  lsh::IdSet seen(layer_.size());
  std::vector<std::uint32_t> out;
  out.reserve(std::min(wanted, layer_.size()));
  Hits hits;
  std::vector<double> seconds;
  std::size_t found = 0, queries = 0;
  for (std::size_t first = 0; first < samples(); first += block, ++queries) {
    const std::size_t count = std::min(block, samples() - first);
    pack(first, count, lanes, xt.data());
    Rng rng(1, Purpose::kProbe, first);
    seen.clear();
    out.clear();
    const auto start = Clock::now();
    index.query({xt.data(), width_, lanes, count, layer_.weight_rows()}, wanted, rng, scratch, seen, out);
    seconds.push_back(seconds_since(start));
    found += out.size();
    count_hits(first, count, seen, hits);
  }
  figures.recall = double(hits.found) / double(std::max<std::size_t>(hits.all, 1));
  figures.found = double(found) / double(queries);
  figures.query_seconds = median(seconds);
}

}  // namespace slide
