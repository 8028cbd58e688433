#include "engine/run/continue_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "datasets/formats/dense_data.h"
#include "datasets/rows/data_parts.h"
#include "datasets/text_learner.h"
#include "engine/base/error.h"
#include "engine/crosses/feature_transform.h"
#include "engine/knn/feature_weight_learning.h"
#include "engine/run/require_memory.h"
#include "engine/wide/network_growth.h"

namespace slide {

namespace {

// Default: more epochs fit the new samples slightly better and forget more of the old ones.
constexpr std::uint32_t kEpochs = 4;

// Whether incremental training cannot change a key, since the model's features or parameters depend on it.
bool is_fixed(std::string_view key, std::size_t layers) {
  static constexpr std::array<std::string_view, 12> kFixed = {
      "data.normalize", "data.idf_power",    "data.crosses",         "text.tokens",
      "text.lowercase", "text.word_ngrams",  "text.char_ngrams_min", "text.char_ngrams_max",
      "text.weighting", "text.hash_buckets", "train.weights",        "loss.kind"};
  if (std::ranges::find(kFixed, key) != kFixed.end()) return true;
  constexpr std::string_view kLayer = "layer.";  // then a number, a point and a name
  if (!key.starts_with(kLayer)) return false;
  const bool last = key.starts_with(fmt::format("layer.{}.", layers - 1));
  const std::string_view name = key.substr(key.find('.', kLayer.size()) + 1);
  if (last) return name == "wide";
  return name == "size" || name == "kind" || name == "activation";
}

}  // namespace

// The model's configuration for new data: keeps how data are read and what a row is, resets files and the
// length of training.
Config continued_config(Config config, const std::string& init) {
  const DataConfig before = std::exchange(config.data, DataConfig());
  config.data.format = before.format;
  config.data.kind = before.kind;
  config.data.mask = before.mask;
  config.data.text = before.text;
  config.data.labels = before.labels;
  config.data.label_separator = before.label_separator;
  config.data.dense = before.dense.empty() ? kNoColumn : before.dense;
  config.data.weight = before.weight;
  config.data.log = before.log;
  config.data.user = before.user;
  config.data.item = before.item;
  if (before.kind == DataKind::kInteractions) config.data.time = before.time;
  config.data.label_weights.power = before.label_weights.power;
  config.data.one_based = before.one_based;
  config.data.normalize = before.normalize;
  config.data.idf_power = before.idf_power;
  config.data.crosses = before.crosses;
  config.train.vectors.clear();
  config.train.epochs = kEpochs;
  config.train.patience = 0;
  config.train.threads = 0;
  config.train.init = init;
  return config;
}

void check_continued(const Config& model, const Config& now, const std::string& init) {
  if (model.layers.size() != now.layers.size()) {
    fail_input("there are {} layers, but the model {} has {}; leave them out, or train without --init",
               now.layers.size(), init, model.layers.size());
  }
  const auto is_fixed_key = [&](std::string_view key) { return is_fixed(key, model.layers.size()); };
  if (const auto changed = first_changed_key(model, now, is_fixed_key)) {
    fail_input(
        "'{}.{}' is {}, but it is {} in the model {}, which cannot change; leave it out, or train without "
        "--init",
        changed->section, changed->key, changed->after, changed->before, init);
  }
}

namespace {

// Throws unless the files hold text for a model trained on text, and features otherwise.
void check_kind(const Config& config, const ReadOptions& options, const Model& model) {
  const bool of_items = model.config.data.kind == DataKind::kInteractions;
  if (of_items && config.train.expire_labels > 0)
    fail_input("train.expire_labels = {} drops labels, but items, which are features too, stay; leave it out",
               config.train.expire_labels);
  if (!of_items && config.data.kind == DataKind::kInteractions) {
    fail_input(
        "{}: this is a log of interactions, but the model {} was trained on samples; give samples, or train "
        "without --init",
        shown_path(config.data.train), config.train.init);
  }
  const std::string source = text_path(config.data.train);
  const bool text = !source.empty() && holds_text(source, options);
  if (text == (model.text != nullptr)) return;
  if (text) {
    fail_input(
        "{}: this is text, but the model {} was trained on features, which have numbers and no words; "
        "give features, or train without --init",
        shown_path(config.data.train), config.train.init);
  }
  fail_input(
      "{}: these are features, but the model {} was trained on text; give text with labels, or train "
      "without --init",
      shown_path(config.data.train), config.train.init);
}

// Number of consecutive runs without a sample, for each label of the grown model.
std::vector<std::uint32_t> unseen_runs_after(const Model& model, const Dataset& more) {
  std::vector<std::uint32_t> unseen_runs = model.unseen_runs;
  unseen_runs.resize(more.label_count());
  const std::vector<std::uint32_t> with = more.label_frequencies();
  for (std::size_t label = 0; label < unseen_runs.size(); ++label) {
    const bool known = label < model.shape.labels && model.shape.label_frequencies[label] > 0;
    unseen_runs[label] = with[label] > 0 || !known ? 0 : unseen_runs[label] + 1;
  }
  return unseen_runs;
}

// Widens the training data, from `path`, to the features and labels of data and model together, and test and
// validation data likewise. Text already has the sizes of its vocabulary. Throws InputError for another
// number of dense columns, and for data without the sparse features that the model has.
void widen(const Model& model, const std::string& path, RunData& data) {
  if (data.train.dense_count() != model.shape.dense) {
    fail_input("the data has {} dense columns, the model {}; use features of the same kind",
               data.train.dense_count(), model.shape.dense);
  }
  require_sparse(data.train, shown_path(path), model.shape.features - model.shape.dense);
  if (data.text == nullptr) data.train = widened(data.train, model.shape.features, model.shape.labels);
  for (std::optional<Dataset>* beside : {&data.test, &data.validation}) {
    if (*beside) *beside = widened(**beside, data.train.feature_count(), data.train.label_count());
  }
}

// Adds the texts of labels, which may add labels and features.
void take_label_texts(const Config& config, const LabelTexts* texts, int threads, const Model& model,
                      RunData& data) {
  if (config.data.label_text.empty()) return;
  add_label_texts(config.data, texts, threads, data);
  widen(model, config.data.train, data);
}

// Labels described by a file do not count as unseen; a file with label features describes all labels.
void keep_described(const DataConfig& config, const LabelTexts* texts, const TextModel* text,
                    std::vector<std::uint32_t>& unseen_runs) {
  if (config.label_text.empty() || config.label_text == LabelTexts::kNames) return;
  if (texts == nullptr) {
    std::ranges::fill(unseen_runs, 0U);
    return;
  }
  for (const LabelTexts::Line& line : texts->lines()) {
    const std::optional<std::uint32_t> label = text->label_id(line.label);
    if (label && *label < unseen_runs.size()) unseen_runs[*label] = 0;
  }
}

// Warns of a log with mostly new items, as where other data are read as one because the model is of
// interactions.
void warn_of_new_items(const Config& config, const Model& model, RunData& data) {
  if (config.data.kind != DataKind::kInteractions) return;
  const std::vector<std::uint32_t> users = data.train.label_frequencies();
  const auto is_there = [](std::uint32_t count) { return count > 0; };
  const auto before = static_cast<std::ptrdiff_t>(std::min(model.shape.labels, users.size()));
  const auto known = std::count_if(users.begin(), users.begin() + before, is_there);
  const auto all = std::ranges::count_if(users, is_there);
  if (2 * known >= all) return;
  data.train_report.add_warning(fmt::format(
      "{}: is read as interactions, for the model {} was trained on these, and {} of its {} items are "
      "new; check that the file is a log of the same users and items",
      shown_path(config.data.train), config.train.init, all - known, all));
}

// Drops the labels that have had no sample for `forget` runs.
void expire_labels(std::uint32_t forget, const Model& model, ContinuedData& further) {
  if (forget == 0) return;
  std::vector<bool> expired(model.shape.labels);
  for (std::size_t label = 0; label < expired.size(); ++label)
    expired[label] = further.unseen_runs[label] >= forget;
  if (std::ranges::find(expired, true) == expired.end()) return;
  for (std::size_t label = 0; label < expired.size(); ++label) {
    if (expired[label]) further.unseen_runs[label] = 0;
  }
  further.expired = std::move(expired);
}

std::string note_of(const Model& model, const Config& config, const ContinuedData& further) {
  const auto dropped = std::ranges::count(further.expired, true);
  const std::size_t features = further.data.train.feature_count(), labels = further.data.train.label_count();
  const std::size_t named = model.text != nullptr ? static_cast<std::size_t>(dropped) : 0;
  return fmt::format("init  {}: {} features and {} labels are new{}", config.train.init,
                     features - model.shape.features, labels + named - model.shape.labels,
                     dropped > 0 ? fmt::format(", {} labels are dropped", dropped) : "");
}

}  // namespace

Dataset widened(const Dataset& data, std::size_t features, std::size_t labels) {
  return data.with_counts(std::max(data.feature_count(), static_cast<std::uint32_t>(features)),
                          std::max(data.label_count(), static_cast<std::uint32_t>(labels)));
}

// Text is read twice where labels expire: the vocabulary without them renumbers the labels.
ContinuedData read_continued_data(const Config& config, int threads, bool skip_bad, const Model& model) {
  const ReadOptions options = training_read_options(config.data, threads, skip_bad);
  check_kind(config, options, model);
  const auto texts = model.text != nullptr ? named_label_texts(config.data) : nullptr;
  std::shared_ptr<const TextModel> text;
  if (model.text != nullptr)
    text = learn_more_text_file(text_path(config.data.train), options, *model.text, config.text,
                                config.data.cache, texts.get());
  ContinuedData further;
  further.data = read_training_data(config, threads, skip_bad, text);
  widen(model, config.data.train, further.data);
  require_memory(plan_least(config, further.data.train, threads, nullptr), nullptr);
  warn_of_new_items(config, model, further.data);
  further.unseen_runs = unseen_runs_after(model, further.data.train);
  keep_described(config.data, texts.get(), text.get(), further.unseen_runs);
  expire_labels(config.train.expire_labels, model, further);
  if (text != nullptr && !further.expired.empty()) {
    std::vector<bool> expired = further.expired;
    expired.resize(text->label_count());
    text = without_labels(*text, expired);
    further.data = read_training_data(config, threads, skip_bad, text);
    std::size_t kept = 0;
    for (std::size_t label = 0; label < expired.size(); ++label) {
      if (!expired[label]) further.unseen_runs[kept++] = further.unseen_runs[label];
    }
    further.unseen_runs.resize(kept);
  }
  take_label_texts(config, texts.get(), threads, model, further.data);
  further.unseen_runs.resize(further.data.train.label_count());
  add_label_weights(config.data, further.data);
  further.data.notes.push_back(note_of(model, config, further));
  return further;
}

RunData read_again(const Config& config, int threads, bool skip_bad, const Model& begun) {
  RunData data = read_training_data(config, threads, skip_bad, begun.text);
  widen(begun, config.data.train, data);
  const auto texts = begun.text != nullptr ? named_label_texts(config.data) : nullptr;
  take_label_texts(config, texts.get(), threads, begun, data);
  add_label_weights(config.data, data);
  return data;
}

namespace {

// Maps each feature id of the grown model to the model's id (`was`).
IdGrowth feature_growth(const Model& model, const Dataset& more, const TextModel* text) {
  IdGrowth ids = IdGrowth::behind(model.shape.features, more.feature_count());
  std::uint32_t before = static_cast<std::uint32_t>(model.shape.features - model.shape.dense);
  std::uint32_t now = more.sparse_count();
  if (text != nullptr && model.text != nullptr) {
    before = model.text->vocabulary();
    now = text->vocabulary();
  }
  // Ids after the known features (hash buckets and dense columns) shift.
  for (std::uint32_t id = before; id < ids.size(); ++id) ids.was[id] = id < now ? kNewId : id - now + before;
  return ids;
}

// Maps each of the `neurons` of the grown output layer to the model's neuron (`was`): labels with names by
// name, others by number. The first `labels` neurons are labels; expired labels are new ones.
IdGrowth label_growth(const Model& model, std::size_t labels, std::size_t neurons, const TextModel* text,
                      const std::vector<bool>& expired) {
  IdGrowth ids{std::vector<std::uint32_t>(neurons, kNewId), model.network.labels()};
  const bool named = text != nullptr && model.text != nullptr;
  for (std::uint32_t id = 0; id < neurons; ++id) {
    const bool is_label = id < labels, was_label = id < model.shape.labels;
    const bool is_expired = was_label && !expired.empty() && expired[id];
    if (is_label && named) {
      ids.was[id] = model.text->label_id(text->label_name(id)).value_or(kNewId);
    } else if (is_label == was_label && !is_expired && id < ids.before) {
      ids.was[id] = id;  // the same label, or in both a neuron without one
    }
  }
  return ids;
}

// Shape of the data over all samples so far.
DataShape shape_after(const Model& model, const TrainingRows& more, const IdGrowth& labels) {
  DataShape shape = shape_of(more.raw);
  shape.crosses = more.crosses.size();
  shape.samples += model.shape.samples;
  for (std::size_t label = 0; label < shape.labels; ++label) {
    const std::uint32_t was = labels.was[label];
    if (was < model.shape.label_frequencies.size())
      shape.label_frequencies[label] += model.shape.label_frequencies[was];
  }
  return shape;
}

std::uint64_t generation_of(const Model& model) {
  std::uint64_t last = model.network.generation();
  for (const LayerHash& hash : model.hashes) last = std::max(last, hash.generation);
  return last;
}

TrainedStart start_of(const Model& model, const Config& config, const GrownShape& to, int threads) {
  std::optional<OptimizerState> state;
  if (model.optimizer && model.config.optimizer.kind == config.optimizer.kind)
    state = copy_of(*model.optimizer);
  Network network = grown(model.network, config, to, threads, state ? &*state : nullptr);
  network.rebuild_index(generation_of(model), threads);
  return {to.shape, std::move(network), std::move(state), std::nullopt, model.steps};
}

}  // namespace

TrainingRows continued_rows(const Model& model, const Dataset& more, const TextModel* text, int threads) {
  return {crosses_of(model.network).grown(feature_growth(model, more, text)), more, threads};
}

// Widens the model to the features and labels of model and data together, and the kNN index by the new
// samples.
TrainedStart start_continued(const Model& model, const Config& config, const TrainingRows& more,
                             const TextModel* text, const std::vector<bool>& expired, int threads) {
  const std::size_t neurons = output_neurons(config, shape_of(more.raw));
  if (config.layers.back().size != 0 && neurons < model.network.labels()) {
    fail_input(
        "the last layer has {} neurons, but that of the model {}; give it as many, or 0 for one a label",
        neurons, model.network.labels());
  }
  const Growth growth{feature_growth(model, more.raw, text),
                      label_growth(model, more.raw.label_count(), neurons, text, expired)};
  const DataShape shape = shape_after(model, more, growth.labels);
  TrainedStart start = start_of(model, config, {shape, growth, more}, threads);
  if (config.neighbours.share > 0) {
    start.neighbours =
        Neighbours::grown(config.neighbours, model.neighbours ? &model.neighbours->storage() : nullptr,
                          growth, more.raw, scale_of(start.network));
    learn_feature_weights(*start.neighbours, threads);
  }
  return start;
}

TrainedStart start_again(const Model& begun, const Config& config, const TrainingRows& more, int threads) {
  const Growth growth{IdGrowth::behind(begun.shape.features, begun.shape.features),
                      IdGrowth::behind(begun.network.labels(), begun.network.labels())};
  TrainedStart start = start_of(begun, config, {begun.shape, growth, more}, threads);
  if (begun.neighbours) {
    start.neighbours = Neighbours(config.neighbours, begun.neighbours->storage(), begun.shape.features);
  }
  return start;
}

}  // namespace slide
