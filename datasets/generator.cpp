#include "datasets/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "datasets/formats/npy.h"
#include "datasets/formats/xmc_writer.h"
#include "datasets/rows/power_law.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

constexpr double kLabelExponent = 0.7;      // power-law exponent of label frequencies
constexpr double kFeatureExponent = 1.0;    // of noise features: like words in text
constexpr double kPrototypeExponent = 0.4;  // of prototype features: flatter, to distinguish labels
constexpr std::uint32_t kPrototypes = 12;   // features per label
constexpr double kSignal = 0.7;             // share of features drawn from prototypes
constexpr double kValueStep = 1e4;          // values have four decimals
constexpr std::uint64_t kChunkSamples = 1024;
constexpr std::uint64_t kChunkNumbers = 1U << 20;  // dense numbers per chunk
constexpr std::size_t kChunksPerThread = 4;        // formatted before a write

// `step` of the random streams; prototypes use kPrototypeStream + index.
constexpr std::uint64_t kSampleStream = 1, kLabelScramble = 2, kFeatureScramble = 3, kSignStream = 4,
                        kPrototypeStream = 16;

struct Feature {
  std::uint32_t id;
  float value;
};

// One sample; scratch memory.
struct Sample {
  std::vector<std::uint32_t> labels;
  std::vector<Feature> features;
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
};

// Samples [first, first + count).
struct Samples {
  std::uint64_t first, count;
};

class SampleSource {
 public:
  explicit SampleSource(const GeneratorOptions& options)
      : options_(options),
        label_ranks_(options.labels, kLabelExponent),
        noise_ranks_(options.features, kFeatureExponent),
        prototype_ranks_(options.features, kPrototypeExponent),
        label_ids_(options.labels, options.seed, kLabelScramble),
        feature_ids_(options.features, options.seed, kFeatureScramble) {}

  void draw(std::uint64_t index, Sample& sample) const {
    Rng rng(options_.seed, Purpose::kGenerator, kSampleStream, index);
    draw_labels(rng, sample.labels);
    draw_features(rng, sample);
    std::sort(sample.labels.begin(), sample.labels.end());
    sample.labels.erase(std::unique(sample.labels.begin(), sample.labels.end()), sample.labels.end());
  }

  // Random projection: adds the feature's value, with its random sign per column, over the root of the number
  // of columns, which nearly preserves lengths.
  void project(std::uint32_t feature, float value, std::span<float> row) const {
    Rng rng(options_.seed, Purpose::kGenerator, kSignStream, feature);
    const float share = value / std::sqrt(static_cast<float>(row.size()));
    std::uint64_t signs = 0;
    for (std::size_t c = 0; c < row.size(); ++c, signs >>= 1) {
      if (c % 64 == 0) signs = rng.next();
      row[c] += (signs & 1) != 0 ? share : -share;
    }
  }

 private:
  void draw_labels(Rng& rng, std::vector<std::uint32_t>& labels) const {
    labels.resize(1 + rng.below(2 * options_.labels_per_sample - 1));
    for (std::uint32_t& label : labels) label = label_ids_(label_ranks_.rank(rng.uniform()));
  }

  std::uint32_t prototype(std::uint32_t label, std::uint32_t index) const {
    Rng rng(options_.seed, Purpose::kGenerator, kPrototypeStream + index, label);
    return feature_ids_(prototype_ranks_.rank(rng.uniform()));
  }

  // Samples a uniform number of features around the mean: with probability kSignal a prototype of one of the
  // sample's labels, else noise from the power law. Values are uniform in [0.5, 1.5].
  void draw_features(Rng& rng, Sample& sample) const {
    const std::uint32_t mean = options_.features_per_sample, min_size = (mean + 1) / 2;
    sample.features.resize(min_size + rng.below(2 * (mean - min_size) + 1));
    const auto labels = static_cast<std::uint32_t>(sample.labels.size());
    for (std::size_t i = 0; i < sample.features.size(); ++i) {
      // The first features cycle through the labels, so that each label has at least one.
      const bool signal = i < labels || rng.uniform() < kSignal;
      const std::uint32_t label = sample.labels[i < labels ? i : rng.below(labels)];
      const std::uint32_t id =
          signal ? prototype(label, rng.below(kPrototypes)) : feature_ids_(noise_ranks_.rank(rng.uniform()));
      sample.features[i] = {id,
                            static_cast<float>(std::round((0.5 + rng.uniform()) * kValueStep) / kValueStep)};
    }
    sort_features(sample);
  }

  // Sorts by id; keeps the larger value of duplicates.
  static void sort_features(Sample& sample) {
    std::sort(sample.features.begin(), sample.features.end(), [](const Feature& a, const Feature& b) {
      return a.id != b.id ? a.id < b.id : a.value > b.value;
    });
    sample.ids.clear();
    sample.values.clear();
    for (const Feature& feature : sample.features) {
      if (!sample.ids.empty() && sample.ids.back() == feature.id) continue;
      sample.ids.push_back(feature.id);
      sample.values.push_back(feature.value);
    }
  }

  GeneratorOptions options_;
  PowerLaw label_ranks_, noise_ranks_, prototype_ranks_;
  IdScramble label_ids_, feature_ids_;
};

void check(const GeneratorOptions& options) {
  const auto need = [](std::uint64_t value, std::string_view name) {
    if (value == 0) fail_input("generate: the number of {} is 0; give at least 1", name);
  };
  need(options.samples, "samples");
  need(options.features, "features");
  need(options.labels, "labels");
  need(options.features_per_sample, "features a sample");
  need(options.labels_per_sample, "labels a sample");
  if (options.dense > 0) need(options.test_samples.value_or(options.samples / 10), "test samples");
  constexpr std::uint32_t kMax = 1U << 20;
  if (options.features_per_sample > kMax || options.labels_per_sample > kMax) {
    fail_input("generate: more than {} features or labels a sample; ask for fewer", kMax);
  }
}

// Formats samples [first, first + count) as lines.
void format_samples(const SampleSource& source, std::uint64_t first, std::uint64_t count,
                    std::string& lines) {
  Sample sample;
  lines.clear();
  for (std::uint64_t index = first; index < first + count; ++index) {
    source.draw(index, sample);
    append_xmc_row(lines, sample.labels, {sample.ids, sample.values});
  }
}

// Calls format(first, count, chunk) for chunks of `chunk_samples` samples in parallel, then write(chunk) for
// each, in order. Memory: kChunksPerThread chunks for each thread.
template <class Chunk, class Format, class Write>
void write_in_chunks(const GeneratorOptions& options, Samples samples, std::uint64_t chunk_samples,
                     const Format& format, const Write& write) {
  const int threads = resolve_threads(options.threads);
  std::vector<Chunk> chunks(kChunksPerThread * static_cast<std::size_t>(threads));
  const std::uint64_t round = chunks.size() * chunk_samples;
  for (std::uint64_t done = 0; done < samples.count; done += round) {
    const std::uint64_t left = std::min(round, samples.count - done);
    const auto used = static_cast<std::size_t>((left + chunk_samples - 1) / chunk_samples);
    parallel_for(used, threads, [&](std::size_t index, int) {
      const std::uint64_t start = index * chunk_samples;
      format(samples.first + done + start, std::min(chunk_samples, left - start), chunks[index]);
    });
    for (std::size_t i = 0; i < used; ++i) write(chunks[i]);
  }
}

void write_sparse(const GeneratorOptions& options, const SampleSource& source, Samples samples,
                  const std::string& path) {
  XmcWriter writer(path, samples.count, options.features, options.labels);
  write_in_chunks<std::string>(
      options, samples, kChunkSamples,
      [&](std::uint64_t first, std::uint64_t count, std::string& lines) {
        format_samples(source, first, count, lines);
      },
      [&](const std::string& lines) { writer.write(lines); });
  writer.finish();
}

struct DenseChunk {
  std::vector<float> rows;
  std::string labels;  // as lines
};

// Formats samples [first, first + count) as rows of dense features, and their labels.
void format_dense(const GeneratorOptions& options, const SampleSource& source, Samples samples,
                  DenseChunk& chunk) {
  const std::size_t columns = options.dense;
  chunk.rows.assign(samples.count * columns, 0.0F);
  chunk.labels.clear();
  Sample sample;
  for (std::uint64_t i = 0; i < samples.count; ++i) {
    source.draw(samples.first + i, sample);
    const std::span<float> row(chunk.rows.data() + i * columns, columns);
    for (std::size_t f = 0; f < sample.ids.size(); ++f) source.project(sample.ids[f], sample.values[f], row);
    append_xmc_row(chunk.labels, sample.labels, {});
  }
}

// Writes rows to X.NAME.npy and labels to Y.NAME.txt.
void write_dense(const GeneratorOptions& options, const SampleSource& source, Samples samples,
                 const std::filesystem::path& folder, const std::string& name) {
  AtomicFile rows((folder / ("X." + name + ".npy")).string());
  AtomicFile labels((folder / ("Y." + name + ".txt")).string());
  rows.write(npy_bytes("<f4", fmt::format("({}, {})", samples.count, options.dense), ""));
  labels.write(fmt::format("{} {}\n", samples.count, options.labels));
  write_in_chunks<DenseChunk>(
      options, samples, std::clamp<std::uint64_t>(kChunkNumbers / options.dense, 1, kChunkSamples),
      [&](std::uint64_t first, std::uint64_t count, DenseChunk& chunk) {
        format_dense(options, source, {first, count}, chunk);
      },
      [&](const DenseChunk& chunk) {
        rows.write(std::string_view(reinterpret_cast<const char*>(chunk.rows.data()),
                                    chunk.rows.size() * sizeof(float)));
        labels.write(chunk.labels);
      });
  AtomicFile::finish(rows, labels);
}

}  // namespace

void generate_dataset(const GeneratorOptions& options, const std::string& directory) {
  check(options);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error && !std::filesystem::is_directory(directory)) {
    fail_run("{}: the folder cannot be made ({}); choose another one", directory, error.message());
  }
  const SampleSource source(options);
  const std::filesystem::path folder(directory);
  const Samples train{0, options.samples};
  const Samples test{options.samples, options.test_samples.value_or(options.samples / 10)};
  for (const auto& [name, samples] : {std::pair("train", train), std::pair("test", test)}) {
    if (options.dense > 0) {
      write_dense(options, source, samples, folder, name);
    } else {
      write_sparse(options, source, samples, (folder / (std::string(name) + ".txt")).string());
    }
  }
}

}  // namespace slide
