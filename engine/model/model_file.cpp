#include "engine/model/model_file.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/summed_file.h"
#include "engine/cluster/shared_summed_file.h"
#include "engine/crosses/feature_transform.h"
#include "engine/model/model_checks.h"
#include "engine/model/model_matrices.h"
#include "engine/model/model_sections.h"
#include "engine/model/packed_sections.h"
#include "engine/model/run_paths.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {

constexpr std::uint64_t kSummedAfterwards = std::uint64_t{1} << 28;  // bytes

constexpr std::uint32_t kFlagOptimizer = 1;
constexpr std::uint32_t kFlagWide = 2;
constexpr std::uint32_t kFlagText = 4;
constexpr std::uint32_t kFlagFactors = 8;
constexpr std::uint32_t kFlagNeighbours = 16;
constexpr std::uint32_t kFlagBf16 = 32;  // quantized forms
constexpr std::uint32_t kFlagInt8 = 64;
constexpr std::uint32_t kFlagUnseenRuns = 128;
constexpr std::uint32_t kFlagDense = 256;
constexpr std::uint32_t kFlagCrosses = 512;
constexpr std::uint32_t kFlagFeatureWeights = 1024;
constexpr std::uint32_t kFlagThresholds = 2048;
constexpr std::uint32_t kFlagCalibration = 4096;
// Each model gets the oldest version that supports its content, for compatibility with older programs.
constexpr std::uint32_t kPlainVersion = 4, kSmallVersion = 5, kDenseVersion = 6, kLabelTextVersion = 7,
                        kPairsVersion = 9, kFeatureWeightsVersion = 10, kThresholdsVersion = 11,
                        kCalibrationVersion = 12;

// ---- writing ----

// The optimizer state to write, or nullptr.
const OptimizerState* state_of(const ModelParts& model) {
  const bool plain = model.form == ModelForm::kPlain;
  return model.config.train.save_optimizer && plain ? model.optimizer : nullptr;
}

std::uint32_t flag_of(ModelForm form) {
  return form == ModelForm::kBf16 ? kFlagBf16 : form == ModelForm::kInt8 ? kFlagInt8 : 0;
}

// Learnt feature weights of the kNN prediction.
std::span<const std::uint16_t> similarity_of(const ModelParts& model) {
  if (model.trained.neighbours == nullptr) return {};
  return model.trained.neighbours->storage().feature_weights;
}

// A bit for each optional section that the model has, and the bits of its form.
std::uint32_t flags_of(const ModelParts& model) {
  const Network& network = model.trained.network;
  const std::pair<bool, std::uint32_t> sections[] = {
      {state_of(model) != nullptr, kFlagOptimizer},
      {linear_term_of(network.output()) != nullptr, kFlagWide},
      {model.text != nullptr, kFlagText},
      {!scale_of(network).factors().empty(), kFlagFactors},
      {model.trained.neighbours != nullptr, kFlagNeighbours},
      {!model.unseen_runs.empty(), kFlagUnseenRuns},
      {model.shape.dense > 0, kFlagDense},
      {model.shape.crosses > 0, kFlagCrosses},
      {!similarity_of(model).empty(), kFlagFeatureWeights},
      {model.thresholds != nullptr, kFlagThresholds},
      {model.trained.calibration.has_value(), kFlagCalibration},
  };
  std::uint32_t flags = flag_of(model.form);
  for (const auto& [is_there, flag] : sections) flags |= is_there ? flag : 0;
  return flags;
}

std::uint32_t version_of(const ModelParts& model) {
  if (model.trained.calibration) return kCalibrationVersion;
  if (model.thresholds != nullptr) return kThresholdsVersion;
  if (!similarity_of(model).empty()) return kFeatureWeightsVersion;
  if (model.shape.crosses > 0) return kPairsVersion;
  if (model.shape.dense > 0) return kDenseVersion;
  const Neighbours* neighbours = model.trained.neighbours;
  if (neighbours != nullptr && neighbours->samples() > model.shape.samples) return kLabelTextVersion;
  return model.form == ModelForm::kPlain ? kPlainVersion : kSmallVersion;
}

void put_shape(ByteWriter& out, const DataShape& shape) {
  for (const std::uint64_t size : {shape.features, shape.labels, shape.samples}) out.put(size);
  if (shape.dense > 0) out.put<std::uint64_t>(shape.dense);
  out.put_values(shape.label_frequencies);
}

std::vector<LayerHash> hashes_of(const ModelParts& model) {
  if (model.hashes != nullptr) return *model.hashes;
  const Network& network = model.trained.network;
  std::vector<LayerHash> hashes;
  for (std::size_t l = 0; l < network.layers().size(); ++l) {
    const lsh::NeuronIndex* index = network.layers()[l].index();
    hashes.push_back({network.hash_seed(l), index != nullptr ? index->generation() : 0});
  }
  return hashes;
}

void put_hashes(ByteWriter& out, const std::vector<LayerHash>& hashes) {
  out.put<std::uint64_t>(hashes.size());
  for (const LayerHash& hash : hashes) {
    out.put(hash.seed);
    out.put(hash.generation);
  }
}

// The stored configuration: without threads and without paths of the previous model or pretrained vectors, so
// that a model does not depend on them; layers of quantized forms are bfloat16.
std::string config_of(const ModelParts& model) {
  Config stored = model.config;
  stored.train.threads = 0;
  stored.train.init.clear();
  stored.train.vectors.clear();
  if (model.form != ModelForm::kPlain) stored.train.weights = Precision::kBf16;
  return to_toml(stored);
}

void put_sparse(ByteWriter& out, const ModelParts& model, const OptimizerState* state) {
  const LinearTerm* wide = linear_term_of(model.trained.network.output());
  const Neighbours* neighbours = model.trained.neighbours;
  const bool plain = model.form == ModelForm::kPlain;
  if (wide != nullptr) plain ? put_wide(out, *wide, state) : put_packed_wide(out, *wide, model.form);
  put_factors(out, scale_of(model.trained.network));
  if (neighbours != nullptr)
    plain ? put_neighbours(out, *neighbours) : put_packed_neighbours(out, *neighbours, model.form);
  out.put_values(similarity_of(model));
}

// `text`: bytes of the text model, or empty.
void put_contents(ByteWriter& out, const ModelParts& model, const std::string& text,
                  std::uint64_t file_bytes) {
  const Network& network = model.trained.network;
  const OptimizerState* state = state_of(model);
  out.write(kModelMagic);
  out.put<std::uint32_t>(version_of(model));
  out.put<std::uint32_t>(flags_of(model));
  out.put<std::uint64_t>(file_bytes);
  out.put<std::uint64_t>(model.steps);
  const std::string config = config_of(model);
  out.put_array(config.data(), config.size());
  put_shape(out, model.shape);
  put_crosses(out, crosses_of(network));
  put_hashes(out, hashes_of(model));
  put_matrices(out, network, state, model.form);
  put_sparse(out, model, state);
  if (model.text != nullptr) out.put_array(text.data(), text.size());
  out.put_values(model.unseen_runs);
  if (model.thresholds != nullptr) put_thresholds(out, *model.thresholds);
  if (model.trained.calibration) put_calibration(out, *model.trained.calibration);
}

// ---- reading ----

Config get_config(ByteReader& in, const std::string& path, std::vector<std::string>& notes) {
  const std::string text(in.take(in.get<std::uint64_t>()));
  return parse_stored_config(text, path + " (configuration)", notes);
}

DataShape get_shape(ByteReader& in, std::uint32_t flags) {
  DataShape shape;
  shape.features = in.get<std::uint64_t>();
  shape.labels = in.get<std::uint64_t>();
  shape.samples = in.get<std::uint64_t>();
  if (shape.features == 0 || shape.features > UINT32_MAX) in.refuse("impossible number of features");
  if ((flags & kFlagDense) != 0) {
    shape.dense = in.get<std::uint64_t>();
    if (shape.dense == 0 || shape.dense > shape.features) in.refuse("impossible number of dense features");
  }
  if (shape.labels == 0 || shape.labels > in.left() / sizeof(std::uint32_t))
    in.refuse("impossible number of labels");
  in.get_vector(shape.label_frequencies, shape.labels);
  // The first layer has a weight of each.
  if (shape.features > in.left()) in.refuse("features beyond its length");
  return shape;
}

FeatureCrosses get_shape_crosses(ByteReader& in, std::uint32_t flags, DataShape& shape) {
  if ((flags & kFlagCrosses) == 0) return {};
  FeatureCrosses crosses = get_crosses(in, shape.features);
  shape.crosses = crosses.size();
  return crosses;
}

std::vector<LayerHash> get_hashes(ByteReader& in) {
  std::vector<LayerHash> hashes(in.get_count(2 * sizeof(std::uint64_t), "layers beyond its length"));
  for (LayerHash& hash : hashes) {
    hash.seed = in.get<std::uint64_t>();
    hash.generation = in.get<std::uint64_t>();
  }
  return hashes;
}

// Checks that the flags agree with the configuration.
void check_flag(std::uint32_t flags, std::uint32_t flag, bool configured, const char* what,
                const ByteReader& in) {
  if (((flags & flag) != 0) != configured) in.refuse(what);
}

ModelForm get_form(std::uint32_t flags, const Config& config, const ByteReader& in) {
  const bool bf16 = (flags & kFlagBf16) != 0, int8 = (flags & kFlagInt8) != 0;
  if (!bf16 && !int8) return ModelForm::kPlain;
  if (bf16 == int8 || (flags & kFlagOptimizer) != 0 || config.train.weights != Precision::kBf16)
    in.refuse("a small form that contradicts itself");
  return bf16 ? ModelForm::kBf16 : ModelForm::kInt8;
}

void get_linear_term(ByteReader& in, StoredState stored, ModelForm form, Network& network,
                     OptimizerState& state, ModelBytes& bytes) {
  const std::uint64_t left = in.left();
  auto wide =
      form == ModelForm::kPlain ? get_wide(in, network, stored, state) : get_packed_wide(in, network, form);
  const std::uint64_t own = stored == StoredState::kNone ? 0 : wide->weights() * sizeof(float);
  bytes.optimizer += own;
  bytes.wide = left - in.left() - own;
  network.output().set_term(std::move(wide));
}

// Reads the network's own sections into `network`, and with kRead the optimizer's state.
void get_network(ByteReader& in, std::uint32_t flags, StoredState stored, Network& network,
                 OptimizerState& state, ModelBytes& bytes) {
  const Config& config = network.config();
  const ModelForm form = get_form(flags, config, in);
  const std::uint64_t left = in.left();
  bytes.optimizer = get_matrices(in, stored, form, network, state);
  bytes.weights = left - in.left() - bytes.optimizer;
  check_flag(flags, kFlagWide, config.layers.back().wide, "wide weights against its configuration", in);
  if (config.layers.back().wide) get_linear_term(in, stored, form, network, state, bytes);
  check_flag(flags, kFlagFactors, config.data.idf_power != 0, "factors of features against its configuration",
             in);
  if (config.data.idf_power != 0) set_scale(network, get_factors(in, config.data, network.sample_features()));
}

std::shared_ptr<const TextModel> get_text(ByteReader& in, const Model& model, const std::string& path) {
  auto text = TextModel::from_bytes(in.take(in.get<std::uint64_t>()), model.config.text, path);
  const DataShape& shape = model.shape;
  if (text->feature_count() > shape.features - shape.dense || text->label_count() != shape.labels)
    in.refuse("a vocabulary of another size");
  if (const std::size_t neurons = model.network.labels(); neurons != shape.labels)
    fail_input("{}: {} output neurons, but names of {} labels; train anew with layer.-1.size=0", path,
               neurons, shape.labels);
  return text;
}

// The shard of the network that this process holds.
Network share_of(const Config& config, const DataShape& shape, const Cluster& cluster) {
  const std::size_t depth = config.layers.size();
  if (depth > 2 || (depth == 2 && config.layers.front().kind == LayerKind::kSampled))
    fail_input("several processes share networks of one dense hidden layer at most; start one");
  const std::size_t size = config.layers.back().size, neurons = size == 0 ? shape.labels : size;
  return {config, shape,
          even_parts(shape.inputs(), neurons, static_cast<std::size_t>(cluster.rank()),
                     static_cast<std::size_t>(cluster.size()))};
}

// The kNN index, where the model has one, with its feature weights.
std::optional<Neighbours> get_knn(ByteReader& in, std::uint32_t flags, const Model& model) {
  const NeighbourConfig& config = model.config.neighbours;
  check_flag(flags, kFlagNeighbours, config.share > 0, "neighbours against its configuration", in);
  if ((flags & kFlagNeighbours) == 0) return std::nullopt;
  std::optional<Neighbours> neighbours = model.form == ModelForm::kPlain
                                             ? get_neighbours(in, config, model.shape)
                                             : get_packed_neighbours(in, config, model.shape, model.form);
  if ((flags & kFlagFeatureWeights) != 0)
    neighbours->set_feature_weights(get_feature_weights(in, model.shape));
  return neighbours;
}

// What the model knows of its labels: runs without a sample, thresholds, calibration.
void get_label_sections(ByteReader& in, std::uint32_t flags, Model& model) {
  if ((flags & kFlagUnseenRuns) != 0) in.get_vector(model.unseen_runs, model.shape.labels);
  if ((flags & kFlagThresholds) != 0) model.thresholds = get_thresholds(in, model.shape.labels);
  if ((flags & kFlagCalibration) == 0) return;
  if (is_normalised(model.config.loss.kind)) in.refuse("a calibration of log-odds, but loss.kind is softmax");
  model.calibration = get_calibration(in);
}

// The sections that say what the network is like, without its weights.
Model get_empty_model(ByteReader& in, std::uint32_t flags, const std::string& path, const Cluster* cluster) {
  const auto steps = in.get<std::uint64_t>();
  std::vector<std::string> notes;
  Config config = get_config(in, path, notes);
  DataShape shape = get_shape(in, flags);
  FeatureCrosses crosses = get_shape_crosses(in, flags, shape);
  std::vector<LayerHash> hashes = get_hashes(in);
  const ModelForm form = get_form(flags, config, in);
  check_counts(shape, steps, hashes, in);
  check_sizes(config, shape, form, in);
  Network network = cluster != nullptr ? share_of(config, shape, *cluster) : Network(config, shape);
  set_crosses(network, std::move(crosses));
  if (hashes.size() != network.layers().size()) in.refuse("another number of layers");
  return {.config = std::move(config),
          .shape = std::move(shape),
          .steps = steps,
          .has_optimizer_state = (flags & kFlagOptimizer) != 0,
          .hashes = std::move(hashes),
          .network = std::move(network),
          .form = form,
          .notes = std::move(notes)};
}

// Reads everything after the version, in the order of the file; the checksum is verified later.
Model get_model(ByteReader& in, LoadOptimizer optimizer, const std::string& path, const Cluster* cluster) {
  const auto flags = in.get<std::uint32_t>();
  const auto file_bytes = in.get<std::uint64_t>();  // checked before
  if (cluster == nullptr) require_model_room(file_bytes, (flags & kFlagOptimizer) != 0, path);
  Model model = get_empty_model(in, flags, path, cluster);
  const bool state_read = model.has_optimizer_state && optimizer == LoadOptimizer::kYes;
  OptimizerState state;
  get_network(in, flags,
              state_read                  ? StoredState::kRead
              : model.has_optimizer_state ? StoredState::kSkip
                                          : StoredState::kNone,
              model.network, state, model.bytes);
  if (state_read) model.optimizer = std::move(state);
  std::uint64_t left = in.left();
  model.neighbours = get_knn(in, flags, model);
  model.bytes.neighbours = left - in.left();
  left = in.left();
  if ((flags & kFlagText) != 0) model.text = get_text(in, model, path);
  model.bytes.text = left - in.left();
  get_label_sections(in, flags, model);
  if (in.left() != 0) in.refuse("more than its configuration needs");
  return model;
}

// get_model(); where the content is invalid and the checksum is wrong, too, reports the checksum, unless the
// rest of the file is so large that reading it takes long.
Model get_checked_model(SummedReader& in, LoadOptimizer optimizer, const std::string& path,
                        const Cluster* cluster) {
  try {
    return get_model(in, optimizer, path, cluster);
  } catch (const InputError&) {
    if (in.left() <= kSummedAfterwards) in.finish();
    throw;
  }
}

}  // namespace

void save_model(const std::string& path, const ModelParts& model, Cluster* cluster) {
  const std::string text = model.text != nullptr ? model.text->to_bytes() : "";
  // The header contains the length.
  if (cluster != nullptr && cluster->size() > 1) {
    SharedCounter counter(*cluster);
    put_contents(counter, model, text, 0);
    SharedSummedFile out(*cluster, path);
    put_contents(out, model, text, counter.count() + kFooterBytes);
    return out.finish();
  }
  ByteCounter counter;
  put_contents(counter, model, text, 0);
  SummedFile out(path);
  put_contents(out, model, text, counter.count() + kFooterBytes);
  out.finish();
}

Config load_model_config(const std::string& name) {
  const std::string path = model_at(name);
  const OpenedModel opened = open_model(open_model_input(path), path);
  ByteReader& in = *opened.in;
  in.get<std::uint32_t>();  // flags
  in.get<std::uint64_t>();  // length
  in.get<std::uint64_t>();  // steps
  std::vector<std::string> notes;
  return get_config(in, path, notes);
}

void check_model_file(const std::string& name) {
  const std::string path = model_at(name);
  open_model(open_model_input(path), path).in->finish();
}

// finish() verifies the checksum, once everything has been read and checked.
Model load_model(const std::string& name, LoadOptimizer optimizer, const Cluster* cluster) {
  const std::string path = model_at(name);
  const OpenedModel opened = open_model(open_model_input(path), path);
  const bool shared = cluster != nullptr && cluster->size() > 1;
  Model model = get_checked_model(*opened.in, optimizer, path, shared ? cluster : nullptr);
  model.checksum = opened.in->finish();
  model.version = opened.version;
  model.bytes.file = opened.bytes;
  model.path = path;
  return model;
}

}  // namespace slide
