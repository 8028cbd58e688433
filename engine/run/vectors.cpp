#include "engine/run/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "datasets/formats/npy.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/crosses/feature_transform.h"
#include "engine/inference/prediction_batch.h"

namespace slide {

namespace {

constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;  // bytes written to the file at a time

// Header of a matrix; its length does not depend on the number of rows, which is known only at the end.
std::string head_of_matrix(std::size_t rows, std::size_t width) {
  return npy_bytes("<f4", fmt::format("({:>20}, {})", rows, width), {});
}

// Copies the vectors of samples [first, first + batch.samples). Throws InputError where weights sum up to
// more than a float holds.
void copy_hidden(const PredictionBatch& batch, std::size_t first, float* vectors) {
  const BlockInput& input = batch.inputs.front();
  for (std::size_t i = 0; i < batch.samples; ++i) {
    const std::span<const float> row(input.x + i * input.ldx, input.width);
    if (!std::ranges::all_of(row, [](float x) { return std::isfinite(x); })) {
      fail_input("the vector of sample {} is not finite: the model's weights are too large; train it again",
                 first + i + 1);
    }
    std::ranges::copy(row, vectors + (first + i) * input.width);
  }
}

}  // namespace

std::size_t vector_width(const Model& model) {
  const Network& network = model.network;
  if (!network.input() && network.layers().size() == 1 && network.dense() == 0) {
    fail_input(
        "the network has no hidden layer, so its samples and labels have no vectors; train one with a "
        "[[layer]] "
        "of, say, size = 128 before the last");
  }
  return network.output().weights().columns;
}

// Hidden activations [samples x vector_width()], computed by row so that no vector depends on other samples.
void sample_vectors(const Model& model, const Dataset& samples, int threads, float* vectors) {
  vector_width(model);
  const Network& network = model.network;
  const std::size_t features = network.sample_features();
  if (samples.feature_count() > features)
    fail_input("the data have {} features, the model {}", samples.feature_count(), features);
  const std::size_t lanes = has_whole_input(network) ? PredictionBatch::kLanesByRow : 1;
  const std::size_t groups = (samples.size() + lanes - 1) / lanes;
  const std::size_t entries = std::bit_ceil(max_entries(network, samples, lanes));
  std::vector<PredictionBatch> batches(static_cast<std::size_t>(resolve_threads(threads)));
  parallel_for(groups, static_cast<int>(batches.size()), [&](std::size_t group, int thread) {
    PredictionBatch& batch = batches[static_cast<std::size_t>(thread)];
    batch.by_row = true;
    batch.k = 1;
    batch.reserve(TrainedNetwork(network, nullptr), 1, lanes, entries);
    const std::size_t first = group * lanes;
    batch.begin(network, samples, first, std::min(samples.size(), first + lanes));
    copy_hidden(batch, first, vectors);
  });
}

void label_vector(const Model& model, std::uint32_t label, std::span<float> vector) {
  const Parameters& weights = model.network.output().weights();
  weights.load_row(label, vector.data());
}

std::size_t feature_width(const Model& model) {
  if (!model.network.input()) {
    fail_input(
        "the first layer is stored by neuron, so features have no vectors; train a dense first layer, "
        "without "
        "hash tables");
  }
  return model.network.input()->size();
}

void feature_vector(const Model& model, std::uint32_t feature, std::span<float> vector) {
  const Network& network = model.network;
  network.input()->weights().load_row(feature, vector.data());
  if (!scale_of(network).active()) return;
  const std::span<const float> factors = scale_of(network).factors();
  if (feature >= factors.size()) return;  // a dense column
  for (float& x : vector) x *= factors[feature];
}

std::string vector_name(std::string_view name) {
  std::string one_word(name);
  std::ranges::replace_if(
      one_word, [](unsigned char c) { return c <= ' ' || c == 0x7f; }, '_');
  return one_word;
}

VectorWriter::VectorWriter(const std::string& path, std::size_t width, Print print)
    : path_(path), npy_(path.ends_with(".npy")), width_(width), print_(std::move(print)) {
  if (path_.empty()) return;
  file_ = std::make_unique<AtomicFile>(path_, npy_ ? FileUse::kAnyOrder : FileUse::kSequential);
  if (npy_) put(head_of_matrix(0, width_));
}

void VectorWriter::put(std::string_view bytes) {
  if (!file_) return print_(bytes);
  buffer_ += bytes;
  if (buffer_.size() >= kBytesAtOnce) flush();
}

void VectorWriter::flush() {
  file_->write(buffer_);
  buffer_.clear();
}

void VectorWriter::head(std::size_t rows) {
  if (!npy_) put(fmt::format("{} {}\n", rows, width_));
}

void VectorWriter::add(std::string_view name, std::span<const float> vector) {
  ++rows_;
  if (npy_) return put({reinterpret_cast<const char*>(vector.data()), vector.size_bytes()});
  line_ = vector_name(name);
  for (const float x : vector)
    fmt::format_to(std::back_inserter(line_), "{}{:.6g}", line_.empty() ? "" : " ", x);
  line_ += '\n';
  put(line_);
}

void VectorWriter::finish() {
  if (!file_) return;
  flush();
  if (npy_) file_->write_at(0, head_of_matrix(rows_, width_));
  file_->finish();
}

}  // namespace slide
