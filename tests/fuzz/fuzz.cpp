#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "datasets/reader.h"
#include "engine/base/byte_io.h"
#include "engine/inference/inference.h"
#include "engine/run/model_use.h"
#include "engine/training/trainer.h"

namespace slide::fuzz {

namespace {

// Size limits of the tiny network.
constexpr std::size_t kMaxSamples = 64, kMaxFeatures = 1024, kMaxLabels = 256;
constexpr std::size_t kStep = 16;

bool is_finite(const Parameters& parameters) {
  std::vector<float> row(parameters.columns);
  for (std::size_t r = 0; r < parameters.rows; ++r) {
    parameters.load_row(r, row.data());
    if (!std::all_of(row.begin(), row.end(), [](float weight) { return std::isfinite(weight); }))
      return false;
  }
  return true;
}

void check_best(std::span<const Prediction> best, std::size_t neurons) {
  for (const Prediction& prediction : best) {
    check(prediction.label < neurons, "a predicted label is below the number of neurons");
    check(std::isfinite(prediction.score), "a score is finite");
  }
}

// All samples together, then the first ones individually; or only these.
void predict_with(const TrainedNetwork& trained, const InferenceOptions& options, const Dataset& data,
                  bool together) {
  const Predictor predictor(trained, options);
  const auto look = [&](std::size_t, auto best) { check_best(best, trained.network.labels()); };
  if (together) predictor.predict(data, look);
  Predictor::Scratch scratch;
  for (std::size_t i = 0; i < std::min<std::size_t>(data.size(), 2); ++i)
    predictor.predict(data.slice(i, 1), {options.k, options.log_softmax}, scratch, look);
}

// Samples with the first features of a network: one feature, several, none.
Dataset samples_for(std::size_t features) {
  DatasetArrays arrays;
  for (std::size_t sample = 0; sample < 4; ++sample) {
    for (std::size_t id = 0; id < std::min(sample * 3, features); ++id) {
      arrays.feature_ids.push_back(static_cast<std::uint32_t>(id * features / (sample * 3)));
      arrays.feature_values.push_back(0.25f);
    }
    const auto last =
        std::unique(arrays.feature_ids.begin() + static_cast<std::ptrdiff_t>(arrays.feature_offsets.back()),
                    arrays.feature_ids.end());
    arrays.feature_ids.erase(last, arrays.feature_ids.end());
    arrays.feature_values.resize(arrays.feature_ids.size());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(0);
  }
  return {std::move(arrays), static_cast<std::uint32_t>(features), 1};
}

}  // namespace

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

void check_message(std::string_view message) {
  check(!message.empty(), "a message says something");
  check(message.find('\n') == std::string_view::npos, "a message is one line");
}

unsigned take_choice(std::string_view& input) {
  if (input.empty()) return 0;
  const auto choice = static_cast<unsigned char>(input.back());
  input.remove_suffix(1);
  return choice;
}

void check_rows(const Dataset& data) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    check(row.ids.size() == row.values.size(), "a row has a value for each feature");
    for (std::size_t j = 0; j < row.ids.size(); ++j) {
      check(row.ids[j] < data.feature_count(), "a feature is below their number");
      check(j == 0 || row.ids[j - 1] < row.ids[j], "features ascend");
      check(std::isfinite(row.values[j]), "a value is finite");
    }
    const auto labels = data.labels(i);
    for (std::size_t j = 0; j < labels.size(); ++j) {
      check(labels[j] < data.label_count(), "a label is below their number");
      check(j == 0 || labels[j - 1] < labels[j], "labels ascend");
    }
  }
}

void check_same(const Dataset& a, const Dataset& b) {
  check(a.size() == b.size() && a.feature_count() == b.feature_count() && a.label_count() == b.label_count(),
        "two data sets have the same shape");
  for (std::size_t i = 0; i < a.size(); ++i) {
    check(bytes_of(a.features(i).ids) == bytes_of(b.features(i).ids), "two samples have the same features");
    check(bytes_of(a.features(i).values) == bytes_of(b.features(i).values),
          "two samples have the same values");
    check(bytes_of(a.labels(i)) == bytes_of(b.labels(i)), "two samples have the same labels");
  }
}

Config tiny_config() {
  Config config;
  config.train.threads = 1;
  config.train.batch_size = kStep;
  config.train.block_size = kStep;
  config.train.epochs = 1;
  config.text.min_count = 1;
  config.neighbours.count = 2;
  LayerConfig& output = config.layers.back();
  config.layers.front().size = 4;
  output.lsh = 4;
  output.uniform = 4;
  output.wide_negatives = 2;
  output.hash.k = 2;
  output.hash.tables = 2;
  output.hash.bin_size = 2;
  output.hash.range_pow = 2;
  output.hash.bucket_capacity = 4;
  output.hash.rehash_steps = 1;
  validate(config);
  return config;
}

Dataset tiny_data() {
  std::string text = "12 4 3\n";
  for (int i = 0; i < 12; ++i) {
    const int label = i % 3;
    text += fmt::format("{} {}:1 {}:0.5\n", label, label, label + 1);
  }
  ReadOptions options;
  options.threads = 1;
  return parse_dataset(text, "tiny", options);
}

void train_and_predict(const Dataset& data) {
  if (data.size() > kMaxSamples || data.feature_count() == 0 || data.feature_count() > kMaxFeatures ||
      data.label_count() == 0 || data.label_count() > kMaxLabels || data.label_entries() == 0) {
    return;
  }
  Trainer trainer(fresh_job(tiny_config(), data));
  const double loss = trainer.step(0, std::min(trainer.labelled(), kStep));
  check(std::isfinite(loss), "the loss is finite");
  for (const Parameters* parameters : std::as_const(trainer).network().matrices())
    check(is_finite(*parameters), "weights are finite");
  InferenceOptions options;
  options.threads = 1;
  predict_with(trainer.trained(), options, data, false);
}

void predict(Model& model) {
  const Dataset data = samples_for(model.network.features());
  InferenceOptions options;
  options.threads = 1;
  predict_with(model.trained(), options, data, true);
  options.low_latency = true;
  options.log_softmax = is_normalised(model.config.loss.kind);
  predict_with(model.trained(), options, data, true);
  model.build_tables(1);
  if (model.network.output().index() == nullptr) return;
  options.mode = Inference::kLsh;
  predict_with(model.trained(), options, data, true);
}

MemoryFile::MemoryFile()
    : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  check(descriptor_ >= 0, "a file in memory can be made");
}

MemoryFile::~MemoryFile() {
  close(descriptor_);
}

void MemoryFile::write(std::string_view bytes) const {
  check(ftruncate(descriptor_, 0) == 0 &&
            pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
        "a file in memory can be written");
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "slide-fuzz-XXXXXX").string();
  check(mkdtemp(name.data()) != nullptr, "a folder can be made");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace slide::fuzz
