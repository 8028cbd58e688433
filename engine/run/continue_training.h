// Training that goes on from a model with new samples, which may bring new features, labels and words: what
// `slide train --init` and the library's continue_training() share. Functions are safe from any thread as
// long as nobody changes the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/features/training_rows.h"
#include "engine/run/model.h"
#include "engine/run/run_data.h"
#include "engine/training/trainer.h"

namespace slide {

// The settings that training goes on with from a model of `config`, which lies at `init`, where nothing else
// is said: its own, but for its data and how long it was trained.
Config continued_config(Config config, const std::string& init);

// Throws InputError naming the first key of `now` that such training cannot change. `init`: names the model
// in messages.
void check_continued(const Config& model, const Config& now, const std::string& init);

// Samples to go on with, under the numbers that their features and labels have from now on.
struct ContinuedData {
  RunData data;
  std::vector<std::uint32_t> idle;  // by label: of the model that comes out (Model::idle)
  std::vector<bool> gone;           // by label of the model: dropped by train.expire_labels; empty: none
};

// The files of `config` as training reads them, text with the words and labels of the model and new ones
// behind them. Labels that train.expire_labels drops lose their names; those that are numbers stay, as one
// that no sample ever had. Throws InputError as read_run_data(), and where the data are of another kind than
// the model's.
ContinuedData read_continued_data(const Config& config, int threads, bool skip_bad, const Model& model);

// The same samples, of at least so many features and labels.
Dataset widened(const Dataset& data, std::size_t features, std::size_t labels);

// The samples of `more`, of which none has less features or labels than the model, with the model's pairs of
// features. `text`: what they were read with, or nullptr.
TrainingRows continued_rows(const Model& model, const Dataset& more, const TextModel* text, int threads);
// What training with `config` goes on from with such samples.
TrainedStart start_continued(const Model& model, const Config& config, const TrainingRows& more,
                             const TextModel* text, const std::vector<bool>& gone, int threads);

// The same of a run that has begun with the model `begun`, which has grown already, and goes on from a
// checkpoint, which fills what training starts from.
RunData read_again(const Config& config, int threads, bool skip_bad, const Model& begun);
TrainedStart start_again(const Model& begun, const Config& config, const TrainingRows& more, int threads);

}  // namespace slide
