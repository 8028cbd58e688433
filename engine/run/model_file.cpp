#include "engine/run/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/file_bytes.h"
#include "datasets/unpack.h"
#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/summed_file.h"
#include "engine/cluster/shared_summed_file.h"
#include "engine/run/model_matrices.h"
#include "engine/run/model_sections.h"
#include "engine/run/run_folder.h"

namespace slide {

namespace {

constexpr std::uint32_t kFlagOptimizer = 1;
constexpr std::uint32_t kFlagWide = 2;
constexpr std::uint32_t kFlagText = 4;
constexpr std::uint32_t kFlagFactors = 8;
constexpr std::uint32_t kFlagNeighbours = 16;
constexpr std::uint32_t kFlagIdle = 128;
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
         (model.trained.neighbours != nullptr ? kFlagNeighbours : 0) | (model.idle.empty() ? 0 : kFlagIdle);
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
  Config stored = model.config;
  stored.train.threads = 0;   // a model does not depend on it,
  stored.train.init.clear();  // nor on where the one before lay
  const std::string config = to_toml(stored);
  out.put_array(config.data(), config.size());
  put_shape(out, model.shape);
  put_hashes(out, network);
  put_matrices(out, network, state);
  if (network.output().wide() != nullptr) put_wide(out, *network.output().wide(), state);
  put_factors(out, network.feature_scale());
  if (model.trained.neighbours != nullptr) put_neighbours(out, *model.trained.neighbours);
  if (model.text != nullptr) out.put_array(text.data(), text.size());
  out.put_values(model.idle);
}

// ---- reading ----

struct ModelInput {
  Descriptor file;
  std::uint64_t bytes;
};

// The bytes of a pipe, or what a packed file unpacks to, as a file.
ModelInput file_of_stream(const std::string& path) {
  const FileBytes stream(path);
  ModelInput input{Descriptor(memfd_create("model", MFD_CLOEXEC)), stream.text().size()};
  const auto fail = [&] { fail_run("{}: it cannot be held ({})", path, std::strerror(errno)); };
  if (!input.file.is_open()) fail();
  for (std::string_view rest = stream.text(); !rest.empty();) {
    const ssize_t written = write(input.file.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return input;
}

ModelInput open_model(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 && errno == ENOENT) {
    fail_input("{}: there is no such model; name the folder of a run of 'slide train', or its model.slide",
               path);
  }
  if (!S_ISREG(status.st_mode)) return file_of_stream(path);
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    fail_input("{}: cannot be opened ({}); check the path and its permissions", path, std::strerror(errno));
  }
  std::array<char, kPackedMagicBytes> start{};
  const ssize_t got = read_at(file.get(), start.data(), start.size(), 0);
  if (got == static_cast<ssize_t>(start.size()) && is_packed({start.data(), start.size()}))
    return file_of_stream(path);
  return {std::move(file), static_cast<std::uint64_t>(status.st_size)};
}

// Magic, version, length of a file that begins with `header`.
void check_envelope(std::string_view header, std::uint64_t bytes, const std::string& path) {
  if (header.substr(0, kModelMagic.size()) !=
      kModelMagic.substr(0, std::max<std::size_t>(1, header.size()))) {
    fail_input(
        "{}: this is no slide model; the model comes first: name the folder of a run, or its model.slide",
        path);
  }
  if (header.size() < kHeaderBytes) {
    fail_input("{}: the model is cut off after {} bytes; copy it again or train again", path, bytes);
  }
  ByteReader in(header.substr(kModelMagic.size()), "", "");
  const auto version = in.get<std::uint32_t>();
  if (version < kOldestVersion || version > kModelVersion) {
    fail_input("{}: the model has format version {}, this program reads versions {} to {}; train again", path,
               version, kOldestVersion, kModelVersion);
  }
  in.get<std::uint32_t>();  // flags
  const auto length = in.get<std::uint64_t>();
  if (bytes < length) {
    fail_input("{}: the model is cut off: {} of {} bytes; copy it again or train again", path, bytes, length);
  }
  if (bytes > length) {
    fail_input("{}: {} bytes follow the model of {}; copy it again or train again", path, bytes - length,
               length);
  }
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

// What a process of several holds of the network.
Network share_of(const Config& config, const DataShape& shape, const Cluster& cluster) {
  const std::size_t depth = config.layers.size();
  if (depth > 2 || (depth == 2 && config.layers.front().kind == LayerKind::kSampled))
    fail_input("several processes share networks of one dense hidden layer at most; start one");
  const std::size_t size = config.layers.back().size, neurons = size == 0 ? shape.labels : size;
  return {config, shape,
          even_parts(shape.features, neurons, static_cast<std::size_t>(cluster.rank()),
                     static_cast<std::size_t>(cluster.size()))};
}

// What stands behind the version. The checksum is left to fill in.
Model get_model(ByteReader& in, LoadOptimizer optimizer, const std::string& path, const Cluster* cluster) {
  const auto flags = in.get<std::uint32_t>();
  in.get<std::uint64_t>();  // length, checked
  const auto steps = in.get<std::uint64_t>();
  std::vector<std::string> notes;
  Config config = get_config(in, path, notes);
  DataShape shape = get_shape(in);
  std::vector<LayerHash> hashes = get_hashes(in);
  check_sizes(config, shape, in);
  Network network = cluster != nullptr ? share_of(config, shape, *cluster) : Network(config, shape);
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
  std::vector<std::uint32_t> idle;
  if ((flags & kFlagIdle) != 0) in.get_vector(idle, shape.labels);
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
          std::move(idle),
          0,
          std::move(notes)};
}

// The same, where a wrong checksum is why something does not fit, saying so.
Model get_checked_model(SummedReader& in, LoadOptimizer optimizer, const std::string& path,
                        const Cluster* cluster) {
  try {
    return get_model(in, optimizer, path, cluster);
  } catch (const InputError&) {
    in.finish();
    throw;
  }
}

}  // namespace

void save_model(const std::string& path, const ModelParts& model, Cluster* cluster) {
  const std::string text = model.text != nullptr ? model.text->to_bytes() : "";
  // The length stands in the header.
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

namespace {

// The file behind magic and version.
std::unique_ptr<SummedReader> read_model(const std::string& path) {
  ModelInput input = open_model(path);
  std::array<char, kHeaderBytes> header{};
  const ssize_t got = read_at(input.file.get(), header.data(), header.size(), 0);
  if (got < 0) fail_input("{}: cannot be read ({}); check the file and its disk", path, std::strerror(errno));
  check_envelope({header.data(), static_cast<std::size_t>(got)}, input.bytes, path);
  auto in = std::make_unique<SummedReader>(std::move(input.file), input.bytes,
                                           path + ": the model is damaged", "copy it again or train again");
  in->skip(kFlagsAt);
  return in;
}

}  // namespace

Config load_model_config(const std::string& name) {
  const std::string path = model_at(name);
  const std::unique_ptr<SummedReader> reader = read_model(path);
  ByteReader& in = *reader;
  in.get<std::uint32_t>();  // flags
  in.get<std::uint64_t>();  // length
  in.get<std::uint64_t>();  // steps
  std::vector<std::string> notes;
  return get_config(in, path, notes);
}

Model load_model(const std::string& name, LoadOptimizer optimizer, const Cluster* cluster) {
  const std::string path = model_at(name);
  const std::unique_ptr<SummedReader> in = read_model(path);
  const bool shared = cluster != nullptr && cluster->size() > 1;
  Model model = get_checked_model(*in, optimizer, path, shared ? cluster : nullptr);
  model.checksum = in->finish();
  return model;
}

bool looks_like_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  file.read(start, sizeof start);
  return file && std::string_view(start, sizeof start) == kModelMagic;
}

}  // namespace slide
