// Benchmark of reading and writing XMC text.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "datasets/generator.h"
#include "datasets/reader.h"
#include "engine/base/parallel.h"

namespace slide {
namespace {

// Generated XMC text of about 40 MB, created once.
const std::string& generated_text() {
  static const std::string text = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "slide-bench-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return std::string();
    GeneratorOptions options;
    options.samples = 50000;
    options.features = 135909;
    options.labels = 670091;
    options.features_per_sample = 76;
    options.labels_per_sample = 5;
    options.test_samples = 0;
    generate_dataset(options, folder);
    std::ifstream file(folder + "/train.txt", std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove_all(folder);
    return content;
  }();
  return text;
}

void BM_ParseXmc(benchmark::State& state) {
  const std::string& text = generated_text();
  const ReadOptions options = {.format = DataFormat::kXmc, .threads = static_cast<int>(state.range(0))};
  for (auto _ : state) {
    const Dataset data = parse_dataset(text, "bench", options);
    benchmark::DoNotOptimize(data.feature_entries());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_ParseXmc)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(available_threads())
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slide
