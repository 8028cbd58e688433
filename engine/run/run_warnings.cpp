#include "engine/run/run_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "datasets/data_warnings.h"
#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/run/dense_column.h"
#include "engine/run/unknown.h"

namespace slide {

void check_separator(const DataConfig& config, const TextModel* text) {
  const bool in_table = !config.text.empty() || (text != nullptr && text->form() == TextForm::kTabs);
  if (in_table || config.label_separator == DataConfig().label_separator) return;
  fail_input(
      "data.label_separator = {} is for tables and for lines LABEL{}LABEL<TAB>TEXT, but {} holds neither; "
      "leave "
      "it out",
      config.label_separator, config.label_separator, shown_path(config.train));
}

std::string training_file_warning(const std::string& path, const DataConfig& config) {
  if (config.kind == DataKind::kInteractions || config.train_first != 0 || config.test_last != 0) return {};
  if (path.empty() || config.train.empty()) return {};
  const std::vector<std::string> trained = parts_of(config.train);
  for (const std::string& part : parts_of(path)) {
    const bool same = std::ranges::any_of(trained, [&](const std::string& other) {
      std::error_code ignored;
      return std::filesystem::equivalent(part, other, ignored);
    });
    if (same)
      return fmt::format(
          "{}: training reads this file, so that metrics of it tell what the model remembers, not what it "
          "predicts of new samples; name a file that training does not read",
          part);
  }
  return {};
}

void add_warnings(const DataConfig& config, RunData& data) {
  const bool log = config.kind == DataKind::kInteractions;
  if (!log) note_dense_column(config, data);
  const auto labels = data.train.label_count();
  if (!log) add_label_warnings(data.train, config.train, data.train_report);
  if (log) add_log_warnings(data.train, config.train, data.train_report);
  const auto warn_of_training = [&](const std::string& path, ReadReport& report) {
    if (std::string same = training_file_warning(path, config); !same.empty())
      report.add_warning(std::move(same));
  };
  warn_of_training(config.test, data.test_report);
  warn_of_training(config.validation.file, data.validation_report);
  // `path`: of a file of its own; empty for samples that are held out of the training data.
  const auto warn_of_measures = [&](const std::optional<Dataset>& rows, const std::string& path,
                                    ReadReport& report) {
    if (!rows) return;
    add_measure_warnings(*rows, labels, log, path.empty() ? config.train : path, report);
    if (path.empty()) return;
    std::string foreign = foreign_warning(count_unknown(*rows, report, labels), path, rows->size(),
                                          feature_kind(data.text.get()));
    if (!foreign.empty()) report.add_warning(std::move(foreign));
  };
  warn_of_measures(data.test, config.test, data.test_report);
  warn_of_measures(data.validation, config.validation.file, data.validation_report);
}

}  // namespace slide
