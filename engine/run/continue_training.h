// Incremental training: continues a model with new samples, which may add features, labels and words. Shared
// by `slide train --init` and the library's continue_training(). Functions are safe from any thread while the
// model is not modified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/knn/training_rows.h"
#include "engine/model/model.h"
#include "engine/run/run_data.h"
#include "engine/training/trainer.h"

namespace slide {

// Default settings for incremental training of a model with `config` in the file `init`: the model's own,
// except its data and number of epochs.
Config continued_config(Config config, const std::string& init);

// Throws InputError that names the first key of `now` that incremental training cannot change. `init`: the
// model's name in messages.
void check_continued(const Config& model, const Config& now, const std::string& init);

// New samples, with the ids of features and labels in the grown model.
struct ContinuedData {
  RunData data;
  std::vector<std::uint32_t> unseen_runs;  // by label of the grown model, as in Model
  std::vector<bool> expired;  // by label of the previous model: dropped by train.expire_labels; empty: none
};

// Reads the files of `config` as for training; text uses the model's vocabulary and labels, extended by new
// ones. Labels dropped by train.expire_labels lose their names; numeric label ids stay, as labels without
// samples. Throws InputError as read_run_data(), and where the data have another kind than the model's.
ContinuedData read_continued_data(const Config& config, int threads, bool skip_bad, const Model& model);

// The same samples, with at least this many features and labels.
Dataset widened(const Dataset& data, std::size_t features, std::size_t labels);

// The samples of `more` with the model's feature crosses; none has fewer features or labels than the model.
// `text`: the vocabulary they were read with, or nullptr.
TrainingRows continued_rows(const Model& model, const Dataset& more, const TextModel* text, int threads);
// The initial state of training with `config` from `model` on these samples.
TrainedStart start_continued(const Model& model, const Config& config, const TrainingRows& more,
                             const TextModel* text, const std::vector<bool>& expired, int threads);

// The same for a run that resumes from a checkpoint: `begun` is the model with which the run began, already
// grown; the checkpoint then replaces the initial state.
RunData read_again(const Config& config, int threads, bool skip_bad, const Model& begun);
TrainedStart start_again(const Model& begun, const Config& config, const TrainingRows& more, int threads);

}  // namespace slide
