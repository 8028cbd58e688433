// Training, with callbacks that observe it and may stop it.
//
// Training uses train.threads threads; several trainings may run concurrently. Callbacks run on the calling
// thread, one at a time; an exception from a callback ends train() and is rethrown unchanged, without a
// model.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/export.h>
#include <slide/model.h>

#include <cstdint>
#include <functional>
#include <string>

namespace slide::api {

// State after a step.
struct Progress {
  std::uint32_t epoch = 0;        // from 1
  std::uint64_t step = 0;         // steps so far
  std::uint64_t total_steps = 0;  // of the whole run
  std::uint64_t samples = 0;      // in this epoch so far
  double loss = 0.0;              // mean over these samples
  double seconds = 0.0;           // in this epoch so far
};

// State after an epoch.
struct EpochSummary {
  std::uint32_t epoch = 0;     // from 1
  std::uint64_t step = 0;      // steps so far
  double loss = 0.0;           // mean over the epoch's samples
  double train_seconds = 0.0;  // so far, without reading and evaluation
  double samples_per_second = 0.0;
};

// Result of an evaluation, every train.eval_every epochs and after the last epoch.
struct Evaluation {
  std::uint32_t epoch = 0;
  bool validation = false;  // on samples held out by data.validation; else on the test data
  bool best = false;        // validation: the best so far
  double seconds = 0.0;
  Measures measures;
  // Writes the current model; valid during the callback.
  std::function<void(const std::string& path)> save_model;
};

// Any may be empty.
struct Callbacks {
  std::function<bool(const Progress&)> step;  // returning false stops training
  std::function<void(const EpochSummary&)> epoch;
  std::function<void(const Evaluation&)> evaluation;
  std::function<void(const std::string&)> warning = {};  // of files that are read, as Data::warnings()
};

// Trains a model on the files data.train and data.test, as `slide train` does: equal configurations give
// bitwise equal models. A run stopped by a callback or by train.patience returns the model at that point.
SLIDE_API Model train(const Config& config, const Callbacks& callbacks = {});

// The same on samples in memory; paths in the configuration are ignored. `test` must not have more features
// than `train`. For data read from files, their reading settings are recorded in the model.
SLIDE_API Model train(const Config& config, const Data& train, const Callbacks& callbacks = {});
SLIDE_API Model train(const Config& config, const Data& train, const Data& test,
                      const Callbacks& callbacks = {});

// Trains and validates after each epoch on `validation`, in place of a share held out by data.validation;
// train.patience counts these validations. Where data.validation is not set, the model stores "memory" as its
// value.
SLIDE_API Model train_validated(const Config& config, const Data& train, const Data& validation,
                                const Callbacks& callbacks = {});

// The samples that train() would train on and hold out with the data.validation of `config`, a share: the two
// of them for train_validated() give the model that train() gives. Throws InputError where it is no share,
// and where too few samples have labels.
struct HeldOut {
  Data train, validation;
};
SLIDE_API HeldOut hold_out(const Config& config, const Data& data);

// Incremental training: continues `model` on new samples for `epochs` epochs, as a run of its own with the
// model's configuration, a new learning-rate schedule, and no test or validation samples. `model` is
// unchanged. Uses the optimizer state where the model has it (from train(), or loaded with it); else it
// starts at zero. Label frequencies (for negative sampling and metrics) count all samples so far; new samples
// join the kNN index; features that are new for a label join its linear term. Features and labels unknown to
// the model get the ids after its own; words and labels of text that are to join it come by
// Data::learn_more_texts(). Throws InputError for other text that was not read with the model.
SLIDE_API Model continue_training(const Model& model, const Data& data, std::uint32_t epochs = 1,
                                  const Callbacks& callbacks = {});

}  // namespace slide::api
