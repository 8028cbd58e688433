#include "engine/cli/inspect_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/cli/inspect_json.h"
#include "engine/cli/text.h"
#include "engine/cli/warnings.h"
#include "engine/run/dense_column.h"
#include "engine/run/run_data.h"

namespace slide::cli {

namespace {

constexpr std::size_t kSubjectWidth = 19;  // of the subject of a line
constexpr std::size_t kWidth = 57;         // of the text behind it, within 79 characters

// The first characters of a text, as many as fit a line.
std::string_view clipped(std::string_view text) {
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (begins_character(text[at]) && ++characters > kWidth) return text.substr(0, at);
  }
  return text;
}

// As many of the parts as fit a line, with commas between them.
std::string some_of(std::span<const std::string> parts) {
  std::string line;
  for (const std::string& part : parts) {
    const std::string next = line.empty() ? part : fmt::format("{}, {}", line, part);
    if (clipped(next).size() < next.size())
      return (line.empty() ? std::string(clipped(part)) : line + ",") + "...";
    line = next;
  }
  return line;
}

// All parts, with commas between them, on as many lines as they need.
std::string lines_of(std::span<const std::string> parts) {
  std::string text, line;
  for (const std::string& part : parts) {
    const std::string next = line.empty() ? part : fmt::format("{}, {}", line, part);
    const bool fits = clipped(next + ",").size() == next.size() + 1;
    if (!line.empty() && !fits) {
      text += line + ",\n" + std::string(kSubjectWidth, ' ');
      line = part;
    } else {
      line = next;
    }
  }
  return text + line;
}

std::string frequent_of(const DataLook& look) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : look.frequent)
    parts.push_back(fmt::format("{} ({})", shown_part(name), grouped(count)));
  return some_of(parts);
}

std::string columns_of(const DataLook& look) {
  std::vector<std::string> parts;
  for (std::string_view rest = look.columns; !rest.empty();) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    parts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return lines_of(parts);
}

}  // namespace

std::string of_column(const std::string& name) {
  return name.empty() ? name : fmt::format(", of the column '{}'", shown_part(name));
}

std::string dense_text(std::size_t columns, const DataConfig& config) {
  return fmt::format("{} of them are dense columns{}", grouped(columns),
                     of_column(dense_column_name(config)));
}

void print_data_look(const DataLook& look) {
  const double samples = std::max<double>(1.0, double(look.samples));
  if (!look.form.empty()) print("form               {}\n", look.form);
  print("labels             {} have samples, {:.1f} a sample; {} occur once{}\n", grouped(look.labels),
        double(look.label_entries) / samples, grouped(look.labels_once),
        look.unlabelled > 0 ? fmt::format("; {} samples have none", grouped(look.unlabelled)) : "");
  print("features           {:.1f} a sample{}{}\n", double(look.feature_entries) / samples,
        look.dense > 0
            ? fmt::format(", and {} dense columns{}", grouped(look.dense), of_column(look.dense_column))
            : "",
        look.featureless > 0 ? fmt::format("; {} samples have none", grouped(look.featureless)) : "");
  print("looks wrong        {}\n",
        look.warnings.empty()
            ? "nothing"
            : fmt::format("{} of what was looked at: see the warnings", look.warnings.size()));
  if (!look.columns.empty()) print("columns            {}\n", columns_of(look));
  print("most frequent      {}\n", frequent_of(look));
  if (look.groups > 0) print("groups             {}\n", grouped(look.groups));
  if (!look.first_time.empty()) print("times              {} to {}\n", look.first_time, look.last_time);
  if (look.times > 0) print("times              {} different ones\n", grouped(look.times));
}

void print_short_plan(const std::string& configuration, const MemoryPlan& plan) {
  print("configuration      {}\n", configuration);
  print("parameters         {}\n", grouped(static_cast<std::uint64_t>(plan.parameters())));
  print("training           {} beside the data\n", memory_text(plan.training()));
  print("inference          {}\n", memory_text(plan.weights() + plan.neighbours));
  print("more               --json has layers, memory and keys; --labels lists the labels\n");
}

void list_labels(Config config, const LabelList& wanted) {
  if (config.data.train.empty())
    fail_input(
        "inspect --labels lists those of a model or of data; name one, or give a number of labels after it");
  config.data.test.clear();
  const DataLook look = look_at(config, read_run_data(config, wanted.threads), SIZE_MAX);
  Warnings(wanted.strict).add(look.warnings);
  if (wanted.json) return print_text(text_of(json_of_label_list(look)));
  for (const auto& [name, samples] : look.frequent) print("{}\t{}\n", samples, name);
}

}  // namespace slide::cli
