// Reads the data sets of a command with the settings of a configuration. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/label_texts.h"
#include "datasets/read_report.h"
#include "datasets/text_model.h"
#include "datasets/unknown_labels.h"
#include "engine/config/config.h"
#include "engine/run/model_file.h"
#include "engine/run/run_sets.h"
#include "engine/run/unknown.h"

namespace slide {

// The configuration at `path` with its overrides, the paths of its data absolute: they hold from any folder.
// Throws InputError, here and below.
Config resolve_config(const std::string& path, const std::vector<std::string>& overrides);

// The same where there is no file: the defaults with these overrides.
Config resolve_defaults(const std::vector<std::string>& overrides);

// The same where `base`, in place of the defaults, says what file, which may be empty, and overrides do not.
Config resolve_over(const Config& base, const std::string& path, const std::vector<std::string>& overrides);

// The configuration that a run has stored at `path`, read as parse_stored_config does, its paths absolute.
Config resolve_stored_config(const std::string& path, std::vector<std::string>& notes);

// The paths of all that a configuration has read: data and files, some of them empty.
std::vector<std::string> inputs_of(Config config);

// data.train and, where they are set, data.test and the file of data.validation, all with the largest of
// their numbers of features; the training samples with their weights and those of labels, of a column or
// files, where they have some. With `skip_bad`, lines with faults are left out.
RunData read_run_data(const Config& config, int threads, bool skip_bad = false);

// How training reads its files. read_training_data() reads them so, text by `text`, or nullptr where that is
// none, and without weights of labels.
ReadOptions training_read_options(const DataConfig& config, int threads, bool skip_bad);
RunData read_training_data(const Config& config, int threads, bool skip_bad,
                           std::shared_ptr<const TextModel> text);

// The texts that `config` has for labels with names; nullptr where there are none.
std::unique_ptr<const LabelTexts> named_label_texts(const DataConfig& config);

// Puts what `config` says of labels behind the training samples of a run, and a note to its notes: `texts`,
// where the data are text, else the features of labels that a file has. Before their weights, for there may
// be more labels then.
void add_label_texts(const DataConfig& config, const LabelTexts* texts, int threads, RunData& data);

// Gives the training samples of a run, whose labels have the numbers that they are trained under, the weights
// of labels that a file has for them, where `config` names one.
void add_label_weights(const DataConfig& config, RunData& data);

// The validation samples of a run: those of the file, or a share of the training samples, taken out of these.
// Nothing where data.validation is not set. Throws InputError where too few samples have labels.
std::optional<Dataset> take_validation(const Config& config, RunData& data);

// Turns off in `config` what looks at sparse features, where the training data has dense ones alone: the wide
// path and factors of features.
void fit_to_features(const Dataset& train, Config& config);

// Features that a model knows.
struct KnownFeatures {
  std::size_t sparse = 0, dense = 0;
};
// How data are read for a model trained with `config` on data of such features, and on text if there is some.
ReadOptions model_read_options(const DataConfig& config, const KnownFeatures& features,
                               std::shared_ptr<const TextModel> text, int threads);
ReadOptions model_read_options(const Model& model, int threads);

// A file for a trained model. With `skip_bad`, lines with faults are left out. Of interactions, the samples
// are those of interaction_data.h. Labels that the model does not know have numbers behind its own, so that
// measures count them as missed; of text the names of these go to `unknown`.
struct TestData {
  Dataset rows;
  ReadReport report;
  UnknownLabels unknown = {};
};
TestData read_test_data(const std::string& path, const Model& model, int threads, bool skip_bad = false);
// The same of bytes in memory; `origin` stands for the path in messages.
TestData parse_test_data(std::string_view bytes, const std::string& origin, const Model& model, int threads,
                         bool skip_bad = false);

}  // namespace slide
