// Trains XMC text with the core alone: rows, network and loop, without any guest.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/text_parser.h"
#include "engine/base/parallel.h"
#include "engine/config/config.h"
#include "engine/loop/fresh_network.h"
#include "engine/loop/training_loop.h"

namespace slide::core {

// The default configuration without guests, with `overrides` applied to it.
inline Config core_config(std::vector<std::string> overrides) {
  std::vector<std::string> all = {"layer.-1.wide=false", "data.crosses=0", "neighbours.share=0"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return parse_config("", "the core's defaults", all);
}

// Throws InputError that names `origin` and the line, for malformed text.
inline Dataset read_xmc(std::string_view text, const std::string& origin, const Dataset* train = nullptr) {
  ReadOptions options;
  options.format = DataFormat::kXmc;
  if (train != nullptr) options.feature_limit = train->feature_count();
  return parse_text(text, origin, options, kDefaultChunkBytes);
}

// Trains a network on `rows`; `observer` as TrainingLoop::run() has it.
inline Network train(const Config& config, const Dataset& rows, const LoopObserver& observer) {
  const int threads = resolve_threads(static_cast<int>(config.train.threads));
  LoopStart start{fresh_network(config, rows, threads), std::make_unique<RowSource>(rows, "training data")};
  start.threads = threads;
  TrainingLoop loop(std::move(start), rows);
  loop.run(observer, {});
  return std::move(loop).release_network();
}

// Share of the samples whose label of largest logit is one of theirs, by all neurons.
inline double precision_at_1(const Network& network, const Dataset& rows) {
  Block block = network.make_inference_block(16, rows.feature_entries());
  ThreadScratch scratch = network.make_inference_scratch(16, rows.feature_entries());
  AlignedArray<float> z(network.labels() * 16);
  std::size_t right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    block.clear_samples();
    network.add_sample(rows, i, block);
    const BlockInput hidden = network.infer_hidden(block, scratch);
    const Layer& output = network.output();
    output.score({&hidden, 1}, output.all_neurons(), scratch.layers.back(), z.data());
    std::size_t best = 0;
    for (std::size_t label = 1; label < output.size(); ++label) {
      if (z[label * 16] > z[best * 16]) best = label;
    }
    const auto labels = rows.labels(i);
    right += std::ranges::find(labels, static_cast<std::uint32_t>(best)) != labels.end() ? 1 : 0;
  }
  return double(right) / double(rows.size());
}

}  // namespace slide::core
