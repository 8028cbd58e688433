#include "engine/config/effective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/config/fields.h"

namespace slide {

namespace {

// Turns off what only sparse features have.
void without_sparse_parts(Config& config, std::vector<std::string>& notes) {
  LayerConfig& last = config.layers.back();
  std::vector<std::string> asked;
  if (config.data.idf_power != 0) asked.emplace_back("data.idf_power");
  if (config.data.crosses != 0 && config.data.crosses != DataConfig().crosses)
    asked.emplace_back("data.crosses");
  if (last.wide_margin.value_or(0) != 0)
    asked.push_back(config::layer_name(config.layers.size() - 1) + ".wide_margin");
  if (!asked.empty())
    notes.push_back(fmt::format("{} {} no effect: all features are dense", fmt::join(asked, ", "),
                                asked.size() == 1 ? "has" : "have"));
  last.wide = false;
  if (last.wide_margin) last.wide_margin = 0;
  config.data.idf_power = 0;
  config.data.crosses = 0;
}

// Neurons without a label are refused where they would need a name.
void check_last_layer(const Config& config, const JobFacts& facts, std::vector<std::string>& notes) {
  const std::uint32_t size = config.layers.back().size;
  if (facts.labels == 0 || size <= facts.labels) return;
  const std::string key = config::layer_name(config.layers.size() - 1) + ".size";
  if (facts.named_labels)
    fail_input("{} = {}, but the training data have {} labels, and others have no name; set it to 0", key,
               size, facts.labels);
  notes.push_back(
      fmt::format("warning: {} = {}, but the training data have {} labels: the others have no sample, but "
                  "can be predicted",
                  key, size, facts.labels));
}

}  // namespace

Config effective_config(const Config& stated, const JobFacts& facts, std::vector<std::string>* notes) {
  Config config = stated;
  std::vector<std::string> found;
  if (facts.processes > 1 && config.train.shards == 1) {
    config.train.shards = facts.processes;
    validate(config);
    found.push_back(fmt::format("train.shards = {}, as there are processes", facts.processes));
  }
  check_last_layer(config, facts, found);
  if (facts.dense_only) without_sparse_parts(config, found);
  if (notes != nullptr) {  // made twice, before and after the data are read
    std::ranges::copy_if(found, std::back_inserter(*notes),
                         [&](const std::string& note) { return std::ranges::count(*notes, note) == 0; });
  }
  return config;
}

}  // namespace slide
