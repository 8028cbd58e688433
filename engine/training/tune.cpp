#include "engine/training/tune.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/training/proposals.h"
#include "engine/training/search_space.h"
#include "engine/training/trial_runner.h"

namespace slide {

namespace {

constexpr std::uint32_t kMaxDraws = 3000;  // for a trial that is new and valid
constexpr double kMaxChance = 0.05;        // p-value, two-sided
constexpr std::string_view kShare = "neighbours.share", kPower = "neighbours.power",
                           kCooccurrence = "neighbours.cooccurrence";

// Whether none of the values lies between a and b.
bool are_adjacent(const std::vector<double>& values, double a, double b) {
  return std::none_of(values.begin(), values.end(),
                      [&](double value) { return value > std::min(a, b) && value < std::max(a, b); });
}

// The given keys, and those that have no effect on dense features alone.
std::vector<std::string> fixed_keys(std::vector<std::string> given, const Dataset& data) {
  if (data.dense_count() > 0 && data.sparse_count() == 0)
    given.insert(given.end(), {"data.idf_power=0", "data.crosses=0", "layer.-1.wide=false"});
  return given;
}

class Search {
 public:
  Search(const Config& start, const Dataset& data, const TuneOptions& options)
      : options_(options),
        start_(start),
        text_(to_toml(start)),
        seed_(start.train.seed),
        space_(start, fixed_keys(options.fixed, data)),
        moves_(space_.sweep()),
        proposals_(proposals_for(traits_of(data))),
        runner_(start, data, options) {}

  // Runs trials until time, number of trials or new configurations run out: the start, then proposals, the
  // sweep, random changes.
  TuneResult run(const std::function<void(const Trial&)>& observe) {
    observe_ = observe;
    Trial trial;
    while (trials_ < options_.trials && !runner_.ended() &&
           runner_.of_first(runner_.seconds() < options_.seconds)) {
      trial = Trial{};
      trial.number = trials_ + 1;
      trial.from = base_.number;
      if (trials_ > 0 && !propose(trial) && !sweep(trial) && !change_at_random(trial)) break;
      if (!train(trial)) break;
    }
    require_result();
    TuneResult result;
    result.trials = trials_;
    result.folds = runner_.folds();
    result.train_samples = runner_.train_samples();
    result.validation_samples = runner_.validation_samples();
    result.validation_by = runner_.validation_by();
    result.decision_samples = runner_.decision().samples();
    result.leader = base_.number;
    result.gain = gain_;
    result.best = base_.taken ? base_ : first_;
    result.start = start_;
    result.config = config_of(result.best.changes);
    return result;
  }

 private:
  Config config_of(const std::vector<std::string>& changes) const {
    return parse_config(text_, "the configuration being tuned", changes);
  }

  // nullopt where the changes break a rule of the configuration.
  std::optional<Config> valid_config(const std::vector<std::string>& changes) const {
    try {
      return config_of(changes);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  // Sets trial.changes to `base` with the changes. Returns whether this is a valid configuration that was not
  // tried before and in which each change has an effect.
  bool set_changes(std::vector<std::string> base, const std::vector<std::string>& changes, Trial& trial) {
    for (const std::string& change : changes) base = with_change(std::move(base), change, start_);
    trial.changes = std::move(base);
    const std::optional<Config> config = valid_config(trial.changes);
    if (!config) return false;
    for (const std::string& change : changes) {
      if (!space_.has_effect(*config, change)) return false;
    }
    return tried_.insert(to_toml(*config)).second;
  }

  // Whether a trained trial also scores other mixes, which then need no trials of their own. Not with a
  // network in parts: runs of one and of several processes must have the same trials.
  bool scores_mixes() const { return start_.train.shards == 1; }
  bool is_mix_key(const SearchKey& key) const {
    return key.key == kShare || key.key == kPower || key.key == kCooccurrence;
  }

  // Fills in the next of the proposals; false when there is none, or while all is too slow.
  bool propose(Trial& trial) {
    trial.stage = TrialStage::kProposal;
    while (base_.within && next_proposal_ < proposals_.size()) {
      const std::vector<std::string> changes = effective(proposals_[next_proposal_++].changes);
      if (!changes.empty() && set_changes({}, changes, trial)) return true;
    }
    return false;
  }

  // Returns the changes of the start that the search may make and that have an effect together with each
  // other; none where the configuration would be invalid.
  std::vector<std::string> effective(const std::vector<std::string>& wanted) const {
    std::vector<std::string> changes;
    for (const std::string& change : wanted) {
      if (const auto known = space_.known(change, start_)) changes.push_back(*known);
    }
    for (;;) {
      const std::optional<Config> config = valid_config(changes);
      if (!config) return {};
      const auto idle = [&](const std::string& change) { return !space_.has_effect(*config, change); };
      if (std::erase_if(changes, idle) == 0) return changes;
    }
  }

  // Fills in the next single change; false at the end of the sweep.
  bool sweep(Trial& trial) {
    trial.stage = TrialStage::kSweep;
    for (; next_move_ < moves_.size(); ++next_move_) {
      const Move move = moves_[next_move_];
      const bool other_way_helped = settled_.contains({move.key, !move.up});
      const bool scored_as_mix = scores_mixes() && is_mix_key(space_.keys()[move.key]);
      if (other_way_helped || scored_as_mix) continue;
      const std::optional<std::string> change = space_.step(config_of(base_.changes), move);
      if (change && set_changes(base_.changes, {*change}, trial)) return true;
    }
    return false;
  }

  // Fills in the best so far with random values of one or two keys; false when nothing new is found.
  bool change_at_random(Trial& trial) {
    trial.stage = TrialStage::kRandom;
    Rng rng(seed_, Purpose::kTune, trial.number);
    for (std::uint32_t i = 0; i < kMaxDraws; ++i) {
      std::vector<std::string> changes(1 + rng.below(2));
      bool has_mix_key = false;
      for (std::string& change : changes) {
        const SearchKey& key = space_.keys()[rng.below(static_cast<std::uint32_t>(space_.keys().size()))];
        change = key.key + "=" + key.values[rng.below(static_cast<std::uint32_t>(key.values.size()))];
        has_mix_key = has_mix_key || is_mix_key(key);
      }
      if (!(has_mix_key && scores_mixes()) && set_changes(base_.changes, changes, trial)) return true;
    }
    return false;
  }

  // `own`, and the other values that the search may give a key of KnnMix.
  std::vector<double> values_of(std::string_view name, double own) const {
    std::vector<double> values = {own};
    for (const SearchKey& key : space_.keys()) {
      for (const std::string& value : key.key == name ? key.values : std::vector<std::string>{}) {
        if (std::stod(value) != own) values.push_back(std::stod(value));
      }
    }
    return values;
  }

  // Mixes to score besides the mix of `config`. First scored trial: every share with every power. Later
  // trials, which start from the best of these: other shares, other powers, and both one step away. All
  // trials: other values of label co-occurrence, with the share and power of `config`.
  std::vector<KnnMix> other_mixes(const Trial& trial, const Config& config) const {
    const KnnMix own{config.neighbours.share, config.neighbours.power, config.neighbours.cooccurrence};
    const auto shares = values_of(kShare, own.share), powers = values_of(kPower, own.power);
    std::vector<KnnMix> mixes;
    for (const double share : shares) {
      for (const double power : powers) {
        const KnnMix other{share, power, own.cooccurrence};
        const bool one_change = share == own.share || power == own.power;
        const bool one_step =
            are_adjacent(shares, share, own.share) && are_adjacent(powers, power, own.power);
        const bool has_effect = share > 0 || (power == own.power && own.share > 0);
        if (other == own || !has_effect || (has_mix_scores_ && !one_change && !one_step)) continue;
        if (valid_config(with_mix(trial.changes, other))) mixes.push_back(other);
      }
    }
    for (const double cooccurrence : values_of(kCooccurrence, own.cooccurrence)) {
      const KnnMix other{own.share, own.power, cooccurrence};
      const bool has_effect = own.share > 0 && cooccurrence != own.cooccurrence;
      if (has_effect && valid_config(with_mix(trial.changes, other))) mixes.push_back(other);
    }
    return mixes;
  }

  static void clear_score(Trial& trial) {
    trial.score = 0.0;
    trial.precision.clear();
  }

  // Trains a trial, and records it and the best of its mixes. Returns false when the search is over.
  bool train(Trial& trial) {
    TrialRun run;
    run.config = config_of(trial.changes);
    tried_.insert(to_toml(run.config));
    if (scores_mixes() && trials_ + 1 < options_.trials) run.mixes = other_mixes(trial, run.config);
    run.config.train.eval_every = 0;
    run.config.eval.rare = 0;  // trials are scored for P@k
    run.baseline = trials_ > 0 && base_.within ? &base_ : nullptr;
    try {
      if (!runner_.run(run, trial)) return false;
    } catch (const std::bad_alloc&) {
      if (trial.number == 1 || options_.cluster != nullptr) throw;  // other processes would wait for this one
      clear_score(trial);
      trial.too_large = true;
    } catch (const Error&) {
      if (trial.number == 1) throw;
      clear_score(trial);
      trial.diverged = true;
    }
    const Trial before = base_;
    bool better = record(trial);
    if (trial.is_scored()) {
      has_mix_scores_ = true;
      better = take_best_mix(run, trial) || better;
    }
    advance(trial, before, better);
    return true;
  }

  // Records the best mix that was scored with `trained` as a trial of its own, if it is better than
  // `trained`. Returns whether the search continues from it.
  bool take_best_mix(const TrialRun& run, const Trial& trained) {
    Trial best = trained;
    for (std::size_t m = 0; m < run.mixes.size(); ++m) {
      const std::vector<double>& precision = run.precision[m];
      const double sum = std::accumulate(precision.begin(), precision.end(), 0.0);
      if (precision.empty() || sum / double(precision.size()) <= best.score) continue;
      best.score = sum / double(precision.size());
      best.precision = precision;
      best.decision = run.decision[m];
      best.changes = with_mix(trained.changes, run.mixes[m]);
    }
    if (best.score <= trained.score || trials_ >= options_.trials) return false;
    best.number = trials_ + 1;
    best.stage = TrialStage::kKnnMix;
    best.from = trained.number;
    best.gain = best.score - trained.score;
    best.train_seconds = 0.0;
    // The mix was scored on all rungs together: its gain stands for that on each rung.
    for (double& rung : best.rungs) rung += best.gain;
    tried_.insert(to_toml(config_of(best.changes)));
    return record(best);
  }

  // `changes` with the keys of `mix` that the search may change.
  std::vector<std::string> with_mix(std::vector<std::string> changes, const KnnMix& mix) const {
    for (const SearchKey& key : space_.keys()) {
      if (!is_mix_key(key)) continue;
      const double wanted = key.key == kShare ? mix.share : key.key == kPower ? mix.power : mix.cooccurrence;
      for (const std::string& value : key.values) {
        if (std::stod(value) == wanted)
          changes = with_change(std::move(changes), key.key + "=" + value, start_);
      }
    }
    return changes;
  }

  // Whether the search continues from this trial: from the better one, or, while no trial is within the time,
  // from the shorter one.
  bool is_better(const Trial& trial) const {
    if (trial.number == 1) return true;
    if (base_.within) return trial.within && trial.score > base_.score;
    return !trial.diverged && !trial.too_large && trial.full_seconds < base_.full_seconds;
  }

  // Whether a trial is significantly better than trial 1; true of trial 1 itself, and where that has no
  // score.
  bool beats_first(const Trial& trial) {
    gain_.reset();
    if (trial.number == 1 || !first_.is_scored()) return true;
    gain_ = runner_.decision().compare(trial.decision, first_.decision,
                                       {.seed = seed_, .threads = static_cast<int>(start_.train.threads)});
    return gain_->value > 0.0 && gain_->p <= kMaxChance;
  }

  // Records the result of a trial. Returns whether the search continues from it.
  bool record(Trial& trial) {
    ++trials_;
    trial.ended = runner_.of_first(runner_.seconds());
    const bool better = is_better(trial);
    trial.is_best = better && trial.within;
    trial.taken = trial.is_best && beats_first(trial);
    if (!better && trial.number > 1) trial.decision.clear();
    if (trial.number == 1) first_ = trial;
    if (better) base_ = trial;
    if (observe_) observe_(trial);
    return better;
  }

  // Moves the sweep on after a trial. `before`: the best trial before it. `better`: this trial, or one of
  // its mixes, replaced that.
  void advance(const Trial& trial, const Trial& before, bool better) {
    if (trial.number == 1 && !trial.within) {
      moves_ = space_.savings();
      const auto others = space_.sweep();
      moves_.insert(moves_.end(), others.begin(), others.end());
    } else if (!before.within && base_.within) {  // short enough at last
      moves_ = space_.sweep();
      next_move_ = 0;
      settled_.clear();
    } else if (trial.stage == TrialStage::kSweep && next_move_ < moves_.size()) {
      if (better || trial.score == before.score)
        settled_.insert({moves_[next_move_].key, moves_[next_move_].up});
      if (!better) ++next_move_;
    }
  }

  // Throws InputError where no trial gives a result.
  void require_result() const {
    if (trials_ == 0 && runner_.ended()) fail_input("the search was ended before its first trial was done");
    if (trials_ == 0) {
      const bool short_of_one = options_.seconds < 60.0;
      fail_input("{:.3g} {} were too short for a single training run; give more, or fewer train.epochs",
                 short_of_one ? options_.seconds : options_.seconds / 60.0,
                 short_of_one ? "seconds" : "minutes");
    }
    if (base_.within) return;
    fail_input(
        "none of {} trials would train on all the data within {} s, the shortest in about {:.3g} s; give "
        "more {}, or a smaller layer.0.size",
        trials_, options_.train_seconds, base_.full_seconds, options_.train_seconds_option);
  }

  const TuneOptions& options_;
  const Config& start_;
  std::string text_;
  std::uint64_t seed_;
  SearchSpace space_;
  std::vector<Move> moves_;    // of the sweep
  std::size_t next_move_ = 0;  // in moves_
  // Keys and directions that helped, or did nothing at all: the other direction is not tried.
  std::set<std::pair<std::size_t, bool>> settled_;
  std::vector<Proposal> proposals_;
  std::size_t next_proposal_ = 0;
  TrialRunner runner_;
  std::function<void(const Trial&)> observe_;
  Trial first_;
  std::optional<Difference> gain_;  // of base_ over first_
  Trial base_;                      // the best trial so far, which the next trial changes
  bool has_mix_scores_ = false;     // whether a trial was scored with other mixes
  std::uint32_t trials_ = 0;
  std::set<std::string> tried_;  // configurations as TOML
};

}  // namespace

TuneResult tune(const Config& start, const Dataset& data, const TuneOptions& options,
                const std::function<void(const Trial&)>& trial) {
  if (!start.train.vectors.empty()) {
    fail_input(
        "train.vectors is set, but a search starts from random weights; set it to train what was found");
  }
  Config trained = start;
  trained.train.patience = 0;  // a search tries epochs in its place
  return Search(trained, data, options).run(trial);
}

}  // namespace slide
