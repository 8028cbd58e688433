#include "engine/run/model_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include "datasets/file_bytes.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/kernels/bf16.h"

namespace slide {

namespace {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

constexpr std::string_view kEndMarker = "SLIDEEND";
constexpr std::uint32_t kFlagOptimizer = 1;
constexpr std::uint32_t kFlagWide = 2;
constexpr std::uint32_t kFlagText = 4;
constexpr std::uint32_t kFlagFactors = 8;
constexpr std::uint32_t kFlagNeighbours = 16;
constexpr std::uint32_t kOldestVersion = 1;
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + 8;  // magic, version, flags, length
constexpr std::size_t kFooterBytes = 4 + 8;          // checksum, end marker
constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::uint32_t checksum(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

// ---- writing ----

// Where bytes go: only counted at first, because the length stands in the header, then written and summed.
class Writer {
 public:
  explicit Writer(AtomicFile* file) : file_(file) {}

  void put_bytes(std::string_view bytes) {
    length_ += bytes.size();
    if (file_ == nullptr) return;
    buffer_.append(bytes);
    if (buffer_.size() >= kBufferBytes) flush();
  }
  template <class T>
  void put(T value) {
    put_array(&value, 1);
  }
  template <class T>
  void put_array(const T* values, std::size_t count) {
    static_assert(std::is_arithmetic_v<T>);
    put_bytes({reinterpret_cast<const char*>(values), count * sizeof(T)});
  }
  void flush() {
    crc_ = checksum(crc_, buffer_);
    file_->write(buffer_);
    buffer_.clear();
  }

  std::uint64_t length() const { return length_; }
  std::uint32_t crc() const { return crc_; }

 private:
  AtomicFile* file_;
  std::string buffer_;
  std::uint64_t length_ = 0;
  std::uint32_t crc_ = 0;
};

// A matrix without the padding of its rows.
void put_rows(Writer& out, const Parameters& matrix, const AlignedArray<float>& values) {
  if (values.size() != matrix.rows * matrix.stride || matrix.stride == matrix.columns) {
    out.put_array(values.data(), values.size());
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r)
    out.put_array(values.data() + r * matrix.stride, matrix.columns);
}

// Numbers that a state array holds in the file.
std::uint64_t stored_count(const Parameters& matrix, const AlignedArray<float>& values) {
  return values.size() == matrix.rows * matrix.stride ? matrix.rows * matrix.columns : values.size();
}

// `state`: of the matrix; nullptr: none goes into the file.
void put_matrix(Writer& out, const Parameters& matrix, const MatrixState* state) {
  out.put<std::uint64_t>(matrix.rows);
  out.put<std::uint64_t>(matrix.columns);
  if (matrix.half()) {
    out.put_array(matrix.pairs.data(), matrix.pairs.size());
  } else {
    put_rows(out, matrix, matrix.weights);
  }
  if (state == nullptr) return;
  for (const AlignedArray<float>* array : {&state->first, &state->second}) {
    out.put<std::uint64_t>(stored_count(matrix, *array));
    put_rows(out, matrix, *array);
  }
  out.put<std::uint64_t>(state->steps.size());
  out.put_array(state->steps.data(), state->steps.size());
}

void put_wide(Writer& out, const WidePath& wide, const OptimizerState* state) {
  out.put<std::uint64_t>(wide.weights());
  out.put_array(wide.storage().offsets.data(), wide.storage().offsets.size());
  out.put_array(wide.storage().features.data(), wide.storage().features.size());
  out.put_array(wide.storage().weights.data(), wide.storage().weights.size());
  if (state != nullptr) out.put_array(state->wide.data(), state->wide.size());
}

void put_neighbours(Writer& out, const Neighbours::Storage& kept) {
  out.put<std::uint64_t>(kept.samples());
  out.put<std::uint64_t>(kept.features.size());
  out.put<std::uint64_t>(kept.labels.size());
  out.put_array(kept.feature_offsets.data(), kept.feature_offsets.size());
  out.put_array(kept.label_offsets.data(), kept.label_offsets.size());
  out.put_array(kept.features.data(), kept.features.size());
  out.put_array(kept.labels.data(), kept.labels.size());
  out.put_array(kept.values.data(), kept.values.size());
}

// `text`: bytes of the text model, or none.
void put_contents(Writer& out, const ModelParts& model, std::string_view text, std::uint64_t file_bytes) {
  const Network& network = model.trained.network;
  const Neighbours* neighbours = model.trained.neighbours;
  const OptimizerState* state = model.config.train.save_optimizer ? model.optimizer : nullptr;
  out.put_bytes(kModelMagic);
  out.put<std::uint32_t>(kModelVersion);
  const WidePath* wide = network.output().wide();
  const std::span<const float> factors = network.feature_scale().factors();
  out.put<std::uint32_t>((state != nullptr ? kFlagOptimizer : 0) | (wide != nullptr ? kFlagWide : 0) |
                         (text.empty() ? 0 : kFlagText) | (factors.empty() ? 0 : kFlagFactors) |
                         (neighbours != nullptr ? kFlagNeighbours : 0));
  out.put<std::uint64_t>(file_bytes);
  out.put<std::uint64_t>(model.steps);
  const std::string config = to_toml(model.config);
  out.put<std::uint64_t>(config.size());
  out.put_bytes(config);
  const DataShape& shape = model.shape;
  for (const std::uint64_t size : {shape.features, shape.labels, shape.samples}) out.put(size);
  out.put_array(shape.label_frequencies.data(), shape.label_frequencies.size());
  const auto& layers = network.layers();
  out.put<std::uint64_t>(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) {
    out.put<std::uint64_t>(network.hash_seed(l));
    out.put<std::uint64_t>(layers[l].index() != nullptr ? layers[l].index()->generation() : 0);
  }
  const std::vector<const Parameters*> matrices = network.matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m)
    put_matrix(out, *matrices[m], state != nullptr ? &state->matrices[m] : nullptr);
  if (wide != nullptr) put_wide(out, *wide, state);
  out.put_array(factors.data(), factors.size());
  if (neighbours != nullptr) put_neighbours(out, neighbours->storage());
  if (text.empty()) return;
  out.put<std::uint64_t>(text.size());
  out.put_bytes(text);
}

// ---- reading ----

[[noreturn]] void fail_damaged(const std::string& path, const char* what) {
  fail_input("{}: the model is damaged ({}); copy it again or train again", path, what);
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& path) : rest_(bytes), path_(path) {}

  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) fail_damaged(path_, "its parts do not fit its length");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  template <class T>
  T get() {
    T value;
    get_array(&value, 1);
    return value;
  }
  template <class T>
  void get_array(T* values, std::size_t count) {
    const std::string_view bytes = take(std::uint64_t{count} * sizeof(T));
    if (!bytes.empty()) std::memcpy(values, bytes.data(), bytes.size());
  }
  // A number that must be `expected`.
  void expect(std::uint64_t expected, const char* what) {
    if (get<std::uint64_t>() != expected) fail_damaged(path_, what);
  }
  std::size_t left() const { return rest_.size(); }
  const std::string& path() const { return path_; }

 private:
  std::string_view rest_;
  const std::string& path_;
};

// Magic, version, length, checksum, end.
// Returns the checksum.
std::uint32_t check_envelope(std::string_view bytes, const std::string& path) {
  if (bytes.substr(0, kModelMagic.size()) != kModelMagic.substr(0, std::max<std::size_t>(1, bytes.size()))) {
    fail_input("{}: this is no slide model; name the model.slide that 'slide train' wrote", path);
  }
  if (bytes.size() < kHeaderBytes) {
    fail_input("{}: the model is cut off after {} bytes; copy it again or train again", path, bytes.size());
  }
  Reader header(bytes.substr(kModelMagic.size()), path);
  const auto version = header.get<std::uint32_t>();
  if (version < kOldestVersion || version > kModelVersion) {
    fail_input("{}: the model has format version {}, this program reads versions {} to {}; train again", path,
               version, kOldestVersion, kModelVersion);
  }
  header.get<std::uint32_t>();
  const auto length = header.get<std::uint64_t>();
  if (bytes.size() < length) {
    fail_input("{}: the model is cut off: {} of {} bytes; copy it again or train again", path, bytes.size(),
               length);
  }
  if (bytes.size() > length) {
    fail_input("{}: {} bytes follow the model of {}; copy it again or train again", path,
               bytes.size() - length, length);
  }
  if (length < kHeaderBytes + kFooterBytes) fail_damaged(path, "too short");
  if (!bytes.ends_with(kEndMarker)) fail_damaged(path, "no end marker");
  const std::string_view summed = bytes.substr(0, bytes.size() - kFooterBytes);
  Reader footer(bytes.substr(summed.size()), path);
  const auto sum = footer.get<std::uint32_t>();
  if (sum != checksum(0, summed)) fail_damaged(path, "wrong checksum");
  return sum;
}

DataShape get_shape(Reader& in) {
  DataShape shape;
  shape.features = in.get<std::uint64_t>();
  shape.labels = in.get<std::uint64_t>();
  shape.samples = in.get<std::uint64_t>();
  if (shape.features == 0 || shape.features > UINT32_MAX)
    fail_damaged(in.path(), "impossible number of features");
  if (shape.labels == 0 || shape.labels > in.left() / sizeof(std::uint32_t))
    fail_damaged(in.path(), "impossible number of labels");
  shape.label_frequencies.resize(shape.labels);
  in.get_array(shape.label_frequencies.data(), shape.labels);
  return shape;
}

std::vector<LayerHash> get_hashes(Reader& in) {
  const auto count = in.get<std::uint64_t>();
  if (count > in.left() / sizeof(LayerHash)) fail_damaged(in.path(), "layers beyond its length");
  std::vector<LayerHash> hashes(count);
  for (LayerHash& hash : hashes) {
    hash.seed = in.get<std::uint64_t>();
    hash.generation = in.get<std::uint64_t>();
  }
  return hashes;
}

// Refuses sizes that the file cannot hold before memory is asked for them.
void check_sizes(const Config& config, const DataShape& shape, const Reader& in) {
  double inputs = double(shape.features), floats = 0.0;
  for (const LayerConfig& layer : config.layers) {
    const double size = layer.size == 0 ? double(shape.labels) : double(layer.size);
    floats += (inputs + 1) * size;
    inputs = size;
  }
  const double bytes = config.train.weights == Precision::kBf16 ? 2 : sizeof(float);
  if (floats * bytes > double(in.left())) fail_damaged(in.path(), "weights beyond its length");
}

void get_rows(Reader& in, const Parameters& matrix, AlignedArray<float>& values) {
  if (values.size() != matrix.rows * matrix.stride || matrix.stride == matrix.columns) {
    in.get_array(values.data(), values.size());
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r)
    in.get_array(values.data() + r * matrix.stride, matrix.columns);
}

void get_state(Reader& in, const Parameters& matrix, MatrixState& state) {
  for (AlignedArray<float>* array : {&state.first, &state.second}) {
    in.expect(stored_count(matrix, *array), "optimizer state of another size");
    get_rows(in, matrix, *array);
  }
  in.expect(state.steps.size(), "optimizer state of another size");
  in.get_array(state.steps.data(), state.steps.size());
}

void skip_state(Reader& in) {
  for (int array = 0; array < 3; ++array) {
    const auto count = in.get<std::uint64_t>();
    if (count > in.left() / sizeof(float)) fail_damaged(in.path(), "optimizer state beyond its length");
    in.take(count * sizeof(float));
  }
}

void get_matrix(Reader& in, Parameters& matrix) {
  in.expect(matrix.rows, "a matrix of another size");
  in.expect(matrix.columns, "a matrix of another size");
  if (matrix.half()) {
    in.get_array(matrix.pairs.data(), matrix.pairs.size());
  } else {
    get_rows(in, matrix, matrix.weights);
  }
}

// Neurons' patterns follow each other and name features that there are.
void check_wide(const WidePath& wide, std::size_t features, const std::string& path) {
  bool good = wide.storage().offsets.front() == 0 && wide.storage().offsets.back() == wide.weights() &&
              std::is_sorted(wide.storage().offsets.begin(), wide.storage().offsets.end());
  for (const std::uint32_t feature : wide.storage().features) good = good && feature < features;
  if (!good) fail_damaged(path, "impossible wide weights");
}

std::unique_ptr<WidePath> get_wide(Reader& in, const Network& network) {
  auto wide = std::make_unique<WidePath>(network.output().config());
  const auto count = in.get<std::uint64_t>();
  if (count > in.left() / (sizeof(float) + sizeof(std::uint32_t)))
    fail_damaged(in.path(), "impossible wide weights");
  wide->storage().offsets.resize(network.output().size() + 1);
  wide->storage().features.resize(count);
  wide->storage().weights.resize(count);
  in.get_array(wide->storage().offsets.data(), wide->storage().offsets.size());
  in.get_array(wide->storage().features.data(), count);
  in.get_array(wide->storage().weights.data(), count);
  check_wide(*wide, network.features(), in.path());
  return wide;
}

FeatureScale get_factors(Reader& in, const Config& config, std::size_t features) {
  if (features > in.left() / sizeof(float)) fail_damaged(in.path(), "factors of features beyond its length");
  std::vector<float> factors(features);
  in.get_array(factors.data(), features);
  for (const float factor : factors) {
    if (!std::isfinite(factor) || factor <= 0) fail_damaged(in.path(), "impossible factors of features");
  }
  return FeatureScale(std::move(factors), config.data.normalize);
}

// Whether the offsets part all ids into lists, each ascending and below `bound`.
bool good_lists(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids,
                std::size_t bound) {
  if (offsets.front() != 0 || offsets.back() != ids.size() || !std::ranges::is_sorted(offsets)) return false;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto own = ids.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    if (std::ranges::adjacent_find(own, std::ranges::greater_equal()) != own.end() ||
        (!own.empty() && own.back() >= bound))
      return false;
  }
  return true;
}

Neighbours get_neighbours(Reader& in, const Config& config, const DataShape& shape) {
  const auto samples = in.get<std::uint64_t>(), features = in.get<std::uint64_t>(),
             labels = in.get<std::uint64_t>();
  if (samples > std::min<std::uint64_t>(shape.samples, in.left() / (2 * sizeof(std::uint64_t))) ||
      features > in.left() / (sizeof(std::uint32_t) + sizeof(std::uint16_t)) ||
      labels > in.left() / sizeof(std::uint32_t))
    fail_damaged(in.path(), "neighbours beyond its length");
  Neighbours::Storage kept;
  kept.feature_offsets.resize(samples + 1);
  kept.label_offsets.resize(samples + 1);
  kept.features.resize(features);
  kept.labels.resize(labels);
  kept.values.resize(features);
  in.get_array(kept.feature_offsets.data(), kept.feature_offsets.size());
  in.get_array(kept.label_offsets.data(), kept.label_offsets.size());
  in.get_array(kept.features.data(), kept.features.size());
  in.get_array(kept.labels.data(), kept.labels.size());
  in.get_array(kept.values.data(), kept.values.size());
  const auto good = [](std::uint16_t half) {
    const float size = std::fabs(kernels::from_half(half));
    return size >= 0.5f * Neighbours::kLeastValue && size < 2.0f;
  };
  if (!good_lists(kept.feature_offsets, kept.features, shape.features) ||
      !good_lists(kept.label_offsets, kept.labels, shape.labels) || !std::ranges::all_of(kept.values, good))
    fail_damaged(in.path(), "impossible neighbours");
  return Neighbours(config.neighbours, std::move(kept), shape.features);
}

}  // namespace

void Model::build_tables(int threads) {
  for (std::size_t l = 0; l < hashes.size(); ++l) {
    Layer& layer = network.layers()[l];
    if (hashes[l].generation == 0 || layer.index() != nullptr) continue;
    layer.rebuild_index(hashes[l].seed, hashes[l].generation, threads);
  }
}

void save_model(const std::string& path, const ModelParts& model) {
  const std::string text = model.text != nullptr ? model.text->to_bytes() : "";
  Writer counter(nullptr);
  put_contents(counter, model, text, 0);
  AtomicFile file(path);
  Writer out(&file);
  put_contents(out, model, text, counter.length() + kFooterBytes);
  out.flush();
  out.put<std::uint32_t>(out.crc());
  out.put_bytes(kEndMarker);
  out.flush();
  file.finish();
}

Model load_model(const std::string& path, LoadOptimizer optimizer) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    fail_input("{}: there is no such model; name the model.slide that 'slide train' wrote", path);
  }
  const FileBytes file(path);
  const std::string_view bytes = file.text();
  const std::uint32_t sum = check_envelope(bytes, path);
  Reader in(bytes.substr(kModelMagic.size() + 4, bytes.size() - kModelMagic.size() - 4 - kFooterBytes), path);
  const auto flags = in.get<std::uint32_t>();
  const bool state_stored = (flags & kFlagOptimizer) != 0;
  in.get<std::uint64_t>();  // length, checked
  const auto steps = in.get<std::uint64_t>();
  const std::string text(in.take(in.get<std::uint64_t>()));
  Config config = parse_config(text, path + " (configuration)");
  DataShape shape = get_shape(in);
  std::vector<LayerHash> hashes = get_hashes(in);
  check_sizes(config, shape, in);
  Network network(config, shape);
  if (hashes.size() != network.layers().size()) fail_damaged(path, "another number of layers");
  std::optional<OptimizerState> state;
  if (state_stored && optimizer == LoadOptimizer::kYes) state.emplace();
  for (Parameters* matrix : network.matrices()) {
    get_matrix(in, *matrix);
    if (state) {
      get_state(in, *matrix, state->matrices.emplace_back(*matrix, config.optimizer.kind));
    } else if (state_stored) {
      skip_state(in);
    }
  }
  if (((flags & kFlagWide) != 0) != config.layers.back().wide)
    fail_damaged(path, "wide weights against its configuration");
  if (config.layers.back().wide) {
    network.output().set_wide(get_wide(in, network));
    const std::size_t count = network.output().wide()->weights();
    if (state) state->wide.resize(count);
    if (state) in.get_array(state->wide.data(), count);
    if (!state && state_stored) in.take(count * sizeof(float));
  }
  if (((flags & kFlagFactors) != 0) != (config.data.idf_power != 0))
    fail_damaged(path, "factors of features against its configuration");
  if ((flags & kFlagFactors) != 0) network.set_feature_scale(get_factors(in, config, shape.features));
  if (((flags & kFlagNeighbours) != 0) != (config.neighbours.share > 0))
    fail_damaged(path, "neighbours against its configuration");
  std::optional<Neighbours> neighbours;
  if ((flags & kFlagNeighbours) != 0) neighbours = get_neighbours(in, config, shape);
  std::shared_ptr<const TextModel> text_model;
  if ((flags & kFlagText) != 0) {
    text_model = TextModel::from_bytes(in.take(in.get<std::uint64_t>()), config.text, path);
    if (text_model->feature_count() > shape.features || text_model->label_count() != shape.labels)
      fail_damaged(path, "a vocabulary of another size");
  }
  if (in.left() != 0) fail_damaged(path, "more than its configuration needs");
  return {std::move(config),
          std::move(shape),
          steps,
          state_stored,
          std::move(hashes),
          std::move(network),
          std::move(state),
          std::move(neighbours),
          std::move(text_model),
          sum};
}

bool looks_like_model(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  file.read(start, sizeof start);
  return file && std::string_view(start, sizeof start) == kModelMagic;
}

}  // namespace slide
