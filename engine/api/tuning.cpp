#include <slide/tuning.h>

#include "engine/api/callbacks.h"
#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/config/effective.h"
#include "engine/run/require_memory.h"
#include "engine/run/run_data.h"
#include "engine/run/validation_keys.h"
#include "engine/training/tune.h"

namespace slide::api {

namespace {

Trial trial_of(const slide::Trial& trial) {
  return {trial.number,   trial.changes, trial.score,  trial.train_seconds, trial.full_seconds, trial.within,
          trial.diverged, trial.is_best, trial.pruned, trial.too_large,     trial.taken};
}

// Runs the search with the caller's options and callbacks, and copies its result to the public types.
TuneResult tune_on(const slide::Config& stated, const RunData& data, const TuneOptions& options,
                   const TuneCallbacks& callbacks) {
  const Dataset& rows = data.train;
  const slide::Config start = effective_config(stated, facts_of(rows, data.text.get()));
  const int threads = resolve_threads(static_cast<int>(start.train.threads));
  slide::TuneOptions search;
  search.require_memory = [&](const slide::Config& config, const TrainingRows& trained) {
    require_memory(plan_run(config, trained, threads, trained.raw.samples()));
  };
  require_memory(plan_least(start, rows, threads));
  search.require_memory(start, TrainingRows(start, rows, threads));
  search.seconds = options.seconds;
  search.trials = options.trials;
  search.fixed = options.fixed;
  search.train_seconds = options.train_seconds;
  search.train_seconds_option = "train_seconds";
  if (callbacks.step) search.go_on = [&] { return call(callbacks.step); };
  if (callbacks.note) search.note = [&](const std::string& line) { call(callbacks.note, line); };
  std::function<void(const slide::Trial&)> observe;
  if (callbacks.trial) observe = [&](const slide::Trial& trial) { call(callbacks.trial, trial_of(trial)); };
  const slide::TuneResult found = slide::tune(start, rows, search, observe);
  TuneResult result;
  result.config = Internals::make<Config>({found.config});
  result.best = trial_of(found.best);
  result.trials = found.trials;
  result.folds = found.folds;
  result.train_samples = found.train_samples;
  result.validation_samples = found.validation_samples;
  result.validation_by = found.validation_by;
  result.decision_samples = found.decision_samples;
  result.leader = found.leader;
  if (found.gain) {
    result.difference = found.gain->value;
    result.low = found.gain->interval.low;
    result.high = found.gain->interval.high;
    result.p = found.gain->p;
  }
  return result;
}

}  // namespace

// Prepares the samples as training does, then searches on them.
TuneResult tune(const Config& start, const Data& data, const TuneOptions& options,
                const TuneCallbacks& callbacks) {
  return guarded_with_callbacks([&] {
    if (!(options.seconds > 0)) fail_input("seconds: {}; give a time above 0", options.seconds);
    Config fixed = start;
    fixed.set(options.fixed);
    slide::Config config = Internals::of(fixed);
    config.data.validation = {};
    const Data::Impl& impl = Internals::of(data);
    record_reading(impl, config);
    RunData read;
    read.train = with_configured_order(scaled_rows(impl, config.data), config.data);
    if (impl.reading) read.text = impl.reading->text;
    const auto texts = read.text != nullptr ? named_label_texts(config.data) : nullptr;
    add_label_texts(config.data, texts.get(), static_cast<int>(config.train.threads), read);
    add_label_weights(config.data, read);
    return tune_on(config, read, options, callbacks);
  });
}

}  // namespace slide::api
