#include "datasets/generator.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "datasets/power_law.h"
#include "datasets/xmc_writer.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

constexpr double kLabelExponent = 0.7;      // of the frequencies of labels
constexpr double kFeatureExponent = 1.0;    // of noise features: like words in text
constexpr double kPrototypeExponent = 0.4;  // of prototype features: flatter, so that they tell labels apart
constexpr std::uint32_t kPrototypes = 12;   // features a label
constexpr double kSignal = 0.7;             // share of features drawn from prototypes
constexpr double kValueStep = 1e4;          // values have four decimals
constexpr std::uint64_t kChunkSamples = 1024;
constexpr std::size_t kChunksPerThread = 4;  // formatted before a write

// The `step` of the random streams; prototypes use kPrototypeStream + index.
constexpr std::uint64_t kSampleStream = 1, kLabelScramble = 2, kFeatureScramble = 3, kPrototypeStream = 16;

struct Feature {
  std::uint32_t id;
  float value;
};

// One sample, reused as scratch memory.
struct Sample {
  std::vector<std::uint32_t> labels;
  std::vector<Feature> features;
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
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

 private:
  void draw_labels(Rng& rng, std::vector<std::uint32_t>& labels) const {
    labels.resize(1 + rng.below(2 * options_.labels_per_sample - 1));
    for (std::uint32_t& label : labels) label = label_ids_(label_ranks_.rank(rng.uniform()));
  }

  std::uint32_t prototype(std::uint32_t label, std::uint32_t index) const {
    Rng rng(options_.seed, Purpose::kGenerator, kPrototypeStream + index, label);
    return feature_ids_(prototype_ranks_.rank(rng.uniform()));
  }

  void draw_features(Rng& rng, Sample& sample) const {
    const std::uint32_t mean = options_.features_per_sample, least = (mean + 1) / 2;
    sample.features.resize(least + rng.below(2 * (mean - least) + 1));
    const auto labels = static_cast<std::uint32_t>(sample.labels.size());
    for (std::size_t i = 0; i < sample.features.size(); ++i) {
      // The first ones go round the labels, so that each of them leaves a trace.
      const bool signal = i < labels || rng.uniform() < kSignal;
      const std::uint32_t label = sample.labels[i < labels ? i : rng.below(labels)];
      const std::uint32_t id =
          signal ? prototype(label, rng.below(kPrototypes)) : feature_ids_(noise_ranks_.rank(rng.uniform()));
      sample.features[i] = {id,
                            static_cast<float>(std::round((0.5 + rng.uniform()) * kValueStep) / kValueStep)};
    }
    sort_features(sample);
  }

  // Sorts by id and keeps the larger value of a feature drawn twice.
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
  constexpr std::uint32_t kMost = 1U << 20;
  if (options.features_per_sample > kMost || options.labels_per_sample > kMost) {
    fail_input("generate: more than {} features or labels a sample; ask for fewer", kMost);
  }
}

// Samples [first, first + count) as lines.
void format_samples(const SampleSource& source, std::uint64_t first, std::uint64_t count,
                    std::string& lines) {
  Sample sample;
  lines.clear();
  for (std::uint64_t index = first; index < first + count; ++index) {
    source.draw(index, sample);
    append_xmc_row(lines, sample.labels, {sample.ids, sample.values});
  }
}

void write_file(const GeneratorOptions& options, const SampleSource& source, std::uint64_t first,
                std::uint64_t count, const std::string& path) {
  const int threads = resolve_threads(options.threads);
  XmcWriter writer(path, count, options.features, options.labels);
  std::vector<std::string> chunks(kChunksPerThread * static_cast<std::size_t>(threads));
  const std::uint64_t wave = chunks.size() * kChunkSamples;
  for (std::uint64_t done = 0; done < count; done += wave) {
    const std::uint64_t left = std::min(wave, count - done);
    const auto used = static_cast<std::size_t>((left + kChunkSamples - 1) / kChunkSamples);
    parallel_for(used, threads, [&](std::size_t index, int) {
      const std::uint64_t start = index * kChunkSamples;
      format_samples(source, first + done + start, std::min(kChunkSamples, left - start), chunks[index]);
    });
    for (std::size_t i = 0; i < used; ++i) writer.write(chunks[i]);
  }
  writer.finish();
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
  write_file(options, source, 0, options.samples, (folder / "train.txt").string());
  write_file(options, source, options.samples, options.test_samples.value_or(options.samples / 10),
             (folder / "test.txt").string());
}

}  // namespace slide
