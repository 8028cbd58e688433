#include "engine/run/run_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "datasets/data_warnings.h"
#include "datasets/formats/detect.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/xmc_header.h"
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

void refuse_standard_input(const std::string& file) {
  if (file != "-") return;
  fail_input(
      "-: training reads its data more than once, and standard input can be read once only; "
      "write the data to a file first");
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

std::string header_warning(const std::string& path, std::size_t features, std::size_t labels) {
  if (path.empty()) return {};
  const std::string head = head_of_file(path);
  if (!has_xmc_header(head)) return {};
  const XmcHeader header = parse_xmc_header(without_byte_order_mark(head), path);
  if (header.features >= features && header.labels >= labels) return {};  // new ones may have come
  return fmt::format(
      "{}:1: the header has {} features and {} labels, but the model {} and {}; check that ids mean the same "
      "as in training",
      parts_of(path).front(), header.features, header.labels, features, labels);
}

namespace {

// Whether a part is so small, alone and beside the other, that chance decides.
bool is_tiny(std::size_t part, std::size_t other) {
  constexpr std::size_t kFew = 50;
  return part < kFew && part * 20 < other;
}

std::string split_warning(std::size_t held_out, std::size_t samples, const std::string& path) {
  const std::size_t trained = samples - held_out;
  if (is_tiny(held_out, trained))
    return fmt::format(
        "{}: data.validation holds {} of {} samples out, too few to choose the best model by; set a larger "
        "share",
        shown_path(path), held_out, samples);
  if (is_tiny(trained, held_out))
    return fmt::format("{}: data.validation leaves {} of {} samples to train on; set a smaller share",
                       shown_path(path), trained, samples);
  return {};
}

// A warning that many training samples have no label; "" else. Training skips them.
std::string unlabelled_warning(const Dataset& train, const std::string& path) {
  constexpr std::size_t kFew = 10;
  std::size_t without = 0;
  for (std::size_t i = 0; i < train.samples(); ++i) without += train.labels(i).empty() ? 1 : 0;
  if (without < kFew || without * 4 < train.samples()) return {};
  return fmt::format("{}: {} of {} samples have no label and are skipped; check how their labels are written",
                     shown_path(path), without, train.samples());
}

void add_warning_of(std::string warning, ReadReport& report) {
  if (!warning.empty()) report.add_warning(std::move(warning));
}

// `states_sizes`: the file has a header with the numbers of features and labels.
void add_training_warnings(const DataConfig& config, bool states_sizes, RunData& data) {
  if (config.kind == DataKind::kInteractions)
    return add_log_warnings(data.train, config.train, data.train_report);
  add_label_warnings(data.train, config.train, data.train_report);
  if (data.text == nullptr && !states_sizes) add_gap_warning(data.train, config.train, data.train_report);
  add_warning_of(unlabelled_warning(data.train, config.train), data.train_report);
}

// The split comes later; a split of groups warns of shares that do not fit itself.
void add_split_warning(const DataConfig& config, RunData& data) {
  const std::size_t samples = data.train.samples();
  if (config.validation.share <= 0 || !config.group.empty() || samples <= 1) return;
  const auto share = static_cast<std::size_t>(config.validation.share * double(samples));
  const std::size_t held_out = std::clamp<std::size_t>(share, 1, samples);
  add_warning_of(split_warning(held_out, samples, config.train), data.train_report);
}

// Warns of `rows` of test or validation data. `path`: of a file of its own; empty for samples that are held
// out of the training data.
void add_evaluation_warnings(const DataConfig& config, const RunData& data, bool checks_header,
                             const std::optional<Dataset>& rows, const std::string& path,
                             ReadReport& report) {
  if (!rows) return;
  const std::size_t labels = data.train.label_count();
  const bool log = config.kind == DataKind::kInteractions;
  add_measure_warnings(*rows, labels, log, path.empty() ? config.train : path, report);
  if (path.empty()) return;
  std::string foreign = foreign_warning(count_unknown(*rows, report, labels), path, rows->size(),
                                        feature_kind(data.text.get()));
  if (!foreign.empty()) return report.add_warning(std::move(foreign));
  if (checks_header) add_warning_of(header_warning(path, data.train.sparse_count(), labels), report);
}

}  // namespace

void add_warnings(const DataConfig& config, RunData& data) {
  const bool log = config.kind == DataKind::kInteractions;
  const bool states_sizes = !log && data.text == nullptr && has_xmc_header(head_of_file(config.train));
  if (!log) note_dense_column(config, data);
  add_training_warnings(config, states_sizes, data);
  add_warning_of(training_file_warning(config.test, config), data.test_report);
  add_warning_of(training_file_warning(config.validation.file, config), data.validation_report);
  add_split_warning(config, data);
  const bool checks_header = !log && (data.text != nullptr || states_sizes);
  add_evaluation_warnings(config, data, checks_header, data.test, config.test, data.test_report);
  add_evaluation_warnings(config, data, checks_header, data.validation, config.validation.file,
                          data.validation_report);
}

}  // namespace slide
