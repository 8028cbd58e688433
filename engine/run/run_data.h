// Reads configurations and the data sets that they name. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/unknown_labels.h"
#include "datasets/sidecar/label_texts.h"
#include "datasets/text/text_model.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/config/effective.h"
#include "engine/model/model_file.h"
#include "engine/run/run_sets.h"
#include "engine/run/unknown.h"

namespace slide {

// The configuration of a file with overrides and absolute data paths, valid from any folder. Throws
// InputError, as do all functions below.
Config resolve_config(const ConfigText& file, const std::vector<std::string>& overrides);

// The same without a file: defaults and overrides.
Config resolve_defaults(const std::vector<std::string>& overrides);

// The same with `base`, a model's settings, in place of the defaults; `file` may be empty.
Config resolve_over(const Config& base, const ConfigText& file, const std::vector<std::string>& overrides);

// Reads a configuration stored by a run, as parse_stored_config(), with absolute paths.
Config resolve_stored_config(const std::string& path, std::vector<std::string>& notes);

// Completes a configuration by the content of data.train: for an interaction log returns
// for_interactions(config), which has the defaults for logs; else sets data.dense to the column found.
Config settled_by_data(Config config, const std::function<Config(const Config&)>& for_interactions);

// All input paths of a configuration, data and other files; some may be empty.
std::vector<std::string> inputs_of(Config config);

// Reads data.train and, where set, data.test and the data.validation file, all with the largest of their
// feature counts; training samples with their weights and label weights, from columns or files. `skip_bad`:
// malformed rows are skipped.
RunData read_run_data(const Config& config, int threads, bool skip_bad = false);

// Options for reading training files, and the data read with them: as read_run_data() reads, but with a given
// vocabulary `text` (nullptr for data without text) and without label weights.
ReadOptions training_read_options(const DataConfig& config, int threads, bool skip_bad);
RunData read_training_data(const Config& config, int threads, bool skip_bad,
                           std::shared_ptr<const TextModel> text);

// The texts of `config` for labels with names; nullptr where there are none.
std::unique_ptr<const LabelTexts> named_label_texts(const DataConfig& config);

// Appends the label texts of `config` to the training samples of a run, and a note to its notes: `texts` for
// text data, else the label features of a file. Call before add_label_weights(): it may add labels.
void add_label_texts(const DataConfig& config, const LabelTexts* texts, int threads, RunData& data);

// Applies the label weights file of `config`, if any, to the training samples. Call when their labels have
// their final ids.
void add_label_weights(const DataConfig& config, RunData& data);

// Returns the validation samples of a run: the samples of a file, or a share taken out of the training
// samples; nullopt where data.validation is not set. Throws InputError where too few samples have labels.
std::optional<Dataset> take_validation(const Config& config, RunData& data);

// The facts that effective_config() of a job on `train` needs. `text`: its names of labels, or nullptr;
// `cluster`: the processes that train together, or nullptr.
JobFacts facts_of(const Dataset& train, const TextModel* text, const Cluster* cluster = nullptr);

// Number of features known to a model.
struct KnownFeatures {
  std::size_t sparse = 0, dense = 0;
};
// Options for reading data for a model trained with `config`, with these features and vocabulary (nullptr:
// none).
ReadOptions model_read_options(const DataConfig& config, const KnownFeatures& features,
                               std::shared_ptr<const TextModel> text, int threads);
ReadOptions model_read_options(const Model& model, int threads);

// A file read for a trained model; for interactions as in interaction_data.h. `skip_bad`: malformed rows are
// skipped.
struct TestData {
  Dataset rows;
  ReadReport report;
  UnknownLabels unknown = {};
};
TestData read_test_data(const std::string& path, const Model& model, int threads, bool skip_bad = false);
// The same for bytes in memory; `origin` replaces the path in messages.
TestData parse_test_data(std::string_view bytes, const std::string& origin, const Model& model, int threads,
                         bool skip_bad = false);

}  // namespace slide
