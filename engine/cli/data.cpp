#include "engine/cli/data.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <string_view>
#include <utility>

#include "datasets/cache.h"
#include "engine/base/error.h"

namespace slide::cli {

namespace {

void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
}

ReadOptions read_options(const DataConfig& config, std::size_t features, int threads) {
  ReadOptions options;
  options.format = config.format;
  options.one_based = config.one_based;
  options.normalize = config.normalize;
  options.feature_limit = static_cast<std::uint32_t>(features);
  options.threads = threads;
  return options;
}

void check_slice(const char* key, std::uint32_t wanted, const std::string& path, std::size_t samples) {
  if (wanted <= samples) return;
  fail_input("{} = {}, but {} has {} samples; lower it, or 0 for all", key, wanted, path, samples);
}

Dataset first_of(const Dataset& data, const DataConfig& config) {
  if (config.train_first == 0) return data;
  check_slice("data.train_first", config.train_first, config.train, data.size());
  return data.slice(0, config.train_first);
}

Dataset last_of(const Dataset& data, std::size_t count) {
  if (count == 0 || count >= data.size()) return data;
  return data.slice(data.size() - count, count);
}

// A file of a training run, from its cache if the configuration asks for one.
Dataset read_training_file(const std::string& path, const DataConfig& config, std::size_t features,
                           int threads, std::vector<std::string>& notes) {
  const ReadOptions options = read_options(config, features, threads);
  if (!config.cache) return read_dataset(path, options);
  CachedDataset cached = read_dataset_cached(path, options);
  if (cached.outcome == CacheOutcome::kNone) notes.push_back("no cache: " + cached.reason);
  return std::move(cached.data);
}

// A first line of three numbers and nothing else.
bool has_xmc_header(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.find_first_not_of("0123456789 \t\r") != std::string_view::npos) return false;
  int numbers = 0;
  bool inside = false;
  for (const char c : line) {
    const bool digit = c >= '0' && c <= '9';
    numbers += digit && !inside;
    inside = digit;
  }
  return numbers == 3;
}

}  // namespace

Config resolve_config(const std::string& path, const std::vector<std::string>& overrides) {
  Config config = load_config(path, overrides);
  make_absolute(config.data.train);
  make_absolute(config.data.test);
  return config;
}

RunData read_run_data(const Config& config, int threads) {
  const DataConfig& data = config.data;
  if (data.train.empty()) fail_input("data.train is not set: give --set data.train=FILE");
  std::vector<std::string> notes;
  Dataset train = read_training_file(data.train, data, 0, threads, notes);
  if (data.test.empty()) return {first_of(train, data), std::nullopt, notes};
  Dataset test = data.test == data.train ? train : read_training_file(data.test, data, 0, threads, notes);
  if (test.feature_count() > train.feature_count()) {
    train = read_training_file(data.train, data, test.feature_count(), threads, notes);
  }
  check_slice("data.test_last", data.test_last, data.test, test.size());
  return {first_of(train, data), last_of(test, data.test_last), notes};
}

Dataset read_test_data(const std::string& path, const DataConfig& config, std::size_t features, int threads) {
  return last_of(read_dataset(path, read_options(config, features, threads)), config.test_last);
}

namespace {

// A line without anything is a sample without features, so that answers keep the lines' numbers: the libsvm
// reader would skip it, a label keeps it in place.
std::string with_blank_lines_kept(const std::string& text) {
  std::string kept;
  kept.reserve(text.size() + 16);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool blank = text.find_first_not_of(" \t\r", begin) >= end;
    kept.append(blank ? "0" : text.substr(begin, end - begin)).push_back('\n');
    begin = end + 1;
  }
  return kept;
}

}  // namespace

Dataset read_standard_input(const DataConfig& config, std::size_t features, int threads) {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  ReadOptions options = read_options(config, features, threads);
  const bool header = has_xmc_header(text);
  options.format = header ? DataFormat::kXmc : DataFormat::kLibsvm;
  return parse_dataset(header ? text : with_blank_lines_kept(text), "standard input", options);
}

}  // namespace slide::cli
