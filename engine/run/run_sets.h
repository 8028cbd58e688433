// The data sets of a run. Plain values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/formats/log_form.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/text_model.h"

namespace slide {

// For interactions (data.kind), a row of the training data is a user, whose items are both features and
// labels; a row of the test or validation data has input items as features and target items as labels.
struct RunData {
  Dataset train;
  std::optional<Dataset> test;
  std::optional<Dataset> validation;      // of a file; not samples held out by a share
  std::shared_ptr<const TextModel> text;  // of training text or interactions, else nullptr
  std::vector<std::string> notes;         // warnings about reading, one line each
  LogTimes times;                         // of interactions in `train`; empty of other data
  ReadReport train_report, test_report, validation_report;

  // Warnings of all reports, each once.
  std::vector<std::string> warnings() const {
    ReadReport all = train_report;
    all.add(test_report);
    all.add(validation_report);
    return all.warnings;
  }
};

}  // namespace slide
