#include "engine/tune.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "datasets/split.h"
#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/trainer.h"

namespace slide {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kValidationShare = 0.15;
constexpr std::size_t kMostValidation = 10000;
constexpr std::uint32_t kMostDraws = 1000;  // for a trial that is new and valid

// A key of the search and its values, smallest first.
struct Dimension {
  std::string key;
  std::vector<std::string> values;
};

// The name under which a key is known here: layers counted from the input.
std::string plain_key(const std::string& text, std::size_t layers) {
  const std::string key = text.substr(0, text.find('='));
  const std::string last = "layer.-1.";
  const bool from_back = key.rfind(last, 0) == 0;
  std::string plain = from_back ? "layer." + std::to_string(layers - 1) + "." + key.substr(last.size()) : key;
  std::erase_if(plain, [](char c) { return c == ' '; });
  return plain;
}

std::vector<Dimension> search_space(const Config& start, const std::vector<std::string>& fixed) {
  std::vector<Dimension> space = {
      {"train.epochs", {"2", "3", "5", "8", "12"}},
      {"optimizer.learning_rate", {"0.02", "0.05", "0.1", "0.2"}},
      {"loss.kind", {"\"softmax\"", "\"sigmoid\""}},
      {"loss.prior", {"0.0", "0.25", "0.5", "0.75", "1.0"}},
  };
  const std::size_t layers = start.layers.size();
  const std::string out = "layer." + std::to_string(layers - 1) + ".";
  space.push_back({out + "wide", {"false", "true"}});
  space.push_back({out + "wide_rate", {"0.3", "0.7", "1.5", "3.0", "6.0"}});
  space.push_back({out + "wide_scale", {"0.5", "1.0", "3.0", "6.0"}});
  space.push_back({out + "wide_features", {"128", "1024", "8192"}});
  if (layers > 1) {
    space.push_back({"layer.0.size", {"64", "128", "256", "512"}});
    space.push_back({"layer.0.dropout", {"0.0", "0.2", "0.4"}});
  }
  if (start.layers.back().kind == LayerKind::kSampled) {
    space.push_back({out + "correction", {"false", "true"}});
    space.push_back({out + "uniform", {"128", "256", "512", "1024"}});
    if (start.layers.back().lsh > 0) space.push_back({out + "lsh", {"64", "256", "512"}});
  }
  std::set<std::string> kept;
  for (const std::string& text : fixed) kept.insert(plain_key(text, layers));
  std::erase_if(space, [&](const Dimension& d) { return kept.contains(d.key); });
  return space;
}

// `base` with the values of one or two keys replaced.
std::vector<std::string> mutate(const std::vector<std::string>& base, const std::vector<Dimension>& space,
                                Rng& rng) {
  std::vector<std::string> changes = base;
  const std::uint32_t count = 1 + rng.below(2);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Dimension& d = space[rng.below(static_cast<std::uint32_t>(space.size()))];
    const std::string value = d.values[rng.below(static_cast<std::uint32_t>(d.values.size()))];
    std::erase_if(changes, [&](const std::string& c) { return c.rfind(d.key + "=", 0) == 0; });
    changes.push_back(d.key + "=" + value);
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

class Search {
 public:
  Search(const Config& start, const Dataset& data, const TuneOptions& options)
      : options_(options),
        text_(to_toml(start)),
        seed_(start.train.seed),
        space_(search_space(start, options.fixed)),
        split_(split_dataset(data, kValidationShare, kMostValidation, seed_)),
        began_(Clock::now()) {
    if (space_.empty()) fail_input("every key that the search may change is fixed by --set");
  }

  TuneResult run(const std::function<void(const Trial&)>& observe) {
    TuneResult result;
    result.train_samples = split_.train.size();
    result.validation_samples = split_.validation.size();
    while (result.trials < options_.trials && seconds() < options_.seconds) {
      Trial trial;
      trial.number = result.trials + 1;
      if (trial.number > 1 && !propose(result.best, trial)) break;
      if (!train(trial)) break;
      ++result.trials;
      trial.is_best = trial.number == 1 || trial.score > result.best.score;
      if (trial.is_best) result.best = trial;
      if (observe) observe(trial);
    }
    if (result.trials == 0) {
      fail_input("{:.1f} minutes were too short for a single training run; give more, or fewer train.epochs",
                 options_.seconds / 60.0);
    }
    result.config = config_of(result.best.changes);
    return result;
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  Config config_of(const std::vector<std::string>& changes) const {
    return parse_config(text_, "the configuration being tuned", changes);
  }

  // Fills in changes whose configuration is valid and was not tried before; false when none is found.
  bool propose(const Trial& best, Trial& trial) {
    Rng rng(seed_, Purpose::kTune, trial.number);
    for (std::uint32_t i = 0; i < kMostDraws; ++i) {
      trial.changes = mutate(best.changes, space_, rng);
      try {
        if (tried_.insert(to_toml(config_of(trial.changes))).second) return true;
      } catch (const InputError&) {  // keys that do not go together
      }
    }
    return false;
  }

  // False when the time is up before the end.
  bool train(Trial& trial) {
    struct TimeIsUp {};
    Config config = config_of(trial.changes);
    tried_.insert(to_toml(config));
    config.train.eval_every = 0;
    TrainObserver observer;
    observer.epoch = [&](const EpochReport& report) {
      trial.train_seconds = report.train_seconds;
      if (report.epoch < config.train.epochs && seconds() > options_.seconds) throw TimeIsUp{};
    };
    observer.eval = [&](const EvalReport& report) {
      for (const std::uint32_t k : config.eval.k) trial.score += report.metrics.precision(k);
      trial.score /= static_cast<double>(config.eval.k.size());
    };
    try {
      Trainer(config, split_.train, &split_.validation).run(observer);
    } catch (const TimeIsUp&) {
      return false;
    } catch (const Error&) {
      if (trial.number == 1) throw;
      trial.score = 0.0;  // diverged
    }
    return true;
  }

  const TuneOptions& options_;
  std::string text_;
  std::uint64_t seed_;
  std::vector<Dimension> space_;
  Split split_;
  Clock::time_point began_;
  std::set<std::string> tried_;
};

}  // namespace

TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial) {
  return Search(start, data, options).run(trial);
}

}  // namespace slide
