#include "engine/run/model_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/file_bytes.h"
#include "engine/base/error.h"
#include "engine/base/summed_file.h"
#include "engine/run/model_matrices.h"
#include "engine/run/model_sections.h"

namespace slide {

namespace {

constexpr std::uint32_t kFlagOptimizer = 1;
constexpr std::uint32_t kFlagWide = 2;
constexpr std::uint32_t kFlagText = 4;
constexpr std::uint32_t kFlagFactors = 8;
constexpr std::uint32_t kFlagNeighbours = 16;
constexpr std::uint32_t kOldestVersion = 1;
constexpr std::size_t kFlagsAt = 8 + 4;                 // behind magic and version
constexpr std::size_t kHeaderBytes = kFlagsAt + 4 + 8;  // and flags and length

// ---- writing ----

// The state that goes into the file, or nullptr.
const OptimizerState* state_of(const ModelParts& model) {
  return model.config.train.save_optimizer ? model.optimizer : nullptr;
}

std::uint32_t flags_of(const ModelParts& model) {
  const Network& network = model.trained.network;
  return (state_of(model) != nullptr ? kFlagOptimizer : 0) |
         (network.output().wide() != nullptr ? kFlagWide : 0) | (model.text != nullptr ? kFlagText : 0) |
         (network.feature_scale().factors().empty() ? 0 : kFlagFactors) |
         (model.trained.neighbours != nullptr ? kFlagNeighbours : 0);
}

void put_shape(ByteWriter& out, const DataShape& shape) {
  for (const std::uint64_t size : {shape.features, shape.labels, shape.samples}) out.put(size);
  out.put_values(shape.label_frequencies);
}

void put_hashes(ByteWriter& out, const Network& network) {
  const auto& layers = network.layers();
  out.put<std::uint64_t>(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    out.put<std::uint64_t>(network.hash_seed(l));
    out.put<std::uint64_t>(layers[l].index() != nullptr ? layers[l].index()->generation() : 0);
  }
}

// `text`: bytes of the text model, if there is one.
void put_contents(ByteWriter& out, const ModelParts& model, const std::string& text,
                  std::uint64_t file_bytes) {
  const Network& network = model.trained.network;
  const OptimizerState* state = state_of(model);
  out.write(kModelMagic);
  out.put<std::uint32_t>(kModelVersion);
  out.put<std::uint32_t>(flags_of(model));
  out.put<std::uint64_t>(file_bytes);
  out.put<std::uint64_t>(model.steps);
  const std::string config = to_toml(model.config);
  out.put_array(config.data(), config.size());
  put_shape(out, model.shape);
  put_hashes(out, network);
  put_matrices(out, network, state);
  if (network.output().wide() != nullptr) put_wide(out, *network.output().wide(), state);
  put_factors(out, network.feature_scale());
  if (model.trained.neighbours != nullptr) put_neighbours(out, *model.trained.neighbours);
  if (model.text != nullptr) out.put_array(text.data(), text.size());
}

// ---- reading ----

ByteReader reader_of(std::string_view bytes, const std::string& path) {
  return {bytes, path + ": the model is damaged", "copy it again or train again"};
}

// Magic, version, length, checksum, end. Returns the checksum.
std::uint32_t check_envelope(std::string_view bytes, const std::string& path) {
  if (bytes.substr(0, kModelMagic.size()) != kModelMagic.substr(0, std::max<std::size_t>(1, bytes.size()))) {
    fail_input("{}: this is no slide model; name the model.slide that 'slide train' wrote", path);
  }
  if (bytes.size() < kHeaderBytes) {
    fail_input("{}: the model is cut off after {} bytes; copy it again or train again", path, bytes.size());
  }
  ByteReader header = reader_of(bytes.substr(kModelMagic.size()), path);
  const auto version = header.get<std::uint32_t>();
  if (version < kOldestVersion || version > kModelVersion) {
    fail_input("{}: the model has format version {}, this program reads versions {} to {}; train again", path,
               version, kOldestVersion, kModelVersion);
  }
  header.get<std::uint32_t>();  // flags
  const auto length = header.get<std::uint64_t>();
  if (bytes.size() < length) {
    fail_input("{}: the model is cut off: {} of {} bytes; copy it again or train again", path, bytes.size(),
               length);
  }
  if (bytes.size() > length) {
    fail_input("{}: {} bytes follow the model of {}; copy it again or train again", path,
               bytes.size() - length, length);
  }
  if (length < kHeaderBytes + kFooterBytes) header.refuse("too short");
  return check_footer(bytes, header);
}

Config get_config(ByteReader& in, const std::string& path, std::vector<std::string>& notes) {
  const std::string text(in.take(in.get<std::uint64_t>()));
  return parse_stored_config(text, path + " (configuration)", notes);
}

DataShape get_shape(ByteReader& in) {
  DataShape shape;
  shape.features = in.get<std::uint64_t>();
  shape.labels = in.get<std::uint64_t>();
  shape.samples = in.get<std::uint64_t>();
  if (shape.features == 0 || shape.features > UINT32_MAX) in.refuse("impossible number of features");
  if (shape.labels == 0 || shape.labels > in.left() / sizeof(std::uint32_t))
    in.refuse("impossible number of labels");
  in.get_vector(shape.label_frequencies, shape.labels);
  return shape;
}

std::vector<LayerHash> get_hashes(ByteReader& in) {
  std::vector<LayerHash> hashes(in.get_count(2 * sizeof(std::uint64_t), "layers beyond its length"));
  for (LayerHash& hash : hashes) {
    hash.seed = in.get<std::uint64_t>();
    hash.generation = in.get<std::uint64_t>();
  }
  return hashes;
}

// Refuses sizes that the file cannot hold before memory is asked for them.
void check_sizes(const Config& config, const DataShape& shape, const ByteReader& in) {
  double inputs = double(shape.features), weights = 0.0;
  for (const LayerConfig& layer : config.layers) {
    const double size = layer.size == 0 ? double(shape.labels) : double(layer.size);
    weights += (inputs + 1) * size;
    inputs = size;
  }
  const double bytes = config.train.weights == Precision::kBf16 ? 2 : sizeof(float);
  if (weights * bytes > double(in.left())) in.refuse("weights beyond its length");
}

// Which parts the file has must be what its configuration says.
void check_flag(std::uint32_t flags, std::uint32_t flag, bool configured, const char* what,
                const ByteReader& in) {
  if (((flags & flag) != 0) != configured) in.refuse(what);
}

// What is stored by the network itself, into `network`, and of kRead the optimizer's state.
void get_network(ByteReader& in, std::uint32_t flags, StoredState stored, Network& network,
                 OptimizerState& state) {
  const Config& config = network.config();
  get_matrices(in, stored, network, state);
  check_flag(flags, kFlagWide, config.layers.back().wide, "wide weights against its configuration", in);
  if (config.layers.back().wide) network.output().set_wide(get_wide(in, network, stored, state));
  check_flag(flags, kFlagFactors, config.data.idf_power != 0, "factors of features against its configuration",
             in);
  if (config.data.idf_power != 0) network.set_feature_scale(get_factors(in, config.data, network.features()));
}

std::shared_ptr<const TextModel> get_text(ByteReader& in, const Config& config, const DataShape& shape,
                                          const std::string& path) {
  auto text = TextModel::from_bytes(in.take(in.get<std::uint64_t>()), config.text, path);
  if (text->feature_count() > shape.features || text->label_count() != shape.labels)
    in.refuse("a vocabulary of another size");
  return text;
}

}  // namespace

void save_model(const std::string& path, const ModelParts& model) {
  const std::string text = model.text != nullptr ? model.text->to_bytes() : "";
  ByteCounter counter;  // the length stands in the header
  put_contents(counter, model, text, 0);
  SummedFile out(path);
  put_contents(out, model, text, counter.count() + kFooterBytes);
  out.finish();
}

namespace {

void check_exists(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail_input("{}: there is no such model; name the model.slide that 'slide train' wrote", path);
  }
}

Model parse_model(std::string_view bytes, const std::string& path, LoadOptimizer optimizer) {
  const std::uint32_t sum = check_envelope(bytes, path);
  ByteReader in = reader_of(bytes.substr(kFlagsAt, bytes.size() - kFlagsAt - kFooterBytes), path);
  const auto flags = in.get<std::uint32_t>();
  in.get<std::uint64_t>();  // length, checked
  const auto steps = in.get<std::uint64_t>();
  std::vector<std::string> notes;
  Config config = get_config(in, path, notes);
  DataShape shape = get_shape(in);
  std::vector<LayerHash> hashes = get_hashes(in);
  check_sizes(config, shape, in);
  Network network(config, shape);
  if (hashes.size() != network.layers().size()) in.refuse("another number of layers");
  const bool state_stored = (flags & kFlagOptimizer) != 0;
  const bool state_read = state_stored && optimizer == LoadOptimizer::kYes;
  OptimizerState state;
  get_network(in, flags,
              state_read     ? StoredState::kRead
              : state_stored ? StoredState::kSkip
                             : StoredState::kNone,
              network, state);
  check_flag(flags, kFlagNeighbours, config.neighbours.share > 0, "neighbours against its configuration", in);
  std::optional<Neighbours> neighbours;
  if ((flags & kFlagNeighbours) != 0) neighbours = get_neighbours(in, config.neighbours, shape);
  std::shared_ptr<const TextModel> text;
  if ((flags & kFlagText) != 0) text = get_text(in, config, shape, path);
  if (in.left() != 0) in.refuse("more than its configuration needs");
  return {std::move(config),
          std::move(shape),
          steps,
          state_stored,
          std::move(hashes),
          std::move(network),
          state_read ? std::optional(std::move(state)) : std::nullopt,
          std::move(neighbours),
          std::move(text),
          sum,
          std::move(notes)};
}

}  // namespace

Model load_model(const std::string& path, LoadOptimizer optimizer) {
  check_exists(path);
  return parse_model(FileBytes(path).text(), path, optimizer);
}

Model load_model_copied(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return load_model(path);  // never mapped
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_input("{}: cannot be read; check the file and its permissions", path);
  std::string bytes(std::filesystem::file_size(path, error), '\0');
  if (error) fail_input("{}: cannot be read ({})", path, error.message());
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (is_gzip(bytes)) bytes = unpack_gzip(bytes, path);
  return parse_model(bytes, path, LoadOptimizer::kNo);
}

bool looks_like_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  file.read(start, sizeof start);
  return file && std::string_view(start, sizeof start) == kModelMagic;
}

}  // namespace slide
