#include "engine/run/run_data.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include "datasets/cache.h"
#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/label_features.h"
#include "datasets/reader.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/rows/split.h"
#include "datasets/sidecar/label_weights.h"
#include "datasets/text_learner.h"
#include "engine/base/error.h"
#include "engine/run/dense_column.h"
#include "engine/run/interaction_data.h"
#include "engine/run/known_users.h"
#include "engine/run/run_warnings.h"
#include "engine/run/users_log.h"
#include "engine/run/validation_keys.h"

namespace slide {

namespace {

void make_absolute(std::string& file) {
  if (!file.empty()) file = std::filesystem::absolute(file).lexically_normal().string();
}

// Calls data(path) for data paths and file(path) for paths of other files.
template <class Data, class File>
void for_each_path(Config& config, const Data& data, const File& file) {
  for (std::string* path :
       {&config.data.train, &config.data.test, &config.data.validation.file, &config.data.known})
    data(*path);
  for (std::string* path : {&config.data.sample_weights, &config.data.label_weights.file, &config.train.init,
                            &config.train.vectors})
    file(*path);
  for (std::string* path : key_files(config.data)) file(*path);
  if (config.data.label_text != LabelTexts::kNames) file(config.data.label_text);
}

Config resolved(Config config) {
  const auto of_data = [](std::string& file) {
    refuse_standard_input(file);
    make_absolute(file);
  };
  for_each_path(
      config, [&](std::string& data) { for_each_file(data, of_data); }, make_absolute);
  return config;
}

ReadOptions read_options(const DataConfig& config, std::size_t features, int threads) {
  ReadOptions options;
  options.format = config.format;
  options.one_based = config.one_based;
  options.normalize = config.normalize;
  options.feature_limit = static_cast<std::uint32_t>(features);
  options.threads = threads;
  if (config.kind == DataKind::kInteractions) {
    options.log = log_options(config);
    return options;
  }
  options.columns = {config.text, config.labels, config.label_separator, config.weight};
  options.columns.dense = dense_column_name(config);
  name_key_columns(config, options.columns);
  return options;
}

void check_slice(const char* key, std::uint32_t wanted, const std::string& path, std::size_t samples) {
  if (wanted <= samples) return;
  fail_input("{} = {}, but {} has {} samples; lower it, or 0 for all", key, wanted, shown_path(path),
             samples);
}

Dataset first_of(const Dataset& data, const DataConfig& config) {
  if (config.train_first == 0) return data;
  check_slice("data.train_first", config.train_first, config.train, data.size());
  return data.slice(0, config.train_first);
}

Dataset last_of(const Dataset& data, std::size_t count) {
  if (count == 0 || count >= data.size()) return data;
  return data.slice(data.size() - count, count);
}

// Reads a training file, through its cache if `cache`.
Dataset read_training_file(const std::string& path, const ReadOptions& options, bool cache,
                           std::vector<std::string>& notes) {
  if (!cache) return read_dataset(path, options);
  const bool column = !options.columns.dense.empty();
  if (column || dense_paths(path)) {
    notes.push_back(fmt::format("{}: no cache: dense features {}", shown_path(path),
                                column ? "of lines have none" : "are used as they lie in their file"));
    return read_dataset(path, options);
  }
  CachedDataset cached = read_dataset_cached(path, options);
  if (cached.outcome == CacheOutcome::kNone) notes.push_back("no cache: " + cached.reason);
  return std::move(cached.data);
}

// Content of a pipe. Throws InputError for labelled text, which training reads twice.
std::unique_ptr<const FileBytes> bytes_of_stream(const std::string& path, DataFormat format) {
  auto bytes = std::make_unique<const FileBytes>(path);
  if (format != DataFormat::kText && detect_format(bytes->text()) != DataFormat::kText) return bytes;
  fail_input(
      "{}: training reads text twice, first for its words, but a pipe can be read only once; write the text "
      "to a file "
      "first",
      path);
}

// Removes the columns that only training uses, and returns the previous columns.
TableColumns without_training_columns(TableColumns& columns) {
  TableColumns before = columns;
  columns.weight = columns.group = columns.time = "";
  return before;
}

// parse(overrides); where only the data reveal interactions, again with data.kind=interactions in front.
template <class Parse>
Config resolved_by_kind(const std::vector<std::string>& overrides, const Parse& parse) {
  return resolved(settled_by_data(parse(overrides), [&](const Config&) {
    std::vector<std::string> with_kind = {"data.kind=interactions"};
    with_kind.insert(with_kind.end(), overrides.begin(), overrides.end());
    return parse(with_kind);
  }));
}

}  // namespace

Config settled_by_data(Config config, const std::function<Config(const Config&)>& for_interactions) {
  if (config.data.kind == DataKind::kInteractions) return config;
  if (is_interactions(config.data)) return for_interactions(config);
  require_no_ridge(config);
  config.data.dense = dense_column(config.data);
  return config;
}

Config resolve_config(const ConfigText& file, const std::vector<std::string>& overrides) {
  return resolved_by_kind(overrides,
                          [&](const auto& given) { return parse_config(file.text, file.origin, given); });
}

Config resolve_defaults(const std::vector<std::string>& overrides) {
  return resolved_by_kind(overrides,
                          [&](const auto& given) { return parse_config("", "the defaults", given); });
}

Config resolve_over(const Config& base, const ConfigText& file, const std::vector<std::string>& overrides) {
  const std::string origin = file.origin.empty() ? "the model's settings" : file.origin;
  return resolved_by_kind(overrides,
                          [&](const auto& given) { return parse_config(file.text, origin, given, base); });
}

Config resolve_stored_config(const std::string& path, std::vector<std::string>& notes) {
  return resolved(load_stored_config(path, notes));
}

std::vector<std::string> inputs_of(Config config) {
  std::vector<std::string> inputs;
  const auto take = [&](const std::string& path) { inputs.push_back(path); };
  for_each_path(config, take, take);
  return inputs;
}

ReadOptions training_read_options(const DataConfig& config, int threads, bool skip_bad) {
  if (config.train.empty()) fail_input("data.train is not set: give --set data.train=FILE");
  ReadOptions options = read_options(config, 0, threads);
  if (config.kind == DataKind::kInteractions) options.format = DataFormat::kInteractions;
  options.skip_bad = skip_bad;
  if (skip_bad && !config.sample_weights.empty())
    fail_input(
        "data.sample_weights = {} has a line for each sample, which would not hold where --skip-bad leaves "
        "some "
        "out; leave one of the two out",
        config.sample_weights);
  if (skip_bad) refuse_key_files(config);
  return options;
}

RunData read_run_data(const Config& config, int threads, bool skip_bad) {
  const ReadOptions options = training_read_options(config.data, threads, skip_bad);
  const std::string source = text_path(config.data.train);
  const bool learns = !source.empty() && holds_text(source, options);
  const auto texts = learns ? named_label_texts(config.data) : nullptr;
  auto text =
      learns ? learn_text_file(source, options, config.text, config.data.cache, texts.get()) : nullptr;
  if (config.data.kind == DataKind::kInteractions && text == nullptr) {
    fail_input(
        "{}: training reads a log of interactions twice, first for its items; name a file that is there",
        shown_path(config.data.train));
  }
  check_separator(config.data, text.get());
  RunData data = read_training_data(config, threads, skip_bad, std::move(text));
  add_warnings(config.data, data);
  add_label_texts(config.data, texts.get(), threads, data);
  add_label_weights(config.data, data);
  return data;
}

RunData read_training_data(const Config& config, int threads, bool skip_bad,
                           std::shared_ptr<const TextModel> text) {
  const DataConfig& data = config.data;
  RunData run;
  ReadOptions options = training_read_options(data, threads, skip_bad);
  options.text = run.text = std::move(text);
  if (data.kind == DataKind::kInteractions) return read_interaction_data(data, options);
  std::unique_ptr<const FileBytes> stream;
  if (is_stream(data.train)) stream = bytes_of_stream(data.train, data.format);
  const auto read = [&](const std::string& path, ReadReport& report) {
    options.report = &report;
    if (stream && path == data.train) return parse_dataset(stream->text(), path, options);
    return read_training_file(path, options, data.cache, run.notes);
  };
  Dataset train = read(data.train, run.train_report);
  options.dense_columns = train.dense_count();
  const TableColumns columns = without_training_columns(options.columns);
  if (options.text != nullptr) options.feature_limit = options.text->feature_count();
  std::uint32_t features = train.sparse_count();
  // Reads test or validation data. All labels count, including labels of text that the training data lack.
  const auto read_beside = [&](const std::string& path, ReadReport& report) {
    UnknownLabels unknown;
    options.unknown_labels = &unknown;
    Dataset beside = path == data.train && run.train_report.unknown_labels == 0 ? train : read(path, report);
    options.unknown_labels = nullptr;
    require_sparse(beside, shown_path(path), train.sparse_count());
    features = std::max(features, beside.sparse_count());
    return beside;
  };
  if (!data.test.empty()) {
    const Dataset test = read_beside(data.test, run.test_report);
    check_slice("data.test_last", data.test_last, data.test, test.size());
    run.test = last_of(test, data.test_last);
  }
  if (!data.validation.file.empty())
    run.validation = read_beside(data.validation.file, run.validation_report);
  if (features > train.sparse_count()) {
    options.feature_limit = features;
    options.columns = columns;
    train = read(data.train, run.train_report);
  }
  if (!data.sample_weights.empty())
    train = with_weights(train, read_weights(data.sample_weights, train.size(), shown_path(data.train)));
  options.columns = columns;
  run.train = with_sample_keys(first_of(train, data), train.size(), data, options);
  if (!data.test_after.empty()) split_test_by_time(data, options, run);
  if (!run.train.weights().empty()) run.train = weighted_rows(run.train, run.train.weights());
  return run;
}

std::unique_ptr<const LabelTexts> named_label_texts(const DataConfig& config) {
  if (config.label_text.empty()) return nullptr;
  if (config.kind == DataKind::kInteractions)
    fail_input(
        "data.label_text = {}: items of interactions are known by who had them; leave the texts of labels "
        "out",
        config.label_text);
  return std::make_unique<const LabelTexts>(config.label_text);
}

namespace {

LabelTextRows label_rows(const DataConfig& config, const LabelTexts* texts, int threads, const RunData& data,
                         const std::string& train) {
  if (data.text != nullptr) return label_text_rows(*texts, *data.text, config.normalize);
  if (config.label_text == LabelTexts::kNames)
    fail_input("data.label_text = {}: the labels of {} are numbers; name a file with the features of each",
               config.label_text, train);
  ReadOptions options = read_options(config, 0, threads);
  return read_label_features(config.label_text, options, data.train.label_count(), train);
}

// Note of a run about its label texts.
std::string note_of(const DataConfig& config, const LabelTextRows& texts, const Dataset& train) {
  std::unordered_set<std::uint32_t> alone;  // labels with a text and no sample
  for (std::size_t i = train.samples(); i < train.size(); ++i) alone.insert(train.labels(i).front());
  const std::size_t with = alone.size();
  for (const std::uint32_t label : train.sample_labels()) alone.erase(label);
  std::string note = fmt::format("label text  {}: {} of {} labels have one, {} of them no sample",
                                 config.label_text, with, train.label_count(), alone.size());
  if (texts.empty > 0) note += fmt::format("; {} texts have no feature that is known", texts.empty);
  if (texts.unknown > 0) note += fmt::format("; {} texts are of no label", texts.unknown);
  return note;
}

}  // namespace

void add_label_texts(const DataConfig& config, const LabelTexts* texts, int threads, RunData& data) {
  if (config.label_text.empty()) return;
  const std::string train = shown_path(config.train);
  if (data.train.dense_count() > 0)
    fail_input(
        "data.label_text = {}: {} has dense features, of which labels have none; leave one of the two out",
        config.label_text, train);
  if (texts != nullptr && !texts->warning().empty()) data.train_report.add_warning(texts->warning());
  const LabelTextRows rows = label_rows(config, texts, threads, data, train);
  if (rows.rows.size() == 0)
    fail_input("{}: no text of a label has a feature that is known; check the file, or leave it out",
               config.label_text);
  const auto weight = static_cast<float>(config.label_text_weight);
  data.train = with_label_texts(data.train, rows.rows, weight, threads);
  data.notes.push_back(note_of(config, rows, data.train));
}

void add_label_weights(const DataConfig& config, RunData& data) {
  const std::string& file = config.label_weights.file;
  if (file.empty()) return;
  const std::string train = shown_path(config.train);
  data.train = data.train.with_label_weights(std::make_shared<const std::vector<float>>(
      read_label_weights(file, data.train.label_count(), data.text.get(), train)));
}

JobFacts facts_of(const Dataset& train, const TextModel* text, const Cluster* cluster) {
  return {cluster == nullptr ? 1U : static_cast<std::uint32_t>(cluster->size()),
          train.dense_count() > 0 && train.sparse_count() == 0, train.label_count(), text != nullptr};
}

std::optional<Dataset> take_validation(const Config& config, RunData& data) {
  if (!config.data.validation.wanted()) return {};
  if (data.validation) return data.validation;
  Split split = split_dataset(data.train, config.data.validation.share, data.train.samples(),
                              config.train.seed, 0, shown_path(config.data.train));
  data.train = std::move(split.train);
  if (config.data.kind == DataKind::kInteractions) return masked_once(split.validation, config);
  return std::move(split.validation);
}

ReadOptions model_read_options(const DataConfig& config, const KnownFeatures& features,
                               std::shared_ptr<const TextModel> text, int threads) {
  ReadOptions options = read_options(config, features.sparse, threads);
  options.dense_columns = static_cast<std::uint32_t>(features.dense);
  without_training_columns(options.columns);
  if (config.kind == DataKind::kInteractions && config.format == DataFormat::kAuto)
    options.format = DataFormat::kInteractions;
  // A model trained on text also accepts features, whatever its training file was.
  if (text != nullptr && (options.format == DataFormat::kText || is_table(options.format)))
    options.format = DataFormat::kAuto;
  options.text = std::move(text);
  options.leave_out_features = options.feature_limit != 0;
  return options;
}

ReadOptions model_read_options(const Model& model, int threads) {
  const DataShape& shape = model.shape;
  return model_read_options(model.config.data, {shape.features - shape.dense, shape.dense}, model.text,
                            threads);
}

namespace {

// `own_log`: the path of the data where tests_own_log() holds: its held-out items are the labels.
TestData test_data(const ReadAsked& read, const Model& model, int threads, bool skip_bad,
                   const std::optional<std::string>& own_log = {}) {
  TestData data;
  ReadOptions options = model_read_options(model, threads);
  options.skip_bad = skip_bad;
  options.report = &data.report;
  options.unknown_labels = &data.unknown;
  if (options.format != DataFormat::kInteractions) {
    data.rows = read(options);
    return data;
  }
  if (own_log) {
    data.rows = read_own_held_out(*own_log, model.config.data, options);
    return data;
  }
  HeldOutUsers held_out;
  read_held_out(read, users_log(model), options, held_out);
  data.rows = std::move(held_out.rows);
  return data;
}

}  // namespace

// data.test_last cuts the rows; warns where training has read the same file.
TestData read_test_data(const std::string& path, const Model& model, int threads, bool skip_bad) {
  const auto read = [&](const ReadOptions& options) {
    const Dataset rows = read_dataset(path, options);
    return options.users == nullptr ? last_of(rows, model.config.data.test_last) : rows;
  };
  TestData data = test_data(read, model, threads, skip_bad,
                            tests_own_log(path, model) ? std::optional(path) : std::nullopt);
  if (std::string same = training_file_warning(path, model.config.data); !same.empty())
    data.report.add_warning(std::move(same));
  return data;
}

TestData parse_test_data(std::string_view bytes, const std::string& origin, const Model& model, int threads,
                         bool skip_bad) {
  const auto read = [&](const ReadOptions& options) { return parse_dataset(bytes, origin, options); };
  return test_data(read, model, threads, skip_bad);
}

}  // namespace slide
