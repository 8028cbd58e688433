#include "engine/run/data_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/log_layout.h"
#include "datasets/formats/text_pair.h"
#include "datasets/rows/occurring_labels.h"
#include "datasets/sidecar/sample_keys.h"
#include "datasets/text/table.h"
#include "engine/run/dense_column.h"
#include "engine/run/interaction_data.h"

namespace slide {

namespace {

// Sets the form of the training file, as printed, and its columns.
void look_at_form(const Config& config, const RunData& data, DataLook& look) {
  const std::string& path = config.data.train;
  const std::string head = head_of_file(path);
  const TableColumns columns{config.data.text, config.data.labels, config.data.label_separator, ""};
  std::optional<DataFormat> format =
      config.data.format != DataFormat::kAuto ? config.data.format : detect_table(head, columns);
  if (data.text != nullptr && !(format && is_table(*format))) {
    look.form = form_shown(data.text->form());
  } else if (dense_paths(path)) {
    look.form = "dense features";
  } else if (text_pair(path)) {
    look.form = "features and labels in two texts";
  } else {
    if (!format) format = detect_format(head);
    look.form = format ? name_of(*format) : "";
  }
  if (format && is_table(*format)) look.columns = column_list(head);
  if (data.text != nullptr && has_items(data.text->form()))
    look.columns = describe_columns(head, log_options(config.data));
}

std::string label_of(const RunData& data, std::uint32_t label) {
  return data.text != nullptr ? std::string(data.text->label_name(label)) : std::to_string(label);
}

// Counts labels, and names the `frequent` most frequent ones.
void look_at_labels(const RunData& data, std::size_t frequent, DataLook& look) {
  std::vector<OccurringLabel> labels = occurring_labels(data.train);
  look.labels = labels.size();
  for (const OccurringLabel& one : labels) {
    look.labels_once += one.samples == 1 ? 1 : 0;
    look.label_entries += one.samples;
  }
  const std::size_t shown = std::min(frequent, labels.size());
  std::ranges::partial_sort(labels, labels.begin() + static_cast<std::ptrdiff_t>(shown),
                            [](const OccurringLabel& a, const OccurringLabel& b) {
                              return a.samples != b.samples ? a.samples > b.samples : a.label < b.label;
                            });
  for (std::size_t i = 0; i < shown; ++i)
    look.frequent.emplace_back(label_of(data, labels[i].label), labels[i].samples);
}

// A time as a date in UTC where all have one unit, else as the number that it is.
std::string time_shown(double time, const LogTimes& times) {
  const auto unit = time_unit_of(times.first);
  if (!unit || unit != time_unit_of(times.last)) return fmt::format("{}", time);
  double seconds = time;
  for (std::size_t i = 0; i < *unit; ++i) seconds /= 1000;
  const std::chrono::sys_seconds at{std::chrono::seconds(static_cast<std::int64_t>(seconds))};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const auto left = (at - day).count();
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()),
                     unsigned(date.day()), left / 3600, left / 60 % 60, left % 60);
}

std::size_t distinct(const std::vector<std::uint32_t>& ids) {
  return std::set<std::uint32_t>(ids.begin(), ids.end()).size();
}

}  // namespace

const char* form_shown(TextForm form) {
  switch (form) {
    case TextForm::kFastText:
      return "__label__NAME text";
    case TextForm::kTabs:
      return "labels<TAB>text";
    case TextForm::kItemLists:
      return "user item item ...";
    case TextForm::kItemPairs:
      return "user item [weight [time]]";
  }
  return "";
}

DataLook look_at(const Config& config, const RunData& data, std::size_t frequent) {
  DataLook look;
  look_at_form(config, data, look);
  look_at_labels(data, frequent, look);
  const Dataset& train = data.train;
  look.samples = train.samples();
  look.features = train.feature_count();
  look.dense = train.dense_count();
  look.dense_column = dense_column_name(config.data);
  for (std::size_t i = 0; i < train.samples(); ++i) {
    const std::size_t features = train.features(i).ids.size();
    look.unlabelled += train.labels(i).empty() ? 1 : 0;
    look.featureless += features == 0 && look.dense == 0 ? 1 : 0;
    look.feature_entries += features;
  }
  if (const auto& keys = train.keys(); keys != nullptr) {
    look.groups = distinct(keys->groups);
    look.times = distinct(keys->times);
  }
  if (!data.times.empty()) {
    look.first_time = time_shown(data.times.first, data.times);
    look.last_time = time_shown(data.times.last, data.times);
  }
  look.warnings = data.warnings();
  return look;
}

}  // namespace slide
