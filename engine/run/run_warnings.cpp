#include "engine/run/run_warnings.h"

#include "datasets/data_warnings.h"
#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/run/dense_column.h"

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

void add_warnings(const DataConfig& config, RunData& data) {
  const bool log = config.kind == DataKind::kInteractions;
  if (!log) note_dense_column(config, data);
  const auto labels = data.train.label_count();
  if (!log) add_label_warnings(data.train, config.train, data.train_report);
  if (log) add_log_warnings(data.train, config.train, data.train_report);
  if (data.test && !config.test.empty())
    add_measure_warnings(*data.test, labels, log, config.test, data.test_report);
  if (data.validation)
    add_measure_warnings(*data.validation, labels, log, config.validation.file, data.validation_report);
}

}  // namespace slide
