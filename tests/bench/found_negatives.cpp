// What would negatives be worth that are found, if finding them cost nothing? Trains a network as `slide
// train` does, but each block of samples also gets negatives from a source that hash tables are measured
// against. scripts/experiments.py runs it.
//   found_negatives CONFIG FOLDER [--found SOURCE] [--count N] [--block N] [--from SHARE] [--until SHARE]
//                   [--rows N] [--test-rows N] KEY=VALUE ...
// Sources: exact (all neurons are scored; of each sample the best, in turn, until there are enough), search
// (the same among what a search index finds that is built anew when tables are rehashed), exact-labels (the
// neurons whose weights have the largest products with those of the block's labels), table-labels (hash
// tables are asked with the weights of the block's labels), none. N of them for each block of N samples, in
// the steps between two shares of the run; of the files the first rows. Tables that are queried with
// samples are `lsh` of the layer. What is found enters a block as the labels of one more sample, which has
// no features and weighs 0: so it is active and stands for itself. That sample is there without a source,
// too. FOLDER/metrics.jsonl gets what `slide train` writes after an epoch, but train_seconds leave out the
// search, which is find_seconds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "datasets/join_rows.h"
#include "datasets/rows/shuffle.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/phases.h"
#include "engine/inference/inference.h"
#include "engine/loop/schedule.h"
#include "engine/network/network_training.h"
#include "engine/run/run_data.h"
#include "engine/wide/network_start.h"
#include "tests/bench/negative_finder.h"

namespace {

using namespace slide;
using found::Finder, found::Ids, found::Samples;

struct Options {
  std::string config, folder;
  found::Wanted wanted;
  std::size_t rows = 0, test_rows = 0;
  double from = 0, until = 1;
  std::vector<std::string> settings;
};

// A data set of the same rows, whose blocks may hold one more with `labels` labels: sizes of memory.
Dataset with_room(const Dataset& train, std::size_t labels) {
  DatasetArrays arrays;
  arrays.feature_offsets.push_back(0);
  arrays.label_offsets.push_back(labels);
  for (std::size_t i = 0; i < labels; ++i) arrays.label_ids.push_back(static_cast<std::uint32_t>(i));
  std::vector<Dataset> parts{train, Dataset(std::move(arrays), train.feature_count(), train.label_count())};
  return joined_rows(std::move(parts), 1);
}

class Run {
 public:
  Run(const Options& options, const Config& config, const Dataset& train, const Dataset& test)
      : options_(options),
        config_(config),
        train_(train),
        test_(test),
        shape_(shape_of(train)),
        room_(with_room(train, std::min<std::size_t>(options.wanted.count, shape_.labels))),
        network_(start_network(config, train, shape_, 1)),
        blocks_(std::max<std::size_t>(
            1, (config.train.batch_size + options.wanted.block / 2) / options.wanted.block)),
        training_(network_, room_, {blocks_ * config.train.block_size, 1, 1}),
        optimizer_(config.optimizer),
        finder_(network_, options.wanted, bounds_of(train, found::kLanes).feature_entries),
        found_(blocks_),
        samples_(blocks_) {
    for (std::size_t i = 0; i < train.size(); ++i) {
      if (!train.labels(i).empty()) labelled_.push_back(static_cast<std::uint32_t>(i));
    }
    const HashConfig& hash = network_.output().config().hash;
    rehash_ = follow_ = IntervalSchedule(hash.rehash_steps, hash.interval_growth);
    total_ = config.train.epochs * ((labelled_.size() + batch() - 1) / batch());
    propensities_ = std::make_shared<const InversePropensities>(
        shape_.label_frequencies, shape_.samples, config.eval.propensity_a, config.eval.propensity_b);
  }

  void train() {
    std::filesystem::create_directories(options_.folder);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(
        std::fopen((options_.folder + "/metrics.jsonl").c_str(), "w"), std::fclose);
    if (!log) fail_run("{}: metrics.jsonl cannot be written", options_.folder);
    with_team(1, [&] {
      for (std::uint32_t epoch = 1; epoch <= config_.train.epochs; ++epoch) run_epoch(epoch, log.get());
    });
  }

 private:
  std::size_t batch() const { return blocks_ * options_.wanted.block; }

  void run_epoch(std::uint32_t epoch, std::FILE* log) {
    Ids permutation(labelled_.size());
    shuffle_order(permutation, config_.train.seed, epoch);
    active_ = loss_ = 0;
    for (std::size_t first = 0; first < permutation.size(); first += batch()) {
      const auto some = std::span(permutation).subspan(first, std::min(batch(), permutation.size() - first));
      step(some);
    }
    const auto samples = double(labelled_.size());
    write(log, {{"event", "epoch"},
                {"epoch", epoch},
                {"loss", loss_ / samples},
                {"train_seconds", seconds_},
                {"find_seconds", find_seconds_},
                {"active_mean", active_ / samples}});
    if (config_.train.eval_every == 0 && epoch < config_.train.epochs) return;
    InferenceOptions inference;
    inference.threads = 1;
    const Metrics metrics =
        evaluate(TrainedNetwork(network_, nullptr), test_, inference, config_.eval.k, propensities_);
    nlohmann::ordered_json event = {{"event", "eval"}, {"epoch", epoch}, {"train_seconds", seconds_}};
    event.update(metrics.to_json());
    write(log, event);
  }

  static void write(std::FILE* log, const nlohmann::ordered_json& event) {
    std::fprintf(log, "%s\n", event.dump().c_str());
    std::fflush(log);
  }

  void fill(std::span<const std::uint32_t> order) {
    used_ = 0;
    for (std::size_t first = 0; first < order.size(); first += options_.wanted.block) {
      Samples& samples = samples_[used_++];
      samples.rows.clear();
      samples.labels.clear();
      for (const std::uint32_t i :
           order.subspan(first, std::min(options_.wanted.block, order.size() - first))) {
        const std::size_t sample = labelled_[i];
        samples.rows.push_back(train_.features(sample));
        samples.labels.insert(samples.labels.end(), train_.labels(sample).begin(),
                              train_.labels(sample).end());
      }
      std::sort(samples.labels.begin(), samples.labels.end());
      samples.labels.erase(std::unique(samples.labels.begin(), samples.labels.end()), samples.labels.end());
    }
  }

  void find() {
    for (Ids& found : found_) found.clear();
    const auto now = double(step_) / double(total_);
    if (options_.wanted.source == "none" || now < options_.from || now >= options_.until) return;
    if (!std::exchange(followed_, true) || follow_.due(step_)) finder_.follow_weights();
    finder_.find(std::span(samples_).first(used_), step_, found_);
  }

  void enter(std::span<const std::uint32_t> order) {
    for (std::size_t b = 0; b < used_; ++b) {
      Block& block = training_.block(b);
      block.clear_samples();
      const std::size_t first = b * options_.wanted.block;
      for (const std::uint32_t i :
           order.subspan(first, std::min(options_.wanted.block, order.size() - first))) {
        network_.add_crossed(train_.features(labelled_[i]), block);
        block.labels.push_back(train_.labels(labelled_[i]));
        block.weights.push_back(1.0F);
      }
      network_.add_crossed({}, block);
      block.labels.push_back(found_[b]);
      block.weights.push_back(0.0F);
    }
  }

  void step(std::span<const std::uint32_t> order) {
    LapClock clock;
    fill(order);
    find();
    find_seconds_ += clock.lap();
    optimizer_.set_rate(optimizer_.rate_at(step_, total_));
    optimizer_.set_noise(config_.train.seed, step_);
    enter(order);
    PhaseSeconds phases;
    training_.pass(std::as_const(network_), used_, {step_, 1.0F / static_cast<float>(order.size()), {}},
                   phases);
    training_.update(network_, optimizer_, 1);
    const StepSums sums = training_.sums();
    ++step_;
    if (network_.output().index() != nullptr && rehash_.due(step_))
      training_.rehash(network_, network_.layers().size() - 1, 1);
    loss_ += sums.loss;
    for (std::size_t b = 0; b < used_; ++b)
      active_ += double(training_.block(b).layers.back().count) * double(samples_[b].rows.size());
    seconds_ += clock.lap();
  }

  const Options& options_;
  Config config_;
  const Dataset& train_;
  const Dataset& test_;
  DataShape shape_;
  Dataset room_;
  Network network_;
  std::size_t blocks_;  // of a step
  NetworkTraining training_;
  Optimizer optimizer_;
  Finder finder_;
  std::vector<Ids> found_;
  std::vector<Samples> samples_;
  std::size_t used_ = 0;  // blocks of this step
  Ids labelled_;
  IntervalSchedule rehash_{0, 1.0}, follow_{0, 1.0};  // tables of the layer, and what the finder has
  bool followed_ = false;
  std::uint64_t step_ = 0, total_ = 0;
  double active_ = 0, loss_ = 0, seconds_ = 0, find_seconds_ = 0;
  Metrics::Propensities propensities_;
};

Dataset first_rows(const Dataset& data, std::size_t rows) {
  return rows == 0 ? data : data.slice(0, std::min(rows, data.size()));
}

void run(Options options) {
  options.settings.push_back("train.block_size=" + std::to_string(found::lanes_of(options.wanted.block + 1)));
  const Config config = resolve_config(read_config_text(options.config), options.settings);
  const RunData data = read_run_data(config, 1);
  if (!data.test) fail_input("data.test is not set");
  const Dataset train = first_rows(data.train, options.rows),
                test = first_rows(*data.test, options.test_rows);
  Run(options, config, train, test).train();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a network with negatives of a source that costs nothing");
  Options options;
  found::Wanted& wanted = options.wanted;
  app.add_option("CONFIG", options.config, "Configuration")->required();
  app.add_option("FOLDER", options.folder, "Where metrics.jsonl goes")->required();
  app.add_option("SETTINGS", options.settings, "KEY=VALUE of the configuration");
  app.add_option("--found", wanted.source, "Source of negatives")
      ->check(CLI::IsMember({"none", "exact", "search", "exact-labels", "table-labels"}));
  app.add_option("--count", wanted.count, "Negatives of a block");
  app.add_option("--block", wanted.block, "Samples of a block")->check(CLI::PositiveNumber);
  app.add_option("--from", options.from, "Share of the run from which there are some");
  app.add_option("--until", options.until, "Share of the run until which there are some");
  app.add_option("--rows", options.rows, "First training samples; 0: all");
  app.add_option("--test-rows", options.test_rows, "First test samples; 0: all");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "found_negatives: %s\n", error.what());
    return 1;
  }
}
