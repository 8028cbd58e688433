// Training, with callbacks that watch it and may stop it.
//
// Training runs on train.threads threads and may go on several times at once, with a call each. Callbacks
// come on the calling thread, one at a time; what they throw comes out of train() as it is, and no model with
// it.
#pragma once

#include <slide/config.h>
#include <slide/data.h>
#include <slide/export.h>
#include <slide/model.h>

#include <cstdint>
#include <functional>
#include <string>

namespace slide::api {

// After a step.
struct Progress {
  std::uint32_t epoch = 0;        // from 1
  std::uint64_t step = 0;         // steps so far
  std::uint64_t total_steps = 0;  // of the whole run
  std::uint64_t samples = 0;      // of this epoch so far
  double loss = 0.0;              // mean over them
  double seconds = 0.0;           // in this epoch so far
};

// After an epoch.
struct EpochSummary {
  std::uint32_t epoch = 0;     // from 1
  std::uint64_t step = 0;      // steps so far
  double loss = 0.0;           // mean over the epoch's samples
  double train_seconds = 0.0;  // so far: everything but reading and evaluation
  double samples_per_second = 0.0;
};

// After an evaluation, every train.eval_every epochs and after the last.
struct Evaluation {
  std::uint32_t epoch = 0;
  bool validation = false;  // on the samples held out by data.validation, else on the test data
  bool best = false;        // validation: the best so far
  double seconds = 0.0;
  Measures measures;
  // Writes the model as it is now; for use during the callback.
  std::function<void(const std::string& path)> save_model;
};

// Each may be left out.
struct Callbacks {
  std::function<bool(const Progress&)> step;  // false: training ends here
  std::function<void(const EpochSummary&)> epoch;
  std::function<void(const Evaluation&)> evaluation;
};

// Trains a model on the files that data.train and data.test name, as `slide train` does: the same
// configuration gives the same model, to the bit. A run that a callback stopped, or train.patience, gives the
// model as it was then.
SLIDE_API Model train(const Config& config, const Callbacks& callbacks = {});

// The same on samples in memory; the paths of the configuration count for nothing. `test` may have no more
// features than `train`. Of data that were read from a file, the settings they were read with are recorded in
// the model.
SLIDE_API Model train(const Config& config, const Data& train, const Callbacks& callbacks = {});
SLIDE_API Model train(const Config& config, const Data& train, const Data& test,
                      const Callbacks& callbacks = {});

// Goes on from `model` with other samples, `epochs` times over them: a run of its own, with the model's
// configuration, whose learning rate follows its schedule anew, and without test or validation samples.
// `model` stays as it is. Where it has the state of its optimizer, as one from train() and one loaded with
// it, steps are as small as that says, else as at the beginning. Labels are drawn and measures weighted by
// their frequencies in all samples so far; where neighbours vote, the new samples join them; features that a
// label has in new samples alone join its wide path. Features and labels that the model does not have are
// new, under the numbers behind its own. Throws InputError for text that was not read by the model, whose
// words and labels stay those it has.
SLIDE_API Model continue_training(const Model& model, const Data& data, std::uint32_t epochs = 1,
                                  const Callbacks& callbacks = {});

}  // namespace slide::api
