#include "engine/run/validation_keys.h"

#include <memory>
#include <utility>

#include "datasets/rows/data_parts.h"
#include "datasets/rows/split.h"
#include "datasets/sidecar/sample_keys.h"
#include "engine/base/error.h"

namespace slide {

namespace {

bool reads_columns(const DataConfig& config) {
  return !config.text.empty();
}

// Whether times are values, rather than the order of samples or none.
bool has_times(const DataConfig& config) {
  return !config.time.empty() && config.time != kFileOrder && config.time != kNoTime;
}

// Groups and times from columns of the training file, else from files of their own.
KeyColumns read_keys(const DataConfig& config, std::size_t samples, const ReadOptions& options) {
  const std::string data = shown_path(config.train);
  KeyColumns keys;
  if (reads_columns(config)) {
    keys = read_key_columns(config.train, options);
    for (const KeyValues* values : {&keys.group, &keys.time}) {
      if (!values->ids.empty() && values->ids.size() != samples)
        fail_run("{}: it has changed while it was read; start anew", data);
    }
    return keys;
  }
  if (!config.group.empty()) keys.group = read_key_file(config.group, kGroupKey, samples, data);
  if (has_times(config)) keys.time = read_key_file(config.time, kTimeKey, samples, data);
  return keys;
}

}  // namespace

std::vector<std::string*> key_files(DataConfig& config) {
  std::vector<std::string*> files;
  if (reads_columns(config) || config.kind == DataKind::kInteractions) return files;  // the keys name columns
  if (!config.group.empty()) files.push_back(&config.group);
  if (has_times(config)) files.push_back(&config.time);
  return files;
}

void name_key_columns(const DataConfig& config, TableColumns& columns) {
  if (!reads_columns(config)) return;
  columns.group = config.group;
  if (has_times(config)) columns.time = config.time;
}

void refuse_key_files(const DataConfig& config) {
  DataConfig copy = config;
  for (const std::string* file : key_files(copy))
    fail_input(
        "{} = {} has a line for each sample, which would not hold where --skip-bad leaves some out; leave "
        "one "
        "of the two out",
        file == &copy.group ? kGroupKey.key : kTimeKey.key, *file);
}

Dataset with_sample_keys(const Dataset& first, std::size_t all, const DataConfig& config,
                         const ReadOptions& options) {
  if (config.group.empty() && !has_times(config)) return with_configured_order(first, config);
  KeyColumns read = read_keys(config, all, options);
  SampleKeys keys;
  if (has_times(config)) keys.times = ranks_of_times(read.time, shown_path(config.train));
  keys.groups = std::move(read.group.ids);
  for (std::vector<std::uint32_t>* of_samples : {&keys.groups, &keys.times}) {
    if (!of_samples->empty()) of_samples->resize(first.samples());
  }
  return with_configured_order(first.with_keys(std::make_shared<const SampleKeys>(std::move(keys))), config);
}

// Moves samples from data.test_after on from the training data to the test data.
void split_test_by_time(const DataConfig& config, const ReadOptions& options, RunData& run) {
  const std::string data = shown_path(config.train);
  if (config.time.empty())
    fail_input("data.test_after = {} needs the times of samples; name their column, or a file, by data.time",
               config.test_after);
  const std::vector<bool> later =
      times_from(read_keys(config, run.train.samples(), options).time, config.test_after, data);
  std::vector<std::uint32_t> train, test;
  for (std::uint32_t sample = 0; sample < later.size(); ++sample)
    (later[sample] ? test : train).push_back(sample);
  if (test.empty())
    fail_input("data.test_after = {}: {} has no sample from that time on; give an earlier one",
               config.test_after, data);
  if (train.empty())
    fail_input("data.test_after = {}: {} has no sample before that time; give a later one", config.test_after,
               data);
  run.test = copy_rows(run.train, test);
  run.train = copy_rows(run.train, train);
}

Dataset with_configured_order(const Dataset& data, const DataConfig& config) {
  return config.time == kFileOrder ? with_file_order(data) : data;
}

}  // namespace slide
