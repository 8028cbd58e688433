#include "engine/config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "engine/config/fields.h"

namespace slide::config {
namespace {

using MaybeViolation = std::optional<Violation>;

constexpr std::uint32_t kBlockUnit = 16;  // kernels work on blocks of whole multiples of this

template <class... Args>
Violation violation(std::string key, fmt::format_string<Args...> format, Args&&... args) {
  std::string message = fmt::format("'{}' ", key) + fmt::format(format, std::forward<Args>(args)...);
  return {std::move(key), std::move(message)};
}

MaybeViolation check_ranges(const Config& config) {
  Config copy = config;  // fields bind to a mutable object
  for (const Section& section : all_sections(copy)) {
    for (const Field& field : section.fields) {
      if (in_range(field)) continue;
      return violation(fmt::format("{}.{}", section.name, field.key), "must be {}, not {}",
                       expects_text(field), value_text(field));
    }
  }
  return std::nullopt;
}

MaybeViolation check_blocks(const TrainConfig& train) {
  const std::uint32_t block = train.block_size;
  const std::uint32_t batch = train.batch_size;
  if (block != 1 && block % kBlockUnit != 0) {
    return violation("train.block_size", "must be 1 or a multiple of {}, not {}", kBlockUnit, block);
  }
  if (block > batch) {
    return violation("train.block_size", "= {} must not be above 'train.batch_size' = {}", block, batch);
  }
  if (batch % block != 0) {
    return violation("train.batch_size", "= {} must be a multiple of 'train.block_size' = {}", batch, block);
  }
  return std::nullopt;
}

// Rules for what only the last layer may have, or only the others.
MaybeViolation check_layer_position(const LayerConfig& layer, const std::string& name, bool last) {
  if (!last && layer.size == 0) {
    return violation(name + ".size", "must be above 0: only the last layer takes its size from the data");
  }
  if (!last && layer.init_scale == 0) {
    return violation(name + ".init_scale", "must be above 0: equal neurons of a hidden layer stay equal");
  }
  if (last && layer.dropout != 0) {
    return violation(name + ".dropout", "= {} must be 0 in the last layer: only hidden layers have dropout",
                     layer.dropout);
  }
  if (!last && layer.frequency != 0) {
    return violation(name + ".frequency", "= {} must be 0: only the last layer draws by label frequency",
                     layer.frequency);
  }
  if (!last && layer.wide)
    return violation(name + ".wide", "must be false: only the last layer has a linear term");
  return std::nullopt;
}

// Rules of hash tables; and one for files: only bins of a power of 2 leave no bucket unreachable.
MaybeViolation check_hash(const HashConfig& hash, const std::string& name) {
  if (hash.family != HashFamily::kSimhash && !std::has_single_bit(hash.bin_size)) {
    return violation(name + ".bin_size", "must be a power of 2 in {}..{} for wta, dwta and minhash, not {}",
                     kMinBinSize, kMaxBinSize, hash.bin_size);
  }
  if (auto fault = find_hash_fault(hash, name))
    return Violation{std::move(fault->key), std::move(fault->message)};
  return std::nullopt;
}

MaybeViolation check_sampled(const LayerConfig& layer, const std::string& name) {
  if (layer.lsh == 0 && layer.uniform == 0 && layer.frequency == 0) {
    return violation(name + ".lsh",
                     "must be above 0, or uniform or frequency: the sampled layer has no source of "
                     "active neurons");
  }
  if (layer.lsh > 0 && layer.init_scale == 0 && layer.hash.rehash_steps == 0 &&
      layer.hash.rebuild_steps == 0) {
    return violation(name + ".hash.rehash_steps",
                     "= 0 needs '{}.init_scale' above 0: tables find nothing among weights that are all 0",
                     name);
  }
  return check_hash(layer.hash, name + ".hash");
}

MaybeViolation check_columns(const DataConfig& data) {
  if (data.text.empty() != data.labels.empty()) {
    const char* const missing = data.text.empty() ? "data.text" : "data.labels";
    return violation(missing, "is not set: a table needs the columns of its texts and of its labels");
  }
  const bool of_log = data.kind == DataKind::kInteractions || !data.user.empty() || !data.item.empty();
  if (data.text.empty() && !data.weight.empty() && !of_log && data.kind != DataKind::kAuto)
    return violation("data.weight", "= {} needs a table, whose columns data.text and data.labels name",
                     data.weight);
  if (!data.sample_weights.empty() && !data.weight.empty())
    return violation("data.sample_weights", "= {} leaves no place for data.weight = {}; leave one out",
                     data.sample_weights, data.weight);
  if (!data.dense.empty() && data.dense != kNoColumn) {
    if (data.text.empty())
      return violation("data.dense", "= {} needs JSON lines, whose columns data.text and data.labels name",
                       data.dense);
    const std::vector<std::string> texts = column_names(data.text);
    const bool is_text = std::ranges::find(texts, data.dense) != texts.end();
    if (is_text || data.dense == data.labels || data.dense == data.weight)
      return violation("data.dense", "= {} names a column that is also that of {}; name another one",
                       data.dense,
                       data.dense == data.labels ? "data.labels"
                       : is_text                 ? "data.text"
                                                 : "data.weight");
  }
  if (data.label_separator.empty())
    return violation("data.label_separator", "must not be empty: it stands between labels");
  return std::nullopt;
}

// Rules of data.group and data.time: both choose validation samples out of the training samples; data.time
// also chooses test samples (data.test_after). Interaction logs have times, but no groups.
MaybeViolation check_sample_keys(const DataConfig& data) {
  for (const bool is_time : {false, true}) {
    const char* const key = is_time ? "data.time" : "data.group";
    const std::string& value = is_time ? data.time : data.group;
    if (value.empty() || (is_time && data.kind == DataKind::kInteractions)) continue;
    const bool selects_test = is_time && !data.test_after.empty();
    if (!data.validation.file.empty() && !selects_test)
      return violation(key,
                       "= {} is for a share of the training samples, but 'data.validation' is a file; "
                       "leave one out",
                       value);
    if (data.kind == DataKind::kInteractions)
      return violation(key, "= {} must be empty where data.kind = interactions", value);
  }
  return std::nullopt;
}

MaybeViolation check_test_after(const DataConfig& data) {
  if (data.test_after.empty()) return {};
  if (data.test_newest.wanted() || !data.test.empty())
    return violation("data.test_after", "= {} leaves no place for {}; leave one out", data.test_after,
                     data.test.empty() ? "data.test_newest" : "data.test");
  if (data.time == kFileOrder || (data.time == kNoTime && data.kind == DataKind::kSamples))
    return violation("data.test_after", "= {} needs times, but data.time = {} has none", data.test_after,
                     data.time);
  return {};
}

MaybeViolation check_margin(const Config& config) {
  const LayerConfig& output = config.layers.back();
  if (output.wide_margin.value_or(0.0) == 0.0) return {};
  const std::string key = layer_name(config.layers.size() - 1) + ".wide_margin";
  if (!output.wide) return violation(key, "= {} needs wide = true", *output.wide_margin);
  if (config.loss.kind != LossKind::kSigmoid)
    return violation(key, "= {} needs loss.kind = sigmoid", *output.wide_margin);
  if (config.data.kind == DataKind::kInteractions)
    return violation(key, "= {} needs data.kind = samples", *output.wide_margin);
  return {};
}

// Rules on keys that only interaction logs have, then on keys that interaction logs exclude.
MaybeViolation check_interactions(const Config& config) {
  const DataConfig& data = config.data;
  if (data.kind == DataKind::kSamples) {
    if (!data.known.empty())
      return violation("data.known", "= {} needs data.kind = interactions", data.known);
    if (data.test_newest.wanted()) return violation("data.test_newest", "needs data.kind = interactions");
    if (!data.user.empty()) return violation("data.user", "= {} needs data.kind = interactions", data.user);
    if (!data.item.empty()) return violation("data.item", "= {} needs data.kind = interactions", data.item);
    if (data.log != LogForm::kAuto) return violation("data.log", "needs data.kind = interactions");
    if (config.layers.back().wide_ridge != 0)
      return violation(layer_name(config.layers.size() - 1) + ".wide_ridge",
                       "= {} needs data.kind = interactions", config.layers.back().wide_ridge);
  }
  if (auto broken = check_test_after(data)) return broken;
  if (data.kind != DataKind::kInteractions) return {};
  if (data.format != DataFormat::kAuto && data.format != DataFormat::kInteractions)
    return violation("data.format", "must be auto or interactions where data.kind = interactions");
  if (data.test_newest.wanted() && !data.test.empty())
    return violation("data.test_newest", "leaves no place for data.test = {}; leave one out", data.test);
  if (data.log == LogForm::kLists && (!data.user.empty() || !data.item.empty() || !data.weight.empty() ||
                                      (!data.time.empty() && data.time != kFileOrder)))
    return violation("data.log",
                     "= lists has no columns; leave data.user, data.item, data.weight and data.time out");
  if (config.text.hash_buckets != 0)
    return violation("text.hash_buckets", "must be 0 where data.kind = interactions: items have no buckets");
  if (config.train.shards != 1)
    return violation("train.shards", "= {} must be 1 where data.kind = interactions", config.train.shards);
  if (!data.text.empty())
    return violation("data.text", "= {} names columns of text, but data.kind = interactions", data.text);
  if (!data.sample_weights.empty())
    return violation("data.sample_weights", "= {} must be empty where data.kind = interactions",
                     data.sample_weights);
  if (config.layers.back().size != 0)
    return violation(layer_name(config.layers.size() - 1) + ".size",
                     "must be 0 where data.kind = interactions: there is a neuron for each item");
  return {};
}

MaybeViolation check_text(const TextOptions& text) {
  if (text.char_ngrams_max != 0 && text.char_ngrams_min > text.char_ngrams_max) {
    return violation("text.char_ngrams_min", "= {} must not be above 'text.char_ngrams_max' = {}",
                     text.char_ngrams_min, text.char_ngrams_max);
  }
  if (text.word_ngrams == 0 && text.char_ngrams_max == 0) {
    return violation("text.word_ngrams", "must be above 0 unless there are character n-grams");
  }
  return std::nullopt;
}

MaybeViolation check_layers(const std::vector<LayerConfig>& layers) {
  if (layers.empty()) return Violation{"", "there is no layer; add at least one [[layer]] table"};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string name = layer_name(i);
    if (auto broken = check_layer_position(layers[i], name, i + 1 == layers.size())) return broken;
    if (layers[i].kind != LayerKind::kSampled) continue;
    if (auto broken = check_sampled(layers[i], name)) return broken;
  }
  return std::nullopt;
}

// LSH inference builds a search index behind hidden layers; an output layer without hidden layers needs
// training tables.
MaybeViolation check_inference(const Config& config) {
  const LayerConfig& last = config.layers.back();
  if (config.eval.inference != Inference::kLsh || config.layers.size() > 1 ||
      (last.kind == LayerKind::kSampled && last.lsh > 0))
    return {};
  return violation("eval.inference",
                   "= lsh needs a hidden layer, or hash tables: a sampled layer with lsh above 0");
}

MaybeViolation check_shards(const Config& config) {
  if (config.train.shards == 1) return {};
  const std::vector<LayerConfig>& layers = config.layers;
  if (layers.size() > 2 || (layers.size() == 2 && layers.front().kind == LayerKind::kSampled)) {
    return violation("train.shards", "= {} needs a network of one dense hidden layer at most, and its output",
                     config.train.shards);
  }
  if (layers.size() == 1 && config.eval.inference == Inference::kLsh) {
    return violation("train.shards", "= {} needs a hidden layer where 'eval.inference' = lsh",
                     config.train.shards);
  }
  return {};
}

MaybeViolation check_label_text(const Config& config) {
  if (config.data.label_text.empty() || config.data.label_text_weight > 0) return {};
  if (config.layers.back().wide || config.neighbours.share > 0) return {};
  return violation(
      "data.label_text",
      "has no effect without a linear term, neighbours and a weight: set 'data.label_text_weight', as 1");
}

}  // namespace

std::optional<Violation> find_violation(const Config& config) {
  if (auto broken = check_ranges(config)) return broken;
  if (auto broken = check_blocks(config.train)) return broken;
  if (auto broken = check_columns(config.data)) return broken;
  if (auto broken = check_sample_keys(config.data)) return broken;
  if (auto broken = check_text(config.text)) return broken;
  if (auto broken = check_layers(config.layers)) return broken;
  if (auto broken = check_margin(config)) return broken;
  if (auto broken = check_interactions(config)) return broken;
  if (auto broken = check_shards(config)) return broken;
  if (auto broken = check_label_text(config)) return broken;
  if (!config.train.init.empty() && !config.train.vectors.empty()) {
    return violation("train.vectors", "starts a network anew, but 'train.init' continues one: leave one out");
  }
  if (config.train.patience > 0 && !config.data.validation.wanted()) {
    return violation("train.patience", "= {} needs samples to validate on: set 'data.validation', as 0.1",
                     config.train.patience);
  }
  return check_inference(config);
}

}  // namespace slide::config
