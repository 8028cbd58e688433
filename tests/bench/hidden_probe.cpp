// What would a wide hidden layer be worth whose units are found at no cost? Trains a network in which each
// sample uses its k largest hidden units only (top_units.h), with loss, negatives and learning rates of a
// configuration. scripts/experiments.py runs it.
//   hidden_probe CONFIG FOLDER [--active K] [--group N] [--start random|samples] [--adagrad row|element]
//                [--balance X] KEY=VALUE ...
// Units: layer.0.size; without --active all are, as in a dense layer. With --group, units are chosen in
// groups of N neighbours; --balance prefers units that few samples use. With data.validation, evaluates on
// validation samples. Weights are of single precision, whatever train.weights says. FOLDER/metrics.jsonl gets
// what `slide train` writes after an epoch; train_seconds are processor time and leave out the search of
// units, which is find_seconds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/inference/metrics.h"
#include "engine/network/loss.h"
#include "engine/network/network.h"
#include "engine/network/optimizer.h"
#include "engine/run/run_data.h"
#include "tests/bench/top_units.h"

namespace {

using namespace slide;
using top_units::Delta, top_units::Shape, top_units::Units;

constexpr std::size_t kRanks = 5;       // predicted labels of a sample
constexpr std::size_t kTogether = 512;  // samples, and labels, that are scored at a time in evaluation

struct Options {
  std::string config, folder;
  std::size_t active = 0, group = 1;
  top_units::Start start = top_units::Start::kRandom;
  top_units::Adagrad adagrad = top_units::Adagrad::kRow;
  double balance = 0;
  std::vector<std::string> settings;
};

Shape shape_from(const Options& options, const Config& config, const DataShape& data) {
  Shape shape;
  shape.features = data.features;
  shape.labels = data.labels;
  shape.units = config.layers.front().size;
  shape.active = options.active == 0 ? shape.units : std::min(options.active, shape.units);
  shape.group = options.group;
  shape.start = options.start;
  shape.adagrad = options.adagrad;
  shape.balance = options.balance;
  shape.output_start = config.layers.back().init_scale;
  if (shape.group == 0 || shape.units % shape.group != 0 || shape.active % shape.group != 0)
    fail_input("layer.0.size and --active are no multiples of --group {}", shape.group);
  return shape;
}

// Processor time of this thread: other programs on the machine do not lengthen it.
class CpuClock {
 public:
  // Seconds since construction or the last lap.
  double lap() {
    const double now = read();
    return now - std::exchange(last_, now);
  }

 private:
  static double read() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }
  double last_ = read();
};

// The labels with the largest logits of a sample, largest first.
struct Ranking {
  std::array<float, kRanks> scores;
  std::array<std::uint32_t, kRanks> labels;
  std::size_t count = 0;

  void add(std::uint32_t label, float score) {
    if (count == kRanks && score <= scores[kRanks - 1]) return;
    std::size_t i = count < kRanks ? count++ : kRanks - 1;
    for (; i > 0 && scores[i - 1] < score; --i) {
      scores[i] = scores[i - 1];
      labels[i] = labels[i - 1];
    }
    scores[i] = score;
    labels[i] = label;
  }
};

class Run {
 public:
  Run(const Options& options, const Config& config, const Dataset& train, const Dataset& test)
      : options_(options),
        config_(config),
        train_(train),
        test_(test),
        shape_(shape_of(train)),
        network_(shape_from(options, config, shape_), train, config.train.seed),
        sampler_(config.layers.back(), shape_.labels, shape_.label_frequencies),
        optimizer_(config.optimizer),
        lanes_(config.train.block_size),
        units_(config.train.batch_size),
        log_norm_(lanes_),
        losses_(lanes_),
        used_(config.layers.front().size) {
    for (std::size_t i = 0; i < train.size(); ++i) {
      if (!train.labels(i).empty()) labelled_.push_back(static_cast<std::uint32_t>(i));
    }
    scratch_ = sampler_.make_scratch(nullptr, lanes_);
    total_ = config.train.epochs * ((labelled_.size() + batch() - 1) / batch());
  }

  void train() {
    std::filesystem::create_directories(options_.folder);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(
        std::fopen((options_.folder + "/metrics.jsonl").c_str(), "w"), std::fclose);
    if (!log) fail_run("{}: metrics.jsonl cannot be written", options_.folder);
    for (std::uint32_t epoch = 1; epoch <= config_.train.epochs; ++epoch) run_epoch(epoch, log.get());
  }

 private:
  std::size_t batch() const { return config_.train.batch_size; }

  static void write(std::FILE* log, const nlohmann::ordered_json& event) {
    std::fprintf(log, "%s\n", event.dump().c_str());
    std::fflush(log);
  }

  void run_epoch(std::uint32_t epoch, std::FILE* log) {
    std::vector<std::uint32_t> order(labelled_.size());
    shuffle_order(order, config_.train.seed, epoch);
    std::fill(used_.begin(), used_.end(), false);
    active_ = loss_ = 0;
    for (std::size_t first = 0; first < order.size(); first += batch())
      step(std::span(order).subspan(first, std::min(batch(), order.size() - first)));
    const auto samples = double(labelled_.size());
    write(log, {{"event", "epoch"},
                {"epoch", epoch},
                {"loss", loss_ / samples},
                {"train_seconds", seconds_},
                {"find_seconds", find_seconds_},
                {"active_mean", active_ / samples},
                {"units_used", double(std::ranges::count(used_, true)) / double(used_.size())}});
    if (config_.train.eval_every == 0 && epoch < config_.train.epochs) return;
    nlohmann::ordered_json event = {{"event", "eval"}, {"epoch", epoch}, {"train_seconds", seconds_}};
    event.update(evaluate().to_json());
    write(log, event);
  }

  void step(std::span<const std::uint32_t> order) {
    CpuClock clock;
    rows_.clear();
    for (const std::uint32_t i : order) rows_.push_back(train_.features(labelled_[i]));
    for (std::size_t s = 0; s < order.size(); ++s) {
      network_.find_units(rows_[s], units_[s]);
      for (const std::uint32_t u : units_[s].ids) used_[u] = true;
    }
    network_.count_units(std::span(units_).first(order.size()));
    find_seconds_ += clock.lap();
    deltas_.clear();
    for (std::size_t first = 0; first < order.size(); first += lanes_)
      pass(order, first, std::min(lanes_, order.size() - first));
    network_.update(rows_, std::span(units_).first(order.size()), deltas_,
                    static_cast<float>(optimizer_.rate_at(step_, total_)));
    ++step_;
    seconds_ += clock.lap();
  }

  // Forward, loss and gradient of the logits of one block, whose samples begin with number `first` of a
  // batch.
  void pass(std::span<const std::uint32_t> order, std::size_t first, std::size_t count) {
    labels_.clear();
    for (const std::uint32_t i : order.subspan(first, count)) labels_.push_back(train_.labels(labelled_[i]));
    ActiveQuery query{};
    query.labels = labels_;
    sampler_.select(query, nullptr, Rng(config_.train.seed, Purpose::kSampling, step_, first / lanes_),
                    scratch_, set_);
    const std::size_t active = set_.ids.size();
    active_ += double(active) * double(count);
    if (z_.size() < active * lanes_) z_ = AlignedArray<float>(active * lanes_);
    std::fill_n(z_.begin(), active * lanes_, 0.0F);
    network_.score(std::span(units_).subspan(first, count), set_.ids, lanes_, z_.data());
    for (std::size_t a = 0; a < active && !set_.correction.empty(); ++a) {
      for (std::size_t s = 0; s < count; ++s) z_[a * lanes_ + s] += set_.correction[a];
    }
    softmax_loss({&set_, active, count, lanes_}, {0, lanes_}, 1.0F, z_.data(), log_norm_.data(),
                 losses_.data());
    loss_ += std::accumulate(losses_.begin(), losses_.begin() + std::ptrdiff_t(count), 0.0);
    list_deltas(first, count);
  }

  // Gradients below the threshold become 0 or the threshold at random.
  void list_deltas(std::size_t first, std::size_t count) {
    const auto floor = static_cast<float>(config_.loss.gradient_threshold);
    Rng rng(config_.train.seed, Purpose::kDeltas, step_, first / lanes_);
    for (std::size_t a = 0; a < set_.ids.size(); ++a) {
      for (std::size_t s = 0; s < count; ++s) {
        float d = z_[a * lanes_ + s];
        if (std::fabs(d) < floor) {
          if (rng.uniform() * double(floor) >= double(std::fabs(d))) continue;
          d = std::copysign(floor, d);
        }
        if (d != 0) deltas_.push_back({set_.ids[a], static_cast<std::uint32_t>(first + s), d});
      }
    }
  }

  Metrics evaluate() {
    Metrics metrics(config_.eval.k, std::make_shared<const InversePropensities>(
                                        shape_.label_frequencies, shape_.samples, config_.eval.propensity_a,
                                        config_.eval.propensity_b));
    std::vector<Units> units(kTogether);
    std::vector<Ranking> rankings;
    std::vector<std::uint32_t> all(shape_.labels);
    std::iota(all.begin(), all.end(), 0U);
    AlignedArray<float> z(kTogether * kTogether);
    for (std::size_t first = 0; first < test_.size(); first += kTogether) {
      const std::size_t count = std::min(kTogether, test_.size() - first);
      for (std::size_t s = 0; s < count; ++s) network_.find_units(test_.features(first + s), units[s]);
      rankings.assign(count, {});
      for (std::size_t label = 0; label < all.size(); label += kTogether) {
        const auto some = std::span(all).subspan(label, std::min(kTogether, all.size() - label));
        network_.score(std::span(units).first(count), some, kTogether, z.data());
        for (std::size_t a = 0; a < some.size(); ++a) {
          for (std::size_t s = 0; s < count; ++s) rankings[s].add(some[a], z[a * kTogether + s]);
        }
      }
      for (std::size_t s = 0; s < count; ++s)
        metrics.add(std::span(rankings[s].labels).first(rankings[s].count), test_.labels(first + s));
    }
    return metrics;
  }

  const Options& options_;
  Config config_;
  const Dataset& train_;
  const Dataset& test_;
  DataShape shape_;
  top_units::Network network_;
  ActiveSampler sampler_;
  SamplerScratch scratch_;
  Optimizer optimizer_;
  std::size_t lanes_;
  std::vector<Units> units_;  // of the samples of a batch
  std::vector<SparseRow> rows_;
  std::vector<std::span<const std::uint32_t>> labels_;
  ActiveSet set_;
  AlignedArray<float> z_, log_norm_;
  std::vector<double> losses_;
  std::vector<Delta> deltas_;
  std::vector<bool> used_;  // units of any sample of the epoch
  std::vector<std::uint32_t> labelled_;
  std::uint64_t step_ = 0, total_ = 0;
  double active_ = 0, loss_ = 0, seconds_ = 0, find_seconds_ = 0;
};

void run(const Options& options) {
  const Config config = resolve_config(read_config_text(options.config), options.settings);
  if (config.loss.kind != LossKind::kSoftmax || config.layers.size() != 2 || config.layers.back().wide)
    fail_input("{}: needs loss.kind = softmax, two layers and layer.-1.wide = false", options.config);
  RunData data = read_run_data(config, 1);
  const std::optional<Dataset> held = take_validation(config, data);
  if (!held && !data.test) fail_input("data.test is not set");
  Run(options, config, data.train, held ? *held : *data.test).train();
}

}  // namespace

int main(int argc, char** argv) {
  using Starts = std::map<std::string, top_units::Start>;
  using Adagrads = std::map<std::string, top_units::Adagrad>;
  CLI::App app("Trains a network whose samples use their largest hidden units alone");
  Options options;
  app.add_option("CONFIG", options.config, "Configuration")->required();
  app.add_option("FOLDER", options.folder, "Where metrics.jsonl goes")->required();
  app.add_option("SETTINGS", options.settings, "KEY=VALUE of the configuration");
  app.add_option("--active", options.active, "Units that a sample uses; 0: all");
  app.add_option("--group", options.group, "Neighbouring units that are chosen together");
  app.add_option("--start", options.start, "Initial weights: random or samples")
      ->transform(CLI::CheckedTransformer(
          Starts{{"random", top_units::Start::kRandom}, {"samples", top_units::Start::kSamples}}));
  app.add_option("--adagrad", options.adagrad, "Squared gradients by row or by element")
      ->transform(CLI::CheckedTransformer(
          Adagrads{{"row", top_units::Adagrad::kRow}, {"element", top_units::Adagrad::kElement}}));
  app.add_option("--balance", options.balance, "How much units that few samples use are preferred");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hidden_probe: %s\n", error.what());
    return 1;
  }
}
